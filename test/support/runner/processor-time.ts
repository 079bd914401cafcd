import { readFileSync } from "node:fs";
import { afterAll } from "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** Processor time of a file of tests: its process's and that of the children which ended meanwhile. */
    processorMilliseconds?: number;
  }
}

/** Clock ticks of Linux, of which it counts a hundred a second. */
const MILLISECONDS_PER_TICK = 10;

/** The module is loaded anew for each file, the process is not. */
const shared = globalThis as { processorMillisecondsBefore?: number };

// Loaded before each file's own hooks, so run after them: what they have started has ended.
// oxlint-disable-next-line no-empty-pattern -- vitest takes the names of fixtures from it
afterAll(({}, file) => {
  const now = readProcessorMilliseconds();
  if (now === null) return;
  file.meta.processorMilliseconds = now - (shared.processorMillisecondsBefore ?? 0);
  shared.processorMillisecondsBefore = now;
});

/** Null where there is no /proc. */
function readProcessorMilliseconds(): number | null {
  let stat: string;
  try {
    stat = readFileSync("/proc/self/stat", "utf8");
  } catch {
    return null;
  }
  // Behind the name, which may have spaces: utime, stime, cutime and cstime are the fields 14 to 17 of the line.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return ticks * MILLISECONDS_PER_TICK;
}
