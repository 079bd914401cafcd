/**
 * TLS of the public listener. Certificates come by SDS files that name the PEM files, so that Envoy takes renewed ones
 * without a restart; the SDS files themselves hold no secret.
 */
import { dirname, join } from "node:path";
import type { Config } from "../../config/schema.ts";
import { oneLine, typed } from "./yaml-document.ts";
import type { EnvoyNode } from "./yaml-document.ts";

type ListenerTls = NonNullable<Config["listen"]["tls"]>;

const SERVER_SECRET = "listener_certificate";
const CLIENTS_SECRET = "listener_client_authorities";

/** The name of no upstream begins with this. */
const FILE_PREFIX = "_";

/** `transport_socket` of the listener's filter chain; nothing where it speaks plain HTTP. */
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

/** The SDS files, by their paths. */
export function listListenerSecrets(
  tls: ListenerTls | null,
  secretsDirectory: string,
): ReadonlyMap<string, EnvoyNode> {
  const files = new Map<string, EnvoyNode>();
  if (tls === null) return files;
  files.set(secretFile(SERVER_SECRET, secretsDirectory), {
    ...typed("envoy.extensions.transport_sockets.tls.v3.Secret"),
    name: SERVER_SECRET,
    tls_certificate: {
      certificate_chain: { filename: tls.certFile },
      private_key: { filename: tls.keyFile },
      watched_directory: { path: dirname(tls.certFile) },
    },
  });
  if (tls.clientCaFile !== null) {
    files.set(secretFile(CLIENTS_SECRET, secretsDirectory), {
      ...typed("envoy.extensions.transport_sockets.tls.v3.Secret"),
      name: CLIENTS_SECRET,
      validation_context: {
        trusted_ca: { filename: tls.clientCaFile },
        watched_directory: { path: dirname(tls.clientCaFile) },
      },
    });
  }
  return files;
}

function createSdsConfig(name: string, secretsDirectory: string): EnvoyNode {
  return {
    name,
    sds_config: {
      path_config_source: oneLine({ path: secretFile(name, secretsDirectory) }),
      resource_api_version: "V3",
    },
  };
}

function secretFile(name: string, directory: string): string {
  return join(directory, `${FILE_PREFIX}${name}.yaml`);
}
