/** Mutual TLS between Envoy and workers that listen on TCP: both require a certificate. */
import { isIP } from "node:net";
import type { Config } from "../../shared/config/schema.ts";
import { createClientTls, createNameMatcher } from "./cluster-parts.ts";
import {
  createAuthoritySecret,
  createCertificateSecret,
  createSdsConfig,
  type SecretFile,
} from "./file-secrets.ts";
import { type EnvoyNode, oneLine } from "./yaml-document.ts";

type SidecarTls = NonNullable<Config["sidecar"]["tls"]>;

const CLIENT_SECRET = "sidecar_client_certificate";
const SERVERS_SECRET = "sidecar_authorities";

/**
 * Returns the `transport_socket` of the sidecar's clusters; empty for Unix sockets and plain TCP. `host`:
 * address at which Envoy reaches the workers.
 */
export function createSidecarClusterTls(
  tls: SidecarTls | null,
  host: string,
  secretsDirectory: string,
): EnvoyNode {
  if (tls === null) return {};
  const name = tls.serverName ?? host;
  return {
    "#transport_socket":
      "Both sides show a certificate: the connection carries keys and prompts, and whoever could make it could spend.",
    transport_socket: createClientTls({
      ...(isIP(name) === 0 ? { sni: name } : {}),
      common_tls_context: {
        alpn_protocols: oneLine(["h2"]),
        tls_params: oneLine({ tls_minimum_protocol_version: "TLSv1_2" }),
        tls_certificate_sds_secret_configs: [createSdsConfig(CLIENT_SECRET, secretsDirectory)],
        combined_validation_context: {
          default_validation_context: { match_typed_subject_alt_names: [createNameMatcher(name)] },
          validation_context_sds_secret_config: createSdsConfig(SERVERS_SECRET, secretsDirectory),
        },
      },
    }),
  };
}

/** Lists the SDS files. */
export function listSidecarSecrets(tls: SidecarTls | null, secretsDirectory: string): SecretFile[] {
  if (tls === null) return [];
  const { clientCertFile: certFile, clientKeyFile: keyFile, caFile } = tls;
  return [
    createCertificateSecret(CLIENT_SECRET, secretsDirectory, { certFile, keyFile }),
    createAuthoritySecret(SERVERS_SECRET, secretsDirectory, caFile),
  ];
}
