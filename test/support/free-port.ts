import { once } from "node:events";
import { createServer, type Server } from "node:net";

/**
 * Below what the kernel gives to outgoing connections (from 32768 on Linux), so that none of these takes a port between
 * the look and its use, and so low that a cluster node's second port (10,000 more) is in nobody else's way.
 */
const FIRST = 11_000;
/** Ports that one process has to itself: more than the tests of a file use at the same time. */
const BLOCK_SIZE = 250;
const BLOCKS = 36;
const HOST = "127.0.0.1";

/**
 * Files of tests run side by side, in processes and in runs that know nothing of one another. So each process listens on
 * the first port of a block for as long as it lives: the block's other ports are given out by nobody else, also where
 * what gets them opens them late, or closes them and opens them again.
 */
interface Block {
  readonly first: number;
  /** How many of its ports were given out or found taken, the first one included. */
  used: number;
}

let own: Promise<Block> | null = null;

/**
 * A loopback port that nobody listens on and that no other process of tests is given. Each call of one process gives
 * another one, until all of its block were given: then those that are free again come once more.
 *
 * @throws Error when all blocks are taken, or all ports of this process's block
 */
export async function findFreePort(): Promise<number> {
  own ??= takeBlock();
  const block = await own;
  for (let tried = 0; tried < BLOCK_SIZE; tried += 1) {
    const offset = block.used % BLOCK_SIZE;
    block.used += 1;
    // Its first port is this process's sign.
    if (offset === 0) continue;
    const port = block.first + offset;
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port from ${block.first + 1} to ${block.first + BLOCK_SIZE - 1}`);
}

/** Processes that begin at the same time begin their search at different blocks. */
async function takeBlock(): Promise<Block> {
  const start = Math.floor(Math.random() * BLOCKS);
  for (let tried = 0; tried < BLOCKS; tried += 1) {
    const first = FIRST + ((start + tried) % BLOCKS) * BLOCK_SIZE;
    const sign = await listen(first);
    if (sign === null) continue;
    // Kept until this process ends, which it does not put off.
    sign.unref();
    return { first, used: 1 };
  }
  throw new Error(`each block of ${BLOCK_SIZE} ports from ${FIRST} on has its process of tests`);
}

async function isFree(port: number): Promise<boolean> {
  const server = await listen(port);
  server?.close();
  return server !== null;
}

/** Null where somebody else listens, or nobody may. */
async function listen(port: number): Promise<Server | null> {
  const server = createServer();
  try {
    server.listen(port, HOST);
    await once(server, "listening");
    return server;
  } catch (error) {
    if (["EADDRINUSE", "EACCES"].includes(String((error as NodeJS.ErrnoException).code))) return null;
    throw error;
  }
}
