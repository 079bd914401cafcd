/** What keeps money safe, as every settlement has it: here a disk that takes nothing and no grace period. */
import { GraceOutage } from "../../../src/data-path/grace/grace-outage.ts";
import { GraceSpend } from "../../../src/data-path/grace/grace-spend.ts";
import type { RequestJournal } from "../../../src/data-path/spool/request-journal.ts";
import type { SettlementOptions } from "../../../src/data-path/settlement/settlement.ts";

/** Journal on a disk that takes nothing: every request needs a record. */
export const NO_JOURNAL = {
  append: () => Promise.resolve(null),
  release: () => undefined,
} as unknown as RequestJournal;

type Safeties = Pick<SettlementOptions, "requestLog" | "spool" | "spend" | "outage" | "workerCount">;

export function createSafeties(changes: Partial<Safeties> = {}): Safeties {
  return {
    requestLog: { write: () => undefined, close: () => Promise.resolve() },
    spool: {
      append: () => Promise.reject(new Error("the disk takes nothing")),
      stop: () => Promise.resolve(true),
      journal: NO_JOURNAL,
    },
    spend: new GraceSpend(),
    outage: new GraceOutage({
      clock: { monotonicMs: () => performance.now() },
      graceMs: 0,
      logger: { warn: () => undefined },
    }),
    workerCount: () => 1,
    ...changes,
  };
}
