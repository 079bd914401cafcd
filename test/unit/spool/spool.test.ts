import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { formatSpoolLine, parseSpoolLine } from "../../../src/data-path/spool/entry.ts";
import { SpoolFullError } from "../../../src/data-path/spool/spool.ts";
import { waitFor } from "../../support/wait.ts";
import { chargeEntry, createSpoolTest, NOW_MS } from "./spool-fixture.ts";

const DAY_MS = 86_400_000;
const LATER = { generation: "000000000000002-2" };

function filesIn(dir: string): string[] {
  return readdirSync(dir).filter((name) => name.endsWith(".spool"));
}

/** What an earlier process, dead now, has left. */
function leave(dir: string, name: string, text: string): void {
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, name), text);
}

function readReported(dir: string) {
  const lines = readFileSync(join(dir, "reported.jsonl"), "utf8").trimEnd().split("\n");
  return lines.map(parseSpoolLine);
}

describe("Spool", () => {
  it("touches no disk while there is nothing to put on it", async () => {
    const { dir, open } = await createSpoolTest();
    const spool = open();
    await spool.start();
    expect(spool.isEmpty).toBe(true);
    expect(() => readdirSync(dir)).toThrow("ENOENT");
  });

  it("has an entry on disk when append resolves", async () => {
    const { dir, open } = await createSpoolTest();
    const spool = open();
    await spool.append(chargeEntry("req_1"));
    const [file] = filesIn(dir);
    const lines = readFileSync(join(dir, file!), "utf8").split("\n");
    expect(parseSpoolLine(lines[0]!)).toEqual(chargeEntry("req_1"));
    expect(spool.pendingBytes).toBe(lines[0]!.length + 1);
  });

  it("sends everything in order when Redis is back, and leaves no file", async () => {
    const { dir, open, redis } = await createSpoolTest();
    const spool = open();
    const ids = Array.from({ length: 200 }, (_, index) => `req_${index}`);
    await Promise.all(ids.map((id) => spool.append(chargeEntry(id))));
    redis.isAway = false;
    await waitFor("the spool to be empty", () => spool.isEmpty);
    expect(redis.charges.map(({ requestId }) => requestId)).toEqual(ids);
    expect(filesIn(dir)).toEqual([]);
    expect(spool.report.replayedEntries).toBe(200);
  });

  it("goes on after an entry that Redis did not acknowledge, and sends none again that it did", async () => {
    const { open, redis } = await createSpoolTest();
    const spool = open();
    for (const id of ["req_1", "req_2", "req_3"]) await spool.append(chargeEntry(id));
    redis.errors.set("req_2", new Error("Command timed out"));
    redis.isAway = false;
    await waitFor("the first entry to be sent", () => redis.charges.length > 0);
    redis.errors.clear();
    await waitFor("the spool to be empty", () => spool.isEmpty);
    const ids = redis.charges.map(({ requestId }) => requestId);
    expect(ids.filter((id) => id === "req_1")).toHaveLength(1);
    expect(new Set(ids)).toEqual(new Set(["req_1", "req_2", "req_3"]));
  });

  it("refuses what would make it larger than it may be, and counts that", async () => {
    const { open } = await createSpoolTest();
    const entry = chargeEntry("req_1");
    const spool = open({ maxBytes: formatSpoolLine(entry).length });
    await spool.append(entry);
    await expect(spool.append(chargeEntry("req_2"))).rejects.toThrow(SpoolFullError);
    expect(spool.report.refusedEntries).toBe(1);
  });

  it("rejects when the folder cannot be made, and works once it can", async () => {
    const { dir, open, redis } = await createSpoolTest();
    const spool = open({ dir: join(dir, "file", "spool") });
    leave(dir, "file", "in the way");
    await expect(spool.append(chargeEntry("req_1"))).rejects.toThrow("ENOTDIR");
    redis.isAway = false;
    expect(await spool.stop(100)).toBe(true);
  });

  describe("stop", () => {
    it("waits until everything is sent", async () => {
      const { open, redis } = await createSpoolTest();
      const spool = open();
      await spool.append(chargeEntry("req_1"));
      const stopped = spool.stop(10_000);
      redis.isAway = false;
      expect(await stopped).toBe(true);
      expect(redis.charges).toHaveLength(1);
    });

    it("says when something is left, which stays on disk", async () => {
      const { dir, open } = await createSpoolTest();
      const spool = open();
      await spool.append(chargeEntry("req_1"));
      expect(await spool.stop(50)).toBe(false);
      expect(filesIn(dir)).toHaveLength(1);
    });
  });

  describe("start", () => {
    it("sends what an earlier process of the same worker left, oldest first", async () => {
      const { dir, open, redis } = await createSpoolTest();
      leave(dir, "worker-0.000000000000002-1.000000.spool", formatSpoolLine(chargeEntry("req_2")));
      leave(dir, "worker-0.000000000000001-9.000001.spool", formatSpoolLine(chargeEntry("req_1")));
      redis.isAway = false;
      const spool = open({ generation: "000000000000003-1" });
      await spool.start();
      await waitFor("the spool to be empty", () => spool.isEmpty);
      expect(redis.charges.map(({ requestId }) => requestId)).toEqual(["req_1", "req_2"]);
      expect(filesIn(dir)).toEqual([]);
    });

    it("leaves the files of other workers alone, and takes those of indexes that are no more", async () => {
      const { dir, open, redis } = await createSpoolTest();
      for (const index of [0, 1, 2, 3]) {
        leave(
          dir,
          `worker-${index}.000000000000001-1.000000.spool`,
          formatSpoolLine(chargeEntry(`req_${index}`)),
        );
      }
      redis.isAway = false;
      const spool = open({ ...LATER, workers: 2, index: 1 });
      await spool.start();
      await waitFor("the spool to be empty", () => spool.isEmpty);
      expect(redis.charges.map(({ requestId }) => requestId)).toEqual(["req_1", "req_3"]);
      expect(filesIn(dir)).toHaveLength(2);
    });

    it("lets only one of two take a file", async () => {
      const { dir, open, redis } = await createSpoolTest();
      leave(dir, "worker-0.000000000000001-1.000000.spool", formatSpoolLine(chargeEntry("req_1")));
      redis.isAway = false;
      const both = [open(LATER), open({ generation: "000000000000003-3" })];
      await Promise.all(both.map((spool) => spool.start()));
      await waitFor("both to be empty", () => both.every(({ isEmpty }) => isEmpty));
      expect(filesIn(dir)).toEqual([]);
      expect(redis.charges.length).toBeGreaterThanOrEqual(1);
    });

    it("skips a torn last line and a damaged one, reports them and sends the rest", async () => {
      const { dir, open, redis, errors } = await createSpoolTest();
      const [one, two, three] = ["req_1", "req_2", "req_3"].map((id) => formatSpoolLine(chargeEntry(id)));
      leave(
        dir,
        "worker-0.000000000000001-1.000000.spool",
        one! + two!.replace("echo", "Echo") + one!.slice(0, 40),
      );
      appendFileSync(join(dir, "worker-0.000000000000001-1.000001.spool"), three!);
      redis.isAway = false;
      const spool = open(LATER);
      await spool.start();
      await waitFor("the spool to be empty", () => spool.isEmpty);
      expect(redis.charges.map(({ requestId }) => requestId)).toEqual(["req_1", "req_3"]);
      expect(spool.report.damagedLines).toBe(2);
      expect(errors).toHaveLength(2);
    });

    it("keeps what is older than six days, reports it and does not send it", async () => {
      const { dir, open, redis, errors } = await createSpoolTest();
      const old = chargeEntry("req_1", {}, NOW_MS - 6 * DAY_MS - 1);
      const young = chargeEntry("req_2", {}, NOW_MS - 6 * DAY_MS);
      leave(dir, "worker-0.000000000000001-1.000000.spool", formatSpoolLine(old) + formatSpoolLine(young));
      redis.isAway = false;
      const spool = open(LATER);
      await spool.start();
      await waitFor("the spool to be empty", () => spool.isEmpty);
      expect(redis.charges.map(({ requestId }) => requestId)).toEqual(["req_2"]);
      expect(spool.report.expiredEntries).toBe(1);
      expect(readReported(dir)).toEqual([old]);
      expect(errors[0]?.fields).toMatchObject({ request_id: "req_1", microcents: "5" });
    });

    it("keeps and reports what contradicts what is on record, and sends the rest", async () => {
      const { dir, open, redis } = await createSpoolTest();
      redis.errors.set("req_1", new Error("MISMATCH the record of this request says another key"));
      const spool = open();
      await spool.append(chargeEntry("req_1"));
      await spool.append(chargeEntry("req_2"));
      redis.isAway = false;
      await waitFor("the spool to be empty", () => spool.isEmpty);
      expect(redis.charges.map(({ requestId }) => requestId)).toEqual(["req_2"]);
      expect(readReported(dir)).toEqual([chargeEntry("req_1")]);
    });
  });
});
