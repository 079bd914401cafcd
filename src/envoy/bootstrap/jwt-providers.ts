/**
 * Callers with a token: Envoy verifies it and passes the result as metadata to the sidecar, which decides and
 * writes every response. Only headers that look like a token reach the filter; requests with an API key skip
 * it. Each header has its own Envoy provider, since one for both would reject a caller with a token in one
 * header and a placeholder in the other.
 */
import type { JwtProviderConfig } from "../../shared/config/schema.ts";
import { parseUpstreamEndpoint } from "../../shared/config/schema/urls.ts";
import {
  FAILED_PREFIX,
  JWT_NAMESPACE,
  MAX_TOKEN_HEADER_BYTES,
  TOKEN_HEADER_PREFIX,
  VERIFIED_PREFIX,
} from "../names.ts";
import { createHttpOptions } from "./cluster-parts.ts";
import { createSdsConfig, createTextSecret, type SecretFile } from "./file-secrets.ts";
import { formatSeconds } from "./render-options.ts";
import { createDiscovery, formatAuthority } from "./upstream-balancing.ts";
import { type AuthorityPlaces, createUpstreamTls, listUpstreamAuthorities } from "./upstream-tls.ts";
import { type EnvoyNode, oneLine, typed } from "./yaml-document.ts";

const FETCH_TIMEOUT = "3s";
const SECONDS_PER_MINUTE = 60;
/** Headers that may carry a token, and the pattern of a token in each. */
const PLACES = [
  {
    ending: "",
    header: "authorization",
    from: ["Bearer ", "bearer "].map((prefix) => oneLine({ name: "authorization", value_prefix: prefix })),
    looks: { safe_regex: { regex: "[Bb][Ee][Aa][Rr][Ee][Rr] +eyJ.*" } },
  },
  {
    ending: ".x-api-key",
    header: "x-api-key",
    from: [oneLine({ name: "x-api-key" })],
    looks: { prefix: "eyJ" },
  },
] as const;

/** A longer token matches no rule: it is not verified, and the sidecar rejects it. */
const SHORT_ENOUGH = {
  custom: {
    name: "short_enough",
    typed_config: typed("envoy.extensions.string_matcher.lua.v3.Lua", {
      source_code: {
        inline_string: `function envoy_match(text) return #text <= ${MAX_TOKEN_HEADER_BYTES} end`,
      },
    }),
  },
};

/** Returns the filter; empty without providers. */
export function createTokenFilters(providers: readonly JwtProviderConfig[]): EnvoyNode[] {
  if (providers.length === 0) return [];
  const each = PLACES.flatMap((place) => providers.map((provider) => createProvider(provider, place)));
  return [
    {
      "#":
        "Whose token it is. Nothing is rejected here: ext_authz gets the claims, or why there are none, and the sidecar " +
        "answers. A request without a token costs the look at two headers.",
      name: JWT_NAMESPACE,
      typed_config: typed("envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication", {
        providers: Object.fromEntries(each),
        "#rules": "The first that fits. Without one the filter does nothing.",
        rules: PLACES.map(({ ending, header, looks }) => ({
          match: oneLine({
            prefix: "/",
            headers: [
              { name: header, string_match: looks },
              { name: header, string_match: SHORT_ENOUGH },
            ],
          }),
          requires: {
            requires_any: {
              requirements: [
                ...providers.map(({ name }) => oneLine({ provider_name: name + ending })),
                oneLine({ allow_missing_or_failed: {} }),
              ],
            },
          },
        })),
      }),
    },
  ];
}

function createProvider(
  { name, issuer, audiences, clockSkewSeconds, jwks }: JwtProviderConfig,
  { ending, from }: (typeof PLACES)[number],
): [string, EnvoyNode] {
  return [
    name + ending,
    {
      issuer,
      audiences: oneLine(audiences),
      require_expiration: true,
      clock_skew_seconds: clockSkewSeconds,
      payload_in_metadata: VERIFIED_PREFIX + name,
      header_in_metadata: TOKEN_HEADER_PREFIX + name,
      failed_status_in_metadata: FAILED_PREFIX + name,
      from_headers: from,
      ...createKeys(name, jwks),
    },
  ];
}

