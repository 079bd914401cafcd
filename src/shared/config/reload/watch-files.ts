import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const POLL_MS = 2_000;

/**
 * Calls `onChange` when the content of any of these files has changed, within two seconds. Polls the content,
 * because notifications are lost on network file systems and when a directory is swapped by a link, as
 * Kubernetes does with ConfigMaps and Secrets. A file that is missing for a moment is not a change. Only
 * keeps fingerprints, since the files may be secret. Does not keep the process alive.
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
  /** Polling interval. */
  readonly pollMs?: number | undefined;
  /** Earlier fingerprint: changes since then are reported at once. */
  readonly since?: string | null;
}

/** Returns a fingerprint of these files' contents; null while one is unreadable. */
export function fingerprint(paths: readonly string[]): string | null {
  try {
    return paths.map((path) => createHash("sha256").update(readFileSync(path)).digest("hex")).join(" ");
  } catch {
    return null;
  }
}
