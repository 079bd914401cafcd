import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RequestLog, requestLogFolder } from "../../../src/data-path/request-log/request-log.ts";
import { RequestLogRetention } from "../../../src/data-path/request-log/retention.ts";

let dataDir = "";
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "igw-data-"));
});
afterEach(() => {
  rmSync(dataDir, { recursive: true });
});

const logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

async function writeOn(nowMs: number): Promise<void> {
  const dir = requestLogFolder({ dataDir });
  const log = new RequestLog({ dir, writer: "worker-0", clock: { nowMs: () => nowMs }, logger });
  log.write("{}");
  await log.close();
}

describe("the request log of a data folder", () => {
  it("is written where its old files are looked for, and loses what the configuration says", async () => {
    const nowMs = Date.UTC(2026, 10, 21);
    for (const writtenMs of [Date.UTC(2026, 7, 1), Date.UTC(2026, 9, 31), nowMs]) await writeOn(writtenMs);
    const retention = { requestLogDays: 10, requestLogMaxBytes: null, requestLogProtectedMonths: 2 };
    const sizes: number[] = [];
    const parts = {
      dir: requestLogFolder({ dataDir }),
      clock: { nowMs: () => nowMs },
      logger,
      spoolMaxBytes: 0,
      readSpace: async () => null,
      onBytes: (bytes: number) => void sizes.push(bytes),
    };
    const deleted = await new RequestLogRetention({ ...retention, ...parts }).sweep();
    expect(deleted).toEqual(["2026-08-01.worker-0.0.jsonl"]);
    expect(sizes).toEqual(["{}\n".length * 2]);
  });
});
