import { open, readdir, truncate } from "node:fs/promises";
import { join } from "node:path";
import { runCommand } from "../setup/run-command.js";
import { unlessMissing } from "../../shared/host/unless-missing.ts";

/** About 100 MB are read per second. */
const CHECK_TIMEOUT_MS = 120_000;
const NAME_OF_CHECK = "redis-check-aof";
/** Message that is specific to a missing end. */
const MISSING_END = /Expected to read \d+ bytes, got \d+ bytes|Reached EOF before reading EXEC for MULTI/;
/** End of a transaction in an append-only file. */
const EXEC = Buffer.from("*1\r\n$4\r\nEXEC\r\n");
const ANALYSIS = /size=(\d+), ok_up_to=(\d+),/;

/**
 * Removes an incomplete transaction from the end of an append-only file, left if Redis or its host died while
 * writing it. A script is such a transaction. Redis can repair this (`aof-load-truncated`), but if the cut is
 * within a command, it keeps the transaction's earlier commands, appends further ones, and executes all of
 * them at the *next* start: half a script (observed with 7.0.15; fixed in Valkey in 2026, valkey#4342).
 *
 * @param program redis-server, which is redis-check-aof under that name
 * @param folder its `appendonlydir`, which may be missing
 * @returns number of removed bytes; 0 if the file is complete, or damaged in another way, which Redis reports
 */
export async function cutHalfTransaction(program: string, folder: string): Promise<number> {
  const file = await findLastFile(folder);
  // Usual case: avoids reading the whole file, which Redis does next.
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
    `Redis died in the middle of a write: ${bytes} bytes of an incomplete write were removed.\n`,
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

/** Returns the file that Redis appends to: the only one that may be incomplete. */
async function findLastFile(folder: string): Promise<string | null> {
  const names = await unlessMissing(readdir(folder), []);
  const numbered = names.flatMap((name) => {
    const number = /\.(\d+)\.incr\.aof$/.exec(name)?.[1];
    return number === undefined ? [] : [{ name, number: Number(number) }];
  });
  const last = numbered.toSorted((one, other) => other.number - one.number)[0];
  return last === undefined ? null : join(folder, last.name);
}
