/** Addresses at which Envoy reaches the sidecar's workers. */
import { isIP } from "node:net";
import { join } from "node:path";
import type { Config } from "../../shared/config/schema.ts";
import { resolveWorkerCount } from "../../shared/config/worker-count.ts";
import { workerSocketName } from "../names.ts";
import type { RenderOptions } from "./render-options.ts";

/** Worker's Unix socket, or host and port. */
export type SidecarEndpoint =
  | { readonly pipe: string }
  | { readonly host: string; readonly port: number; readonly isName: boolean };

/** Maximum length of a Unix socket's path on Linux in bytes, without the terminating zero. */
const MAX_SOCKET_PATH_BYTES = 107;

/**
 * Lists one endpoint per worker.
 * @throws Error if a socket's path is too long for the system.
 */
export function listSidecarEndpoints(config: Config, options: RenderOptions): SidecarEndpoint[] {
  const { tcp } = config.sidecar;
  const length = options.workers ?? resolveWorkerCount(config.sidecar.workers);
  return Array.from({ length }, (_, index) => {
    if (tcp !== null) return createTcpEndpoint(options.sidecarHost ?? tcp.host, tcp.port + index);
    const pipe = join(config.sidecar.sockets, workerSocketName(index));
    checkSocketPath(pipe);
    return { pipe };
  });
}

function createTcpEndpoint(host: string, port: number): SidecarEndpoint {
  return { host, port, isName: isIP(host) === 0 };
}

/** @throws Error if the path is too long for the system. */
export function checkSocketPath(path: string): void {
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES) return;
  throw new Error(
    `sidecar.sockets: the path ${path} is longer than the ${MAX_SOCKET_PATH_BYTES} bytes of a Unix socket's path; ` +
      "choose a shorter directory",
  );
}
