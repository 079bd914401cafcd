/**
 * A process whose files may have so many bytes and no more (RLIMIT_FSIZE), until it raises its limit: a disk that fills, takes
 * a part of a write, and empties. Arguments: the folder, how many lines to write, and how often that is to fail before.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readlinkSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { RequestLog } from "../../../src/data-path/request-log/request-log.ts";

const [, , dir = "", count = "0", failures = "1"] = process.argv;
// The kernel tells by a signal, which would end the process, and then by EFBIG.
process.on("SIGXFSZ", () => undefined);
const seen = { failures: 0 };
// The log's own waits keep no process alive.
const alive = setInterval(() => undefined, 1_000);
const log = new RequestLog({
  dir,
  writer: "worker-0",
  clock: { nowMs: () => Date.UTC(2026, 10, 21) },
  logger: { error: () => void (seen.failures += 1) },
});
for (let line = 0; line < Number(count); line++) log.write(JSON.stringify({ line, text: "x".repeat(1_000) }));
while (seen.failures < Number(failures)) {
  await setTimeout(10);
}
const openFiles = readdirSync("/proc/self/fd").filter(isOfLog).length;
execFileSync("prlimit", ["--fsize=unlimited", "--pid", String(process.pid)]);
await log.close();
clearInterval(alive);
process.stdout.write(JSON.stringify({ failures: seen.failures, openFiles }));

/** The descriptor that reads the list is gone by then. */
function isOfLog(descriptor: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`).startsWith(dir);
  } catch {
    return false;
  }
}
