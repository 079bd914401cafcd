import { get, type IncomingMessage } from "node:http";
import { get as getTls } from "node:https";
import { pause } from "../../shared/event-loop/wait.ts";
import { LaunchError } from "./launch-error.ts";
import type { ManagedProcess } from "./managed-process.ts";

const READY_BOUND_MS = 30_000;
const POLL_MS = 25;
const REQUEST_TIMEOUT_MS = 2_000;
/**
 * TLS errors of an Envoy that is ready, but requires a client certificate (`listen.tls.client_ca_file`) that
 * the launcher does not have.
 */
const WANTS_CERTIFICATE = /CERTIFICATE_REQUIRED|HANDSHAKE_FAILURE/;

/**
 * Resolves when a request through Envoy would be served: `GET /readyz` takes the same way.
 * @throws LaunchError with every child's last output if that takes too long or one of them ends.
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
    const ended = processes.find((one) => one.hasEnded);
    if (ended !== undefined) {
      throw new LaunchError(`${ended.name} ended (${await ended.ended}).\n${ended.describeLog()}`);
    }
    if (performance.now() > deadlineMs) {
      const logs = processes.map((one) => one.describeLog()).join("\n\n");
      throw new LaunchError(
        `${baseUrl}/readyz didn't return 200 within ${boundMs / 1000} s (last: ${answer}).\n${logs}`,
      );
    }
    await pause(POLL_MS);
  }
}

/** Returns the status, or the error's code. */
function readyz(baseUrl: string): Promise<string> {
  return new Promise((resolve) => {
    const options = { timeout: REQUEST_TIMEOUT_MS, agent: false };
    const onResponse = (response: IncomingMessage): void => {
      response.resume();
      resolve(String(response.statusCode));
    };
    // Only checks for a response, without verifying the server: nothing secret is sent.
    const request = baseUrl.startsWith("https:")
      ? getTls(`${baseUrl}/readyz`, { ...options, rejectUnauthorized: false }, onResponse)
      : get(`${baseUrl}/readyz`, options, onResponse);
    request.once("timeout", () => request.destroy(new Error("timeout")));
    request.once("error", (error: NodeJS.ErrnoException) =>
      resolve(WANTS_CERTIFICATE.test(error.code ?? "") ? "200" : (error.code ?? error.message)),
    );
  });
}
