import { readFileSync } from "node:fs";

const POLL_MS = 2_000;

/**
 * Calls `onChange` when the content of a file has changed, within two seconds. Polls, and by content: notifications
 * are lost on network file systems and where a folder is swapped by a link, as Kubernetes does with a ConfigMap. A
 * file that is away for a moment is not a change. Does not keep the process alive.
 */
export function watchFile(path: string, onChange: () => void): { close: () => void } {
  let known = read(path);
  const timer = setInterval(() => {
    const content = read(path);
    if (content === null || content === known) return;
    known = content;
    onChange();
  }, POLL_MS);
  timer.unref();
  return { close: () => clearInterval(timer) };
}

function read(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
