/** TLS towards an upstream: the certificate is always verified, against the name or address in the URL. */
import { existsSync } from "node:fs";
import { isIP } from "node:net";
import type { UpstreamConfig } from "../../config/schema.ts";
import { certificateSecretFile, createAuthoritySecret, createSdsConfig } from "./file-secrets.ts";
import { oneLine, typed } from "./yaml-document.ts";
import type { EnvoyNode, OneLine } from "./yaml-document.ts";

/** The system's PEM bundle on Debian and Alpine, Fedora, openSUSE, macOS. */
const SYSTEM_CA_FILES = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/ssl/cert.pem",
];
const DEBIAN_CA_FILE = "/etc/ssl/certs/ca-certificates.crt";

/** The system's bundle of certificate authorities; Debian's path, which Envoy's image has, where none is found. */
export function findSystemCaFile(): string {
  return SYSTEM_CA_FILES.find((file) => existsSync(file)) ?? DEBIAN_CA_FILE;
}

/** Where the authorities of upstreams are found. */
export interface AuthorityPlaces {
  /** For upstreams without a `ca_file`. */
  readonly systemCaFile: string;
  /** Of the SDS files of the others. */
  readonly secretsDirectory: string;
}

/** `transport_socket` of an `https` upstream. */
export function createUpstreamTls(upstream: UpstreamConfig, places: AuthorityPlaces): EnvoyNode {
  const configured = upstream.tls?.serverName ?? null;
  const names = configured === null ? upstream.endpoints.map((endpoint) => endpoint.host) : [configured];
  const distinct = [...new Set(names)];
  return {
    name: "envoy.transport_sockets.tls",
    typed_config: typed("envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext", {
      ...createServerName(distinct),
      common_tls_context: {
        tls_params: oneLine({ tls_minimum_protocol_version: "TLSv1_2" }),
        ...createValidation(upstream, distinct, places),
      },
    }),
  };
}

/** The SDS files of upstreams' own authorities, by their paths. */
export function listUpstreamAuthorities(
  upstreams: readonly UpstreamConfig[],
  secretsDirectory: string,
): ReadonlyMap<string, EnvoyNode> {
  return new Map(
    upstreams.flatMap(({ name, tls }): [string, EnvoyNode][] => {
      if (tls === null || tls.caFile === null) return [];
      const secret = authoritySecretName(name);
      return [[certificateSecretFile(secret, secretsDirectory), createAuthoritySecret(secret, tls.caFile)]];
    }),
  );
}

function authoritySecretName(upstreamName: string): string {
  return `upstream_authorities_${upstreamName}`;
}

/** Authorities of its own are read again when they are renewed; the system's change with the system. */
function createValidation(
  upstream: UpstreamConfig,
  names: readonly string[],
  { systemCaFile, secretsDirectory }: AuthorityPlaces,
): EnvoyNode {
  const match = {
    "#match_typed_subject_alt_names":
      "The certificate must be for the name in the URL, not just from a known CA.",
    match_typed_subject_alt_names: names.map(createNameMatcher),
  };
  if (upstream.tls === null || upstream.tls.caFile === null) {
    return { validation_context: { trusted_ca: oneLine({ filename: systemCaFile }), ...match } };
  }
  return {
    combined_validation_context: {
      default_validation_context: match,
      validation_context_sds_secret_config: createSdsConfig(
        authoritySecretName(upstream.name),
        secretsDirectory,
      ),
    },
  };
}

/** With one name, it is the SNI of every connection; with several, each connection has its server's own. */
function createServerName(names: readonly string[]): EnvoyNode {
  const [name] = names;
  if (name === undefined || names.every((one) => isIP(one) !== 0)) return {};
  return names.length === 1 ? { sni: name } : { auto_host_sni: true };
}

function createNameMatcher(name: string): OneLine {
  return oneLine({ san_type: isIP(name) === 0 ? "DNS" : "IP_ADDRESS", matcher: { exact: name } });
}
