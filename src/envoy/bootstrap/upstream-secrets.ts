/**
 * Upstream credentials for Envoy, as SDS files that it reads and watches. They are separate from the
 * configuration, so that a rendered bootstrap never contains a secret.
 */
import { randomUUID } from "node:crypto";
import { chmod, mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import type { Config, UpstreamConfig } from "../../shared/config/schema.ts";
import { watchFiles } from "../../shared/config/reload/watch-files.ts";
import { listJwksSecrets } from "./jwt-providers.ts";
import { listListenerSecrets } from "./listener-tls.ts";
import { listSidecarSecrets } from "./sidecar-cluster-tls.ts";
import { listUpstreamAuthorities } from "./upstream-tls.ts";
import { typed } from "./yaml-document.ts";
import { unlessMissing } from "../../shared/host/unless-missing.ts";

const PRIVATE_DIRECTORY_MODE = 0o700;
const PRIVATE_FILE_MODE = 0o600;
const SECRET_FILE_ENDING = ".yaml";

/** Header of an upstream that carries a secret. */
export interface CredentialFile {
  readonly header: string;
  readonly prefix: string;
  /** Name of the secret in its SDS file. */
  readonly secretName: string;
  readonly file: string;
}

/** Lists the SDS files of an upstream's credentials in the directory of secrets, with one secret per file. */
export function listCredentialFiles(
  { name, credentials }: UpstreamConfig,
  directory: string,
): CredentialFile[] {
  return credentials.map(({ header, prefix }) => {
    // Never equals another upstream's name, because those contain no dots.
    const secretName = header === "authorization" ? name : `${name}.${header}`;
    return { header, prefix, secretName, file: join(directory, `${secretName}${SECRET_FILE_ENDING}`) };
  });
}

/**
 * Writes one file per upstream credential, and the files for certificates (listener, sidecar, upstreams'
 * authorities) and token providers, and removes files that are no longer needed. Files are readable by the
 * owner only and replaced by a rename, which Envoy notices; unchanged files are not rewritten, so this may be
 * called whenever a credential may have changed.
 * @returns Names of the secrets whose file was written.
 * @throws Error naming the place of an unreadable credential.
 */
export async function writeUpstreamSecrets(config: Config, directory: string): Promise<string[]> {
  await mkdir(directory, { recursive: true, mode: PRIVATE_DIRECTORY_MODE });
  await chmod(directory, PRIVATE_DIRECTORY_MODE);
  const written: string[] = [];
  const wanted = new Set<string>();
  for (const upstream of config.upstreams) {
    for (const [index, { file, secretName }] of listCredentialFiles(upstream, directory).entries()) {
      wanted.add(file);
      const value = upstream.credentials[index]?.secret.reveal().trim() ?? "";
      if (await replaceFile(file, formatSecret(secretName, value))) written.push(secretName);
    }
  }
  const certificates = [
    ...listListenerSecrets(config.listen.tls, directory),
    ...listSidecarSecrets(config.sidecar.tls, directory),
    ...listUpstreamAuthorities(config.upstreams, directory),
    ...listJwksSecrets(config.jwt.providers, directory),
  ];
  for (const [file, secret] of certificates) {
    wanted.add(file);
    await replaceFile(file, stringify({ resources: [secret] }));
  }
  for (const entry of await readdir(directory)) {
    const file = join(directory, entry);
    if (entry.endsWith(SECRET_FILE_ENDING) && !wanted.has(file)) await rm(file, { force: true });
  }
  return written;
}

/**
 * Rewrites them whenever a credential's file changes, until `close`. Envoy watches the files of certificates
 * itself. An unreadable credential is reported, and the previous one stays.
 */
export function watchUpstreamSecrets(
  config: Config,
  directory: string,
  report: (outcome: { readonly written: readonly string[] } | { readonly problem: unknown }) => void,
): { close: () => void } {
  const files = config.upstreams
    .flatMap(({ credentials }) => credentials)
    .flatMap(({ secret }) => ("file" in secret.reference ? [secret.reference.file] : []));
  if (files.length === 0) return { close: () => undefined };
  return watchFiles(files, () => {
    writeUpstreamSecrets(config, directory).then(
      (written) => report({ written }),
      (problem: unknown) => report({ problem }),
    );
  });
}

function formatSecret(name: string, value: string): string {
  return stringify({
    resources: [
      {
        ...typed("envoy.extensions.transport_sockets.tls.v3.Secret"),
        name,
        generic_secret: { secret: { inline_string: value } },
      },
    ],
  });
}

/** Returns whether the file had to be written. */
async function replaceFile(file: string, content: string): Promise<boolean> {
  if ((await unlessMissing(readFile(file, "utf8"), null)) === content) {
    await chmod(file, PRIVATE_FILE_MODE);
    return false;
  }
  const draft = `${file}.${randomUUID()}`;
  try {
    const handle = await open(draft, "wx", PRIVATE_FILE_MODE);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
  return true;
}
