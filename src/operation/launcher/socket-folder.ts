import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FolderLock, lockSocketFolder } from "./folder-lock.ts";

/** Maximum length of a Unix socket's path on Linux in bytes, without the terminating zero; macOS has 103. */
const MAX_PATH_BYTES = process.platform === "darwin" ? 103 : 107;
/** As long as the longest name in the directory: envoy-admin.sock, gateway-255.sock. */
const PROBE = "probe-socket.sock";

export interface SocketFolder {
  readonly path: string;
  /** True if it differs from the configured one. */
  readonly isTemporary: boolean;
  /** Null for a temporary directory, which is private anyway. */
  readonly lock: FolderLock | null;
  /** Removes a temporary directory. */
  remove(): void;
}

/**
 * Opens the directory for the stack's sockets: the configured one, created if missing, or a temporary one if
 * a socket's path would be too long or the file system does not support sockets. Only the owner can access
 * it, and only one gateway uses it; another gateway's files are not touched.
 * @throws LaunchError if another gateway uses it
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
