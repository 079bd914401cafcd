import { readFileSync } from "node:fs";
import { createDeferred } from "../../shared/event-loop/deferred.ts";
import { readParentPid } from "../setup/process-identity.js";

const PARENT_POLL_MS = 500;
/** Ctrl-C under npm arrives twice: from the terminal, and passed on by npm. */
const SAME_REQUEST_MS = 500;

export interface StopRequests {
  /** Resolves at the first request to stop. */
  readonly first: Promise<void>;
  /** Resolves at a second signal after half a second or more, which means: at once. */
  readonly second: Promise<void>;
}

/**
 * Watches for requests to stop: SIGINT, SIGTERM, a closed terminal, and the end of npm if it started this
 * process, since npm may die without passing its signal on. A SIGHUP without a terminal calls `onHangup` to
 * reload the catalog.
 */
export function watchStopRequests(onHangup: () => void): StopRequests {
  const first = createDeferred<void>();
  const second = createDeferred<void>();
  let firstAtMs: number | null = null;
  const stop = (): void => {
    firstAtMs ??= performance.now();
    first.resolve();
  };
  const onSignal = (): void => {
    if (firstAtMs !== null && performance.now() - firstAtMs > SAME_REQUEST_MS) second.resolve();
    stop();
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  process.on("SIGHUP", () => (process.stdin.isTTY || process.stderr.isTTY ? onSignal() : onHangup()));
  if (startedByNpm()) watchParents(stop);
  return { first: first.promise, second: second.promise };
}

function startedByNpm(): boolean {
  return process.env["npm_lifecycle_event"] !== undefined;
}

/** Calls `onGone` once when the parent, or npm behind an intermediate shell, has changed. */
function watchParents(onChanged: () => void): void {
  const parent = process.ppid;
  const grandparent = isShellOfScript(parent) ? readParentPid(parent) : null;
  const timer = setInterval(() => {
    const hasChanged =
      process.ppid !== parent || (grandparent !== null && readParentPid(parent) !== grandparent);
    if (!hasChanged) return;
    clearInterval(timer);
    onChanged();
  }, PARENT_POLL_MS);
  timer.unref();
}

/** npm runs scripts as `sh -c <script>`, and some shells stay in between. A user's own shell has no `-c`. */
function isShellOfScript(pid: number): boolean {
  try {
    const [program = "", flag = ""] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    return /(^|\/)(sh|bash|dash|ash)$/.test(program) && flag === "-c";
  } catch {
    return false;
  }
}
