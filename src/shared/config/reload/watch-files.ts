import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const POLL_MS = 2_000;

/**
 * Calls `onChange` when the content of any of these files has changed, within two seconds. Polls, and by content:
 * notifications are lost on network file systems and where a folder is swapped by a link, as Kubernetes does with a
 * ConfigMap or Secret. A file that is away for a moment is not a change. Only fingerprints are kept, since the files
 * may be secret. Does not keep the process alive.
 */
export function watchFiles(
  paths: readonly string[],
  onChange: () => void,
  { pollMs = POLL_MS, since }: WatchOptions = {},
): { close: () => void } {
  let known = since ?? fingerprint(paths);
  const look = (): void => {
    const now = fingerprint(paths);
    if (now === null || now === known) return;
    known = now;
    onChange();
  };
  const timer = setInterval(look, pollMs);
  timer.unref();
  if (since !== undefined) look();
  return { close: () => clearInterval(timer) };
}

export interface WatchOptions {
  /** How often they are looked at. */
  readonly pollMs?: number | undefined;
  /** Their fingerprint earlier: what has changed since then counts, too, and is told of at once. */
  readonly since?: string | null;
}

/** Of what is in these files. Null while one of them cannot be read. */
export function fingerprint(paths: readonly string[]): string | null {
  try {
    return paths.map((path) => createHash("sha256").update(readFileSync(path)).digest("hex")).join(" ");
  } catch {
    return null;
  }
}
