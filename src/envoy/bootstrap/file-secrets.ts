/**
 * Certificates as SDS files that name the PEM files, so that Envoy loads renewed ones without a restart: it
 * watches the PEM files' directory for files that are moved into place. The SDS files themselves contain no
 * secret.
 */
import { dirname, join } from "node:path";
import { type EnvoyNode, oneLine, typed } from "./yaml-document.ts";

const SECRET_MESSAGE = "envoy.extensions.transport_sockets.tls.v3.Secret";
/** Prefix of these files' names. No upstream's name starts with it. */
const FILE_PREFIX = "_";

/** Returns a member of `tls_certificate_sds_secret_configs`, or a `validation_context_sds_secret_config`. */
export function createSdsConfig(name: string, secretsDirectory: string): EnvoyNode {
  return {
    name,
    sds_config: {
      path_config_source: oneLine({ path: certificateSecretFile(name, secretsDirectory) }),
      resource_api_version: "V3",
    },
  };
}

/** Path of an SDS file, and its content. */
export type SecretFile = readonly [path: string, secret: EnvoyNode];

function certificateSecretFile(name: string, secretsDirectory: string): string {
  return join(secretsDirectory, `${FILE_PREFIX}${name}.yaml`);
}

/** Describes a certificate and its key, which should be in one directory. */
export function createCertificateSecret(
  name: string,
  secretsDirectory: string,
  { certFile, keyFile }: { readonly certFile: string; readonly keyFile: string },
): SecretFile {
  const certificate = {
    certificate_chain: { filename: certFile },
    private_key: { filename: keyFile },
    watched_directory: { path: dirname(certFile) },
  };
  return createSecretFile(name, secretsDirectory, { tls_certificate: certificate });
}

/** Describes the authorities of the peer's certificates. */
export function createAuthoritySecret(name: string, secretsDirectory: string, caFile: string): SecretFile {
  const authorities = {
    trusted_ca: { filename: caFile },
    watched_directory: { path: dirname(caFile) },
  };
  return createSecretFile(name, secretsDirectory, { validation_context: authorities });
}

/** Describes a file that contains only a text, such as a token. Kubernetes swaps the directory of such files. */
export function createTextSecret(name: string, secretsDirectory: string, file: string): SecretFile {
  return createSecretFile(name, secretsDirectory, { generic_secret: { secret: { filename: file } } });
}

function createSecretFile(name: string, secretsDirectory: string, secret: EnvoyNode): SecretFile {
  return [certificateSecretFile(name, secretsDirectory), { ...typed(SECRET_MESSAGE), name, ...secret }];
}
