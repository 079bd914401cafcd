import { get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { LaunchError } from "./launch-error.ts";
import type { ManagedProcess } from "./managed-process.ts";

const READY_BOUND_MS = 30_000;
const POLL_MS = 25;
const REQUEST_TIMEOUT_MS = 2_000;

/**
 * Resolves when a request through Envoy would be served: `GET /readyz` goes the way that requests go.
 * @throws LaunchError with every child's last lines when that does not happen in time or one of them ends.
 */
export async function waitUntilReady(
  baseUrl: string,
  processes: readonly ManagedProcess[],
  boundMs: number = READY_BOUND_MS,
): Promise<void> {
  const deadlineMs = performance.now() + boundMs;
  for (;;) {
    const answer = await readyz(baseUrl);
    if (answer === "200") return;
    const gone = processes.find((one) => one.hasEnded);
    if (gone !== undefined) {
      throw new LaunchError(`${gone.name} ended (${await gone.ended}).\n${gone.describeLog()}`);
    }
    if (performance.now() > deadlineMs) {
      const logs = processes.map((one) => one.describeLog()).join("\n\n");
      throw new LaunchError(
        `${baseUrl}/readyz was not 200 within ${boundMs / 1000} s (last: ${answer}).\n${logs}`,
      );
    }
    await sleep(POLL_MS);
  }
}

/** Status, or the error's code. */
function readyz(baseUrl: string): Promise<string> {
  return new Promise((resolve) => {
    const request = get(`${baseUrl}/readyz`, { timeout: REQUEST_TIMEOUT_MS, agent: false }, (response) => {
      response.resume();
      resolve(String(response.statusCode));
    });
    request.once("timeout", () => request.destroy(new Error("timeout")));
    request.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}
