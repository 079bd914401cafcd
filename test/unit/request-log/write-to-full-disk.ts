/**
 * A process whose files may have so many bytes and no more (RLIMIT_FSIZE), until it raises its limit: a disk that fills, takes
 * a part of a write, and empties. Arguments: the folder, and how many lines to write.
 */
import { execFileSync } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import { RequestLog } from "../../../src/request-log/request-log.ts";

const [, , dir = "", count = "0"] = process.argv;
// The kernel tells by a signal, which would end the process, and then by EFBIG.
process.on("SIGXFSZ", () => undefined);
const seen = { failures: 0 };
const log = new RequestLog({
  dir,
  writer: "worker-0",
  clock: { nowMs: () => Date.UTC(2026, 10, 21) },
  logger: { error: () => void (seen.failures += 1) },
});
for (let line = 0; line < Number(count); line++) log.write(JSON.stringify({ line, text: "x".repeat(1_000) }));
while (seen.failures === 0) await setTimeout(10);
execFileSync("prlimit", ["--fsize=unlimited", "--pid", String(process.pid)]);
// The log's own waits keep no process alive.
const alive = setInterval(() => undefined, 1_000);
await log.close();
clearInterval(alive);
process.stdout.write(String(seen.failures));
