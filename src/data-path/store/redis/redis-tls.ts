/** Certificates of the connection to Redis, read anew for each connection, so that renewed files need no restart. */
import { readFileSync } from "node:fs";

/** Paths of PEM files. */
export interface RedisTlsFiles {
  /** What the servers' certificates are checked against; null: Node's own list. */
  readonly caFile: string | null;
  /** What is shown to a server that asks for a certificate: both or none. */
  readonly certFile: string | null;
  readonly keyFile: string | null;
}

/** Part of `tls.connect`'s options. */
export interface RedisTlsOptions {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/**
 * Options whose fields are read from the files whenever a connection is made: the Redis client copies them then. A file
 * that is gone by then keeps its last content.
 * @throws Error when a file cannot be read now.
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
      // Between two renames, or on a volume that is just away: the connection decides whether the old one will do.
    }
    return last;
  };
}
