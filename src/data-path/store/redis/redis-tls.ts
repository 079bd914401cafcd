/** Certificates for Redis, read again for each connection, so that renewed files need no restart. */
import { readFileSync } from "node:fs";

/** Paths of PEM files. */
export interface RedisTlsFiles {
  /** Certificate authorities; null: Node's own list. */
  readonly caFile: string | null;
  /** Client certificate for servers that require one, with its key: both or neither. */
  readonly certFile: string | null;
  readonly keyFile: string | null;
}

/** Subset of `tls.connect`'s options. */
export interface RedisTlsOptions {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/**
 * Returns options whose fields are read from the files whenever a connection is made, because the Redis
 * client copies them then. If a file is missing by then, its last content is used.
 * @throws Error if a file cannot be read now.
 */
export function createRedisTls({ caFile, certFile, keyFile }: RedisTlsFiles): RedisTlsOptions {
  const options = {};
  for (const [name, file] of Object.entries({ ca: caFile, cert: certFile, key: keyFile })) {
    if (file === null) continue;
    Object.defineProperty(options, name, { enumerable: true, get: createReader(file) });
  }
  return options;
}

function createReader(file: string): () => string {
  let last = readFileSync(file, "utf8");
  return () => {
    try {
      last = readFileSync(file, "utf8");
    } catch {
      // Between two renames, or while a volume is unavailable: use the last content; the handshake decides.
    }
    return last;
  };
}
