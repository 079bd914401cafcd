/** TLS towards an upstream: the certificate is always verified, against the name or address in the URL. */
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

/** What is needed of an upstream. */
type TlsTarget = Pick<UpstreamConfig, "name" | "endpoints" | "tls">;

/** `transport_socket` of an `https` upstream. */
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

/** The SDS files of upstreams' own authorities. */
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

/** Authorities of its own are read again when they are renewed; the system's change with the system. */
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

/** With one name, it is the SNI of every connection; with several, each connection has its server's own. */
function createServerName(names: readonly string[]): EnvoyNode {
  const [name] = names;
  if (name === undefined || names.every((one) => isIP(one) !== 0)) return {};
  return names.length === 1 ? { sni: name } : { auto_host_sni: true };
}
