/**
 * Certificates by SDS files that name the PEM files, so that Envoy takes renewed ones without a restart: it watches the
 * folder of the PEM files for files that are moved into place. The SDS files themselves hold no secret.
 */
import { dirname, join } from "node:path";
import { oneLine, typed } from "./yaml-document.ts";
import type { EnvoyNode } from "./yaml-document.ts";

const SECRET_MESSAGE = "envoy.extensions.transport_sockets.tls.v3.Secret";
/** The name of no upstream begins with this. */
const FILE_PREFIX = "_";

/** A member of `tls_certificate_sds_secret_configs`, or a `validation_context_sds_secret_config`. */
export function createSdsConfig(name: string, secretsDirectory: string): EnvoyNode {
  return {
    name,
    sds_config: {
      path_config_source: oneLine({ path: certificateSecretFile(name, secretsDirectory) }),
      resource_api_version: "V3",
    },
  };
}

/** The SDS file of a certificate or an authority. */
export function certificateSecretFile(name: string, secretsDirectory: string): string {
  return join(secretsDirectory, `${FILE_PREFIX}${name}.yaml`);
}

/** Contents of an SDS file: a certificate and its key, which should lie in one folder. */
export function createCertificateSecret(name: string, certFile: string, keyFile: string): EnvoyNode {
  return {
    ...typed(SECRET_MESSAGE),
    name,
    tls_certificate: {
      certificate_chain: { filename: certFile },
      private_key: { filename: keyFile },
      watched_directory: { path: dirname(certFile) },
    },
  };
}

/** Contents of an SDS file: authorities of the other side's certificates. */
export function createAuthoritySecret(name: string, caFile: string): EnvoyNode {
  return {
    ...typed(SECRET_MESSAGE),
    name,
    validation_context: {
      trusted_ca: { filename: caFile },
      watched_directory: { path: dirname(caFile) },
    },
  };
}
