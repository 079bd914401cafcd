import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createRequestLog, createRequestLogRetention } from "../../../src/request-log/create-request-log.ts";

let dataDir = "";
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "igw-data-"));
});
afterEach(() => {
  rmSync(dataDir, { recursive: true });
});

const logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

async function writeOn(nowMs: number): Promise<void> {
  const log = createRequestLog({ dataDir }, { writer: "worker-0", clock: { nowMs: () => nowMs }, logger });
  log.write("{}");
  await log.close();
}

describe("the log of requests of a data folder", () => {
  it("is written where its old files are looked for, and loses what the configuration says", async () => {
    const nowMs = Date.UTC(2026, 10, 21);
    for (const writtenMs of [Date.UTC(2026, 7, 1), Date.UTC(2026, 9, 31), nowMs]) await writeOn(writtenMs);
    const retention = { requestLogDays: 10, requestLogMaxBytes: null, requestLogProtectedMonths: 2 };
    const sizes: number[] = [];
    const parts = {
      clock: { nowMs: () => nowMs },
      logger,
      onBytes: (bytes: number) => void sizes.push(bytes),
    };
    const deleted = await createRequestLogRetention({ dataDir, retention }, parts).sweep();
    expect(deleted).toEqual(["2026-08-01.worker-0.0.jsonl"]);
    expect(sizes).toEqual(["{}\n".length * 2]);
  });
});
