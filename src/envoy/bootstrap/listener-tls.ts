/** TLS of the public listener. */
import type { Config } from "../../shared/config/schema.ts";
import {
  createAuthoritySecret,
  createCertificateSecret,
  createSdsConfig,
  type SecretFile,
} from "./file-secrets.ts";
import { type EnvoyNode, oneLine, typed } from "./yaml-document.ts";

type ListenerTls = NonNullable<Config["listen"]["tls"]>;

const SERVER_SECRET = "listener_certificate";
const CLIENTS_SECRET = "listener_client_authorities";

/** Returns the `transport_socket` of the listener's filter chain; empty for plain HTTP. */
export function createListenerTls(tls: ListenerTls | null, secretsDirectory: string): EnvoyNode {
  if (tls === null) return {};
  const hasClients = tls.clientCaFile !== null;
  return {
    transport_socket: {
      name: "envoy.transport_sockets.tls",
      typed_config: typed("envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext", {
        ...(hasClients ? { require_client_certificate: true } : {}),
        common_tls_context: {
          alpn_protocols: oneLine(["h2", "http/1.1"]),
          tls_params: oneLine({ tls_minimum_protocol_version: "TLSv1_2" }),
          tls_certificate_sds_secret_configs: [createSdsConfig(SERVER_SECRET, secretsDirectory)],
          ...(hasClients
            ? { validation_context_sds_secret_config: createSdsConfig(CLIENTS_SECRET, secretsDirectory) }
            : {}),
        },
      }),
    },
  };
}

/** Lists the SDS files. */
export function listListenerSecrets(tls: ListenerTls | null, secretsDirectory: string): SecretFile[] {
  if (tls === null) return [];
  const { clientCaFile } = tls;
  return [
    createCertificateSecret(SERVER_SECRET, secretsDirectory, tls),
    ...(clientCaFile === null ? [] : [createAuthoritySecret(CLIENTS_SECRET, secretsDirectory, clientCaFile)]),
  ];
}
