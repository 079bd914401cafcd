/** Mutual TLS between Envoy and workers that listen on TCP: neither talks to anybody without a certificate. */
import { isIP } from "node:net";
import type { Config } from "../../config/schema.ts";
import {
  certificateSecretFile,
  createAuthoritySecret,
  createCertificateSecret,
  createSdsConfig,
} from "./file-secrets.ts";
import { oneLine, typed } from "./yaml-document.ts";
import type { EnvoyNode } from "./yaml-document.ts";

type SidecarTls = NonNullable<Config["sidecar"]["tls"]>;

const CLIENT_SECRET = "sidecar_client_certificate";
const SERVERS_SECRET = "sidecar_authorities";

/** `transport_socket` of the sidecar's cluster; nothing for Unix sockets and in the clear. `host`: where Envoy finds the workers. */
export function createSidecarClusterTls(
  tls: SidecarTls | null,
  host: string,
  secretsDirectory: string,
): EnvoyNode {
  if (tls === null) return {};
  const name = tls.serverName ?? host;
  const isName = isIP(name) === 0;
  return {
    "#transport_socket":
      "Both sides show a certificate: the connection carries keys and prompts, and whoever could make it could spend.",
    transport_socket: {
      name: "envoy.transport_sockets.tls",
      typed_config: typed("envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext", {
        ...(isName ? { sni: name } : {}),
        common_tls_context: {
          alpn_protocols: oneLine(["h2"]),
          tls_params: oneLine({ tls_minimum_protocol_version: "TLSv1_2" }),
          tls_certificate_sds_secret_configs: [createSdsConfig(CLIENT_SECRET, secretsDirectory)],
          combined_validation_context: {
            default_validation_context: {
              match_typed_subject_alt_names: [
                oneLine({ san_type: isName ? "DNS" : "IP_ADDRESS", matcher: { exact: name } }),
              ],
            },
            validation_context_sds_secret_config: createSdsConfig(SERVERS_SECRET, secretsDirectory),
          },
        },
      }),
    },
  };
}

/** The SDS files, by their paths. */
export function listSidecarSecrets(
  tls: SidecarTls | null,
  secretsDirectory: string,
): ReadonlyMap<string, EnvoyNode> {
  if (tls === null) return new Map();
  const file = (name: string) => certificateSecretFile(name, secretsDirectory);
  return new Map([
    [file(CLIENT_SECRET), createCertificateSecret(CLIENT_SECRET, tls.clientCertFile, tls.clientKeyFile)],
    [file(SERVERS_SECRET), createAuthoritySecret(SERVERS_SECRET, tls.caFile)],
  ]);
}
