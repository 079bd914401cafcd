import { lstat, unlink } from "node:fs/promises";
import { connect, type Server } from "node:net";
import type { EnvoyServerAddress } from "./contract.ts";
import { unlessMissing } from "../../shared/host/unless-missing.ts";

/** Timeout for testing whether an existing socket file has a listener. */
const PROBE_TIMEOUT_MS = 1_000;

/** Listens on a socket file or port; see `EnvoyServer.listen`. */
export async function listenAt(
  server: Pick<Server, "listen" | "once" | "off">,
  address: EnvoyServerAddress,
): Promise<void> {
  if ("socketPath" in address) await removeStaleSocket(address.socketPath);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen("socketPath" in address ? { path: address.socketPath } : address, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/**
 * Removes a socket file without a listener.
 * @throws Error if the socket has a listener, or if the path is not a socket.
 */
async function removeStaleSocket(path: string): Promise<void> {
  const found = await unlessMissing(lstat(path), null);
  if (found === null) return;
  if (!found.isSocket()) throw new Error(`${path} exists and is not a socket`);
  if (await isAnswering(path)) throw new Error(`${path} is in use by another process`);
  await unlink(path);
}

async function isAnswering(path: string): Promise<boolean> {
  return await new Promise<boolean>((resolve) => {
    const socket = connect({ path, timeout: PROBE_TIMEOUT_MS });
    const finish = (isAnswered: boolean) => () => {
      socket.destroy();
      resolve(isAnswered);
    };
    socket.once("connect", finish(true));
    // A full backlog means that a listener exists, but is busy.
    socket.once("timeout", finish(true));
    socket.once("error", finish(false));
  });
}
