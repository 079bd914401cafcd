import { type NetConnectOpts, type Socket, connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { once } from "node:events";

const TIMEOUT_MS = 3_000;

/** Where a connection goes; with `tls`, its certificate is checked against that name. */
export interface Target {
  readonly address: { readonly path: string } | { readonly host: string; readonly port: number };
  readonly tls?: { readonly serverName: string | null; readonly ca?: string };
}

/** Connects and hangs up. Returns the milliseconds that it took; rejects with the socket's error. */
export async function tryConnect({ address, tls }: Target): Promise<number> {
  const startMs = performance.now();
  const options: NetConnectOpts = { ...address, timeout: TIMEOUT_MS };
  const socket: Socket =
    tls === undefined
      ? connect(options)
      : connectTls({
          ...options,
          ...(tls.serverName === null ? {} : { servername: tls.serverName }),
          ...(tls.ca === undefined ? {} : { ca: tls.ca }),
        });
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    await once(socket, tls === undefined ? "connect" : "secureConnect", { signal });
    return performance.now() - startMs;
  } catch (error) {
    if (signal.aborted) throw new Error(`no connection in ${TIMEOUT_MS / 1000} s`, { cause: error });
    throw error;
  } finally {
    socket.on("error", () => undefined);
    socket.destroy();
  }
}
