/** TLS towards an upstream: always verifies the certificate against the name or address in the URL. */
import { existsSync } from "node:fs";
import { isIP } from "node:net";
import type { UpstreamConfig } from "../../shared/config/schema.ts";
import { createClientTls, createNameMatcher } from "./cluster-parts.ts";
import { createAuthoritySecret, createSdsConfig, type SecretFile } from "./file-secrets.ts";
import { type EnvoyNode, oneLine } from "./yaml-document.ts";

/** The system's PEM bundle on Debian and Alpine, Fedora, openSUSE, macOS. */
const DEBIAN_CA_FILE = "/etc/ssl/certs/ca-certificates.crt";
const SYSTEM_CA_FILES = [
  DEBIAN_CA_FILE,
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

/**
 * Returns the system's bundle of certificate authorities, or Debian's path, which Envoy's image has, if none
 * is found.
 */
export function findSystemCaFile(): string {
  return SYSTEM_CA_FILES.find((file) => existsSync(file)) ?? DEBIAN_CA_FILE;
}

/** Locations of upstreams' authorities. */
export interface AuthorityPlaces {
  /** For upstreams without a `ca_file`. */
  readonly systemCaFile: string;
  /** Directory of the SDS files for upstreams with a `ca_file`. */
  readonly secretsDirectory: string;
}

/** Fields of an upstream that TLS needs. */
type TlsTarget = Pick<UpstreamConfig, "name" | "endpoints" | "tls">;

/** Returns the `transport_socket` of an `https` upstream. */
export function createUpstreamTls(upstream: TlsTarget, places: AuthorityPlaces): EnvoyNode {
  const configured = upstream.tls?.serverName ?? null;
  const names = configured === null ? upstream.endpoints.map((endpoint) => endpoint.host) : [configured];
  const distinct = [...new Set(names)];
  return createClientTls({
    ...createServerName(distinct),
    common_tls_context: {
      tls_params: oneLine({ tls_minimum_protocol_version: "TLSv1_2" }),
      ...createValidation(upstream, distinct, places),
    },
  });
}

/** Lists the SDS files of upstreams' own authorities. */
export function listUpstreamAuthorities(
  upstreams: readonly Pick<UpstreamConfig, "name" | "tls">[],
  secretsDirectory: string,
): SecretFile[] {
  return upstreams.flatMap(({ name, tls }) => {
    if (tls === null || tls.caFile === null) return [];
    return [createAuthoritySecret(authoritySecretName(name), secretsDirectory, tls.caFile)];
  });
}

function authoritySecretName(upstreamName: string): string {
  return `upstream_authorities_${upstreamName}`;
}

/** Configured authorities are reloaded when they are renewed; the system's change with the system. */
function createValidation(
  upstream: TlsTarget,
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

/** Uses a single name as SNI of every connection; with several names, each connection uses its server's. */
function createServerName(names: readonly string[]): EnvoyNode {
  const [name] = names;
  if (name === undefined || names.every((one) => isIP(one) !== 0)) return {};
  return names.length === 1 ? { sni: name } : { auto_host_sni: true };
}
