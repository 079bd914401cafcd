import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  RequestLogRetention,
  type RequestLogRetentionOptions,
} from "../../../src/data-path/request-log/retention.ts";
import { RequestLog } from "../../../src/data-path/request-log/request-log.ts";

const NOW_MS = Date.UTC(2026, 10, 21, 12);
const FILE_BYTES = 100;

const seen = { dir: "", warnings: 0, bytes: -1 };
beforeEach(() => {
  seen.dir = mkdtempSync(join(tmpdir(), "igw-retention-"));
  seen.warnings = 0;
  seen.bytes = -1;
});
afterEach(() => rmSync(seen.dir, { recursive: true }));

function create(options: Partial<RequestLogRetentionOptions>): RequestLogRetention {
  return new RequestLogRetention({
    dir: seen.dir,
    requestLogDays: 400,
    requestLogMaxBytes: null,
    requestLogProtectedMonths: 2,
    spoolMaxBytes: 1_000,
    readSpace: async () => null,
    clock: { nowMs: () => NOW_MS },
    logger: { info: () => undefined, warn: () => void (seen.warnings += 1) },
    onBytes: (bytes) => void (seen.bytes = bytes),
    ...options,
  });
}

function fill(...names: readonly string[]): void {
  for (const name of names) writeFileSync(join(seen.dir, name), "x".repeat(FILE_BYTES));
}

const left = () => readdirSync(seen.dir).toSorted();

describe("RequestLogRetention", () => {
  it("deletes what is older than its days, to the day, and leaves the rest", async () => {
    fill("2026-08-22.worker-0.0.jsonl", "2026-08-23.worker-0.0.jsonl", "2026-11-21.worker-0.0.jsonl");
    expect(await create({ requestLogDays: 90 }).sweep()).toEqual(["2026-08-22.worker-0.0.jsonl"]);
    expect(left()).toEqual(["2026-08-23.worker-0.0.jsonl", "2026-11-21.worker-0.0.jsonl"]);
    expect(seen.bytes).toBe(2 * FILE_BYTES);
  });

  it("deletes the oldest first until all fit their bytes", async () => {
    fill(
      "2026-08-01.worker-1.0.jsonl",
      "2026-08-01.worker-0.10.jsonl",
      "2026-08-01.worker-0.9.jsonl",
      "2026-08-02.worker-0.0.jsonl",
      "2026-11-21.worker-0.0.jsonl",
      "2026-11-21.worker-1.0.jsonl",
    );
    const deleted = await create({ requestLogMaxBytes: 4 * FILE_BYTES }).sweep();
    expect(deleted).toEqual(["2026-08-01.worker-1.0.jsonl", "2026-08-01.worker-0.9.jsonl"]);
    expect(seen.bytes).toBe(4 * FILE_BYTES);
    expect(seen.warnings).toBe(0);
  });

  const THREE_MONTHS = [
    "2026-09-30.worker-0.0.jsonl",
    "2026-10-01.worker-0.0.jsonl",
    "2026-11-20.worker-0.0.jsonl",
    "2026-11-21.worker-0.0.jsonl",
  ];

  it("keeps the current and the previous month whatever days say", async () => {
    fill(...THREE_MONTHS);
    expect(await create({ requestLogDays: 1 }).sweep()).toEqual(THREE_MONTHS.slice(0, 1));
    expect(seen.warnings).toBe(0);
  });

  it.each<{ name: string; options: Partial<RequestLogRetentionOptions> }>([
    { name: "its bound", options: { requestLogMaxBytes: 2 * FILE_BYTES } },
    {
      name: "half of the disk, without a bound",
      options: { readSpace: async () => ({ sizeBytes: 4 * FILE_BYTES, freeBytes: 10_000 }) },
    },
    {
      name: "the room that the spool may need",
      options: { readSpace: async () => ({ sizeBytes: 100_000, freeBytes: 1_000 - 2 * FILE_BYTES }) },
    },
  ])("deletes of protected months too what is beyond $name, and warns", async ({ options }) => {
    fill(...THREE_MONTHS);
    expect(await create(options).sweep()).toEqual(THREE_MONTHS.slice(0, 2));
    expect(left()).toEqual(THREE_MONTHS.slice(2));
    expect(seen.warnings).toBe(1);
  });

  it("keeps the previous month over the end of a year", async () => {
    fill("2026-11-30.worker-0.0.jsonl", "2026-12-01.worker-0.0.jsonl", "2027-01-01.worker-0.0.jsonl");
    const clock = { nowMs: () => Date.UTC(2027, 0, 1) };
    expect(await create({ requestLogDays: 1, clock }).sweep()).toEqual(["2026-11-30.worker-0.0.jsonl"]);
  });

  it("deletes of the protected months too when it is told to, but never the newest file of a writer", async () => {
    fill(
      "2026-11-21.worker-0.0.jsonl",
      "2026-11-21.worker-0.1.jsonl",
      "2026-11-20.worker-1.0.jsonl",
      "2026-09-01.worker-2.0.jsonl",
    );
    await create({ requestLogMaxBytes: 1, requestLogDays: 1, requestLogProtectedMonths: 0 }).sweep();
    expect(left()).toEqual([
      "2026-09-01.worker-2.0.jsonl",
      "2026-11-20.worker-1.0.jsonl",
      "2026-11-21.worker-0.1.jsonl",
    ]);
  });

  it("never takes away the file that a worker is writing", async () => {
    const worker = { dir: seen.dir, writer: "worker-0", maxFileBytes: 10 };
    const log = new RequestLog({
      ...worker,
      clock: { nowMs: () => NOW_MS },
      logger: { error: () => undefined },
    });
    const retention = create({ requestLogMaxBytes: 1, requestLogDays: 1, requestLogProtectedMonths: 0 });
    const lines = Array.from({ length: 20 }, (_, index) => `{"line":${index}}`);
    for (const line of lines) {
      log.write(line);
      await retention.sweep();
    }
    await log.close();
    // Files that were written since the last sweep are here still, on a busy machine several.
    await retention.sweep();
    const [newest = "", ...others] = left();
    expect(others).toEqual([]);
    expect(readFileSync(join(seen.dir, newest), "utf8")).toContain(lines.at(-1));
  });

  it("leaves alone what is not a file of the request log, and a folder that is not there yet", async () => {
    const others = ["2020-01-01.txt", "notes.jsonl", "2020-01-01.worker-0.jsonl"];
    fill(...others, "2026-11-21.worker-0.0.jsonl");
    mkdirSync(join(seen.dir, "2020-01-01.worker-0.0.jsonl"));
    symlinkSync("notes.jsonl", join(seen.dir, "2020-01-02.worker-0.0.jsonl"));
    expect(await create({ requestLogDays: 1 }).sweep()).toEqual([]);
    expect(await create({ dir: join(seen.dir, "nowhere") }).sweep()).toEqual([]);
  });

  it("sweeps as soon as it is started, and has swept when it has stopped", async () => {
    fill("2026-08-22.worker-0.0.jsonl", "2026-11-21.worker-0.0.jsonl");
    const retention = create({ requestLogDays: 1, requestLogProtectedMonths: 1 });
    retention.start();
    await retention.stop();
    expect(left()).toEqual(["2026-11-21.worker-0.0.jsonl"]);
  });

  it("warns of a folder that cannot be read, and does not fail its host", async () => {
    fill("folder");
    const retention = create({ dir: join(seen.dir, "folder") });
    retention.start();
    await retention.stop();
    expect(seen.warnings).toBe(1);
  });
});