function createKeys(name: string, { url, file, refreshMinutes }: JwtProviderConfig["jwks"]): EnvoyNode {
  if (url === null) return { local_jwks: oneLine({ filename: file ?? "" }) };
  return {
    remote_jwks: {
      http_uri: oneLine({ uri: url, cluster: clusterName(name), timeout: FETCH_TIMEOUT }),
      cache_duration: formatSeconds(refreshMinutes * SECONDS_PER_MINUTE),
      "#async_fetch":
        "Before the first request and then by the clock, so that no request waits for it. While the provider is unreachable its " +
        "last keys count.",
      async_fetch: oneLine({ failed_refetch_duration: "1s" }),
    },
  };
}

/** Returns one cluster per provider whose keys are fetched. */
export function createJwksClusters(
  providers: readonly JwtProviderConfig[],
  places: AuthorityPlaces,
): EnvoyNode[] {
  return providers.flatMap(({ name, jwks }) => {
    if (jwks.url === null) return [];
    const endpoint = parseUpstreamEndpoint(jwks.url);
    const { host, port, usesTls } = endpoint;
    const cluster = clusterName(name);
    const target = { name: cluster, endpoints: [endpoint], tls: tlsOf(jwks) };
    const address = { socket_address: { address: host, port_value: port } };
    const endpoints = [
      { lb_endpoints: [{ endpoint: oneLine({ address, hostname: formatAuthority(endpoint) }) }] },
    ];
    const filters = createTokenInjection(name, jwks, places.secretsDirectory);
    return [
      {
        name: cluster,
        ...createDiscovery([endpoint]),
        connect_timeout: FETCH_TIMEOUT,
        typed_extension_protocol_options: createHttpOptions({
          explicit_http_config: oneLine({ http_protocol_options: {} }),
          ...(filters.length === 0 ? {} : { http_filters: filters }),
        }),
        ...(usesTls ? { transport_socket: createUpstreamTls(target, places) } : {}),
        load_assignment: { cluster_name: cluster, endpoints },
      },
    ];
  });
}

/** Lists the SDS files for the providers' key addresses: authorities and tokens. */
export function listJwksSecrets(
  providers: readonly JwtProviderConfig[],
  secretsDirectory: string,
): SecretFile[] {
  const targets = providers.map(({ name, jwks }) => ({ name: clusterName(name), tls: tlsOf(jwks) }));
  return [
    ...listUpstreamAuthorities(targets, secretsDirectory),
    ...providers.flatMap(({ name, jwks: { tokenFile } }) =>
      tokenFile === null ? [] : [createTextSecret(tokenSecretName(name), secretsDirectory, tokenFile)],
    ),
  ];
}

function createTokenInjection(
  name: string,
  { tokenFile }: JwtProviderConfig["jwks"],
  secretsDirectory: string,
): EnvoyNode[] {
  if (tokenFile === null) return [];
  return [
    {
      "#": "A Kubernetes API server tells its keys to those alone whom it knows.",
      name: "envoy.filters.http.credential_injector",
      typed_config: typed("envoy.extensions.filters.http.credential_injector.v3.CredentialInjector", {
        overwrite: true,
        credential: {
          name: "generic",
          typed_config: typed("envoy.extensions.http.injected_credentials.generic.v3.Generic", {
            header: "authorization",
            header_value_prefix: "Bearer ",
            credential: createSdsConfig(tokenSecretName(name), secretsDirectory),
          }),
        },
      }),
    },
    {
      name: "envoy.filters.http.upstream_codec",
      typed_config: typed("envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec"),
    },
  ];
}

function tlsOf({ caFile }: JwtProviderConfig["jwks"]) {
  return caFile === null ? null : { caFile, serverName: null };
}

/** Never equals an upstream's name, because those contain no dots. */
function clusterName(providerName: string): string {
  return `jwks.${providerName}`;
}

function tokenSecretName(providerName: string): string {
  return `jwks_token_${providerName}`;
}
