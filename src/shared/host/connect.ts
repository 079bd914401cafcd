import { type Socket, connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { once } from "node:events";

const TIMEOUT_MS = 3_000;

/** Thrown if the connection was neither accepted nor refused in time. */
export class ConnectTimeoutError extends Error {
  override readonly name = "ConnectTimeoutError";
}

/** Target of a connection; with `tls`, its certificate is checked against that name. */
export interface Target {
  readonly address: { readonly path: string } | { readonly host: string; readonly port: number };
  readonly tls?: { readonly serverName: string | null; readonly ca?: string };
}

/**
 * Connects and disconnects. Returns the milliseconds that it took.
 *
 * @throws {ConnectTimeoutError} if it took longer than `timeoutMs`; otherwise the socket's own error
 */
export async function tryConnect({ address, tls }: Target, timeoutMs = TIMEOUT_MS): Promise<number> {
  const startMs = performance.now();
  const socket: Socket =
    tls === undefined
      ? connect(address)
      : connectTls({
          ...address,
          ...(tls.serverName === null ? {} : { servername: tls.serverName }),
          ...(tls.ca === undefined ? {} : { ca: tls.ca }),
        });
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    await once(socket, tls === undefined ? "connect" : "secureConnect", { signal });
    return performance.now() - startMs;
  } catch (error) {
    if (signal.aborted) {
      throw new ConnectTimeoutError(`no connection in ${timeoutMs / 1000} s`, { cause: error });
    }
    throw error;
  } finally {
    socket.on("error", () => undefined);
    socket.destroy();
  }
}
