import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Below what the kernel gives to outgoing connections (from 32768 on Linux), so that none of these takes a port between
 * the look and its use, and so low that a cluster node's second port (10,000 more) is in nobody else's way.
 */
const FIRST = 11_000;
const COUNT = 9_000;
/** Files of tests run side by side: each process begins somewhere else. */
let next = Math.floor(Math.random() * COUNT);

/** A loopback port that was free a moment ago. Each call of one process gives another one, until all were given. */
export async function findFreePort(): Promise<number> {
  for (let tried = 0; tried < COUNT; tried += 1) {
    const port = FIRST + next;
    next = (next + 1) % COUNT;
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port from ${FIRST} to ${FIRST + COUNT - 1}`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return true;
  } catch (error) {
    if (["EADDRINUSE", "EACCES"].includes(String((error as NodeJS.ErrnoException).code))) return false;
    throw error;
  } finally {
    server.close();
  }
}
