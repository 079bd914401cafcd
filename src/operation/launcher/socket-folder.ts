import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FolderLock, lockSocketFolder } from "./folder-lock.ts";

/** Bytes of a Unix socket's path on Linux, the terminating zero not counted; macOS has 103. */
const MAX_PATH_BYTES = process.platform === "darwin" ? 103 : 107;
/** As long as the longest name in the folder: envoy-admin.sock, gateway-255.sock. */
const PROBE = "probe-socket.sock";

export interface SocketFolder {
  readonly path: string;
  /** Another folder than the one asked for. */
  readonly isTemporary: boolean;
  /** Null where nobody else can have the folder, which is a temporary one. */
  readonly lock: FolderLock | null;
  /** Removes a temporary folder. */
  remove(): void;
}

/**
 * The folder for the stack's sockets: the configured one, made where it is missing, or a temporary one where a
 * socket's path would be too long or the file system has no sockets. Only the owner can enter it, and one gateway alone
 * has it; what another has there is not touched.
 * @throws LaunchError when another gateway has it
 */
export async function openSocketFolder(wanted: string): Promise<SocketFolder> {
  const probe = join(wanted, PROBE);
  if (Buffer.byteLength(probe) <= MAX_PATH_BYTES) {
    mkdirSync(wanted, { recursive: true, mode: 0o700 });
    const lock = await lockSocketFolder(wanted);
    if (await canBind(probe)) return { path: wanted, isTemporary: false, lock, remove: () => undefined };
    lock.release();
  }
  const path = mkdtempSync(join(tmpdir(), "igw-"));
  return {
    path,
    isTemporary: true,
    lock: null,
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

function canBind(path: string): Promise<boolean> {
  rmSync(path, { force: true });
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(path, () => server.close(() => resolve(true)));
  });
}
