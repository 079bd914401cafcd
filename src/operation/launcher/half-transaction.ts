import { open, readdir, truncate } from "node:fs/promises";
import { join } from "node:path";
import { runCommand } from "../setup/run-command.js";

/** Some 100 MB a second are read. */
const CHECK_TIMEOUT_MS = 120_000;
const NAME_OF_CHECK = "redis-check-aof";
/** What it says of an end that is missing, and of nothing else. */
const MISSING_END = /Expected to read \d+ bytes, got \d+ bytes|Reached EOF before reading EXEC for MULTI/;
/** The end of a transaction, in a file of Redis's protocol. */
const EXEC = Buffer.from("*1\r\n$4\r\nEXEC\r\n");
const ANALYSIS = /size=(\d+), ok_up_to=(\d+),/;

/**
 * Takes the half of a transaction off the end of an append-only file, whose Redis, or its host, died while it was written.
 * A script is such a transaction. Redis leaves that to itself (`aof-load-truncated`), but where the cut lies within one of
 * its commands it keeps the commands before that one with the transaction's beginning, writes on behind them, and at the
 * *next* start executes them with what follows: a half script (seen with 7.0.15; Valkey mended it in 2026, valkey#4342).
 *
 * @param program redis-server, which is redis-check-aof under that name
 * @param folder its `appendonlydir`, there or not
 * @returns bytes that were taken off; 0 when the file is whole, or damaged in another way, which is Redis's to tell
 */
export async function cutHalfTransaction(program: string, folder: string): Promise<number> {
  const file = await findLastFile(folder);
  // Nearly always, so that a start does not read the whole file for it, which Redis does next.
  if (file === null || (await endsWithTransaction(file))) return 0;
  const { code, stdout, stderr } = await runCommand(program, [file], {
    argv0: NAME_OF_CHECK,
    timeoutMs: CHECK_TIMEOUT_MS,
  });
  const [, size, end] = ANALYSIS.exec(stdout) ?? [];
  if (code === 0 || size === undefined || end === undefined || !MISSING_END.test(stdout + stderr)) return 0;
  await truncate(file, Number(end));
  const bytes = Number(size) - Number(end);
  process.stderr.write(
    `Redis died in the middle of a write: ${bytes} bytes without their end were taken off.\n`,
  );
  return bytes;
}

async function endsWithTransaction(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const end = Buffer.alloc(EXEC.length);
    await file.read({ buffer: end, position: Math.max(0, size - EXEC.length) });
    return end.equals(EXEC);
  } finally {
    await file.close();
  }
}

/** The one that Redis writes on in: the only one that can have lost its end. */
async function findLastFile(folder: string): Promise<string | null> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const numbered = names.flatMap((name) => {
    const number = /\.(\d+)\.incr\.aof$/.exec(name)?.[1];
    return number === undefined ? [] : [{ name, number: Number(number) }];
  });
  const last = numbered.toSorted((one, other) => other.number - one.number)[0];
  return last === undefined ? null : join(folder, last.name);
}
