/**
 * One cluster per upstream. Here, after routing, the upstream's credential is put on and everything that is none of its
 * business is taken off: the last lock of the header policy, whatever the sidecar did. A credential lies in Envoy's
 * secrets only; neither a client nor the sidecar ever sees it.
 */
import { isIP } from "node:net";
import { dirname } from "node:path";
import { INTERNAL_HEADER_PREFIX } from "../names.ts";
import type { UpstreamConfig } from "../../config/schema.ts";
import type { UpstreamEndpoint } from "../../config/schema/urls.ts";
import { HEADERS_NOT_FOR_UPSTREAMS, PREFIXES_NOT_FOR_UPSTREAMS } from "../../exchange/header-policy.ts";
import type { CredentialFile } from "./upstream-secrets.ts";
import { formatSeconds } from "./render-options.ts";
import { type AuthorityPlaces, createUpstreamTls } from "./upstream-tls.ts";
import { oneLine, typed } from "./yaml-document.ts";
import type { EnvoyNode } from "./yaml-document.ts";

/** Files that an upstream's cluster names. */
export interface UpstreamFiles extends AuthorityPlaces {
  readonly credentials: readonly CredentialFile[];
}

const CREDENTIAL_FILTER = "envoy.filters.http.credential_injector";
const MAX_IN_FLIGHT = 100_000;

/** What Envoy itself needs until here. */
const REMOVED_PREFIXES = [INTERNAL_HEADER_PREFIX, ...PREFIXES_NOT_FOR_UPSTREAMS, "x-envoy-", "x-forwarded-"];

/** The cluster of one upstream; it has the upstream's name. */
export function createUpstreamCluster(upstream: UpstreamConfig, files: UpstreamFiles): EnvoyNode {
  const { name, endpoints } = upstream;
  const usesTls = endpoints.some((endpoint) => endpoint.usesTls);
  return {
    name,
    ...createDiscovery(endpoints),
    connect_timeout: formatSeconds(upstream.connectTimeoutSeconds),
    lb_policy: "LEAST_REQUEST",
    "#common_lb_config": "A server that is back is used at once.",
    common_lb_config: oneLine({ update_merge_window: "0s" }),
    circuit_breakers: {
      thresholds: [
        {
          max_connections: MAX_IN_FLIGHT,
          max_pending_requests: MAX_IN_FLIGHT,
          max_requests: MAX_IN_FLIGHT,
          max_retries: 0,
        },
      ],
    },
    ...createPassiveHealth(),
    typed_extension_protocol_options: createProtocolOptions(files.credentials, usesTls),
    ...(usesTls ? { transport_socket: createUpstreamTls(upstream, files) } : {}),
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: endpoints.map(createLbEndpoint) }],
    },
  };
}

function createDiscovery(endpoints: readonly UpstreamEndpoint[]): EnvoyNode {
  if (endpoints.every((endpoint) => isIP(endpoint.host) !== 0)) return { type: "STATIC" };
  return { type: "STRICT_DNS", dns_lookup_family: "V4_PREFERRED" };
}

function createPassiveHealth(): EnvoyNode {
  return {
    "#outlier_detection":
      "Passive only: no probe costs a model server anything. A server that cannot be reached is left out for a " +
      "while, never more than half of them; answers of any status do not count, they may be about the request.",
    outlier_detection: {
      split_external_local_origin_errors: true,
      consecutive_local_origin_failure: 5,
      enforcing_consecutive_local_origin_failure: 100,
      enforcing_local_origin_success_rate: 0,
      enforcing_consecutive_5xx: 0,
      enforcing_consecutive_gateway_failure: 0,
      enforcing_success_rate: 0,
      interval: "1s",
      base_ejection_time: "5s",
      max_ejection_time: "30s",
      max_ejection_percent: 50,
    },
  };
}

function createProtocolOptions(credentials: readonly CredentialFile[], usesTls: boolean): EnvoyNode {
  const message = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
  const http1 = { http_protocol_options: oneLine({}) };
  return {
    [message]: typed(message, {
      "#common_http_protocol_options":
        "Shorter than the keep-alive of common model servers (5 s): a connection that the server is about to close " +
        "is not used again, and nothing is ever sent twice.",
      common_http_protocol_options: { idle_timeout: "4s" },
      ...(usesTls
        ? { auto_config: { ...http1, http2_protocol_options: oneLine({}) } }
        : { explicit_http_config: http1 }),
      http_filters: [
        createHeaderRemoval(credentials),
        ...credentials.map(createCredentialFilter),
        {
          name: "envoy.filters.http.upstream_codec",
          typed_config: typed("envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec"),
        },
      ],
    }),
  };
}

function createHeaderRemoval(credentials: readonly CredentialFile[]): EnvoyNode {
  const own = credentials.map(({ header }) => header);
  return {
    "#": "The client's key and everything about client and gateway, whether a credential follows or not.",
    name: "envoy.filters.http.header_mutation",
    typed_config: typed("envoy.extensions.filters.http.header_mutation.v3.HeaderMutation", {
      mutations: {
        request_mutations: [
          ...[...new Set([...HEADERS_NOT_FOR_UPSTREAMS, ...own])].map((name) => oneLine({ remove: name })),
          ...REMOVED_PREFIXES.map((prefix) => oneLine({ remove_on_match: { key_matcher: { prefix } } })),
        ],
      },
    }),
  };
}

function createCredentialFilter(credential: CredentialFile): EnvoyNode {
  const { header, prefix, secretName, file } = credential;
  return {
    "#": "Without a credential no request goes out. A renewed file is picked up at once.",
    name: header === "authorization" ? CREDENTIAL_FILTER : `${CREDENTIAL_FILTER}.${header}`,
    typed_config: typed("envoy.extensions.filters.http.credential_injector.v3.CredentialInjector", {
      overwrite: true,
      allow_request_without_credential: false,
      credential: {
        name: "generic",
        typed_config: typed("envoy.extensions.http.injected_credentials.generic.v3.Generic", {
          header,
          ...(prefix === "" ? {} : { header_value_prefix: prefix }),
          credential: {
            name: secretName,
            sds_config: {
              path_config_source: {
                path: file,
                watched_directory: oneLine({ path: dirname(file) }),
              },
              resource_api_version: "V3",
            },
          },
        }),
      },
    }),
  };
}

function createLbEndpoint(endpoint: UpstreamEndpoint): EnvoyNode {
  return {
    endpoint: oneLine({
      address: { socket_address: { address: endpoint.host, port_value: endpoint.port } },
      hostname: formatAuthority(endpoint),
    }),
  };
}

/** What the server reads as `Host`: with the port unless it is the scheme's own. */
function formatAuthority({ host, port, usesTls }: UpstreamEndpoint): string {
  const name = isIP(host) === 6 ? `[${host}]` : host;
  return port === (usesTls ? 443 : 80) ? name : `${name}:${port}`;
}
