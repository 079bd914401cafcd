import { describe, expect, it } from "vitest";
import { ReportTurns } from "../../../src/management/admin/report-turns.ts";
import { createDeferred } from "../../../src/shared/event-loop/deferred.ts";

const OWN = { lane: "org_a", caller: "token" };

/** A report that runs until it is ended, and notes when it began. */
function createReports() {
  const turns = new ReportTurns();
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const start = (name: string, of = OWN): Promise<string> => {
    const { promise, resolve } = createDeferred<string>();
    ends.set(name, () => resolve(name));
    return turns.run(of, () => {
      begun.push(name);
      return promise;
    });
  };
  return { turns, begun, start, end: (name: string) => ends.get(name)?.() };
}

describe("ReportTurns", () => {
  it("runs one report of a lane at a time, in the order in which they came", async () => {
    const { begun, start, end } = createReports();
    const all = ["first", "second", "third"].map((name) => start(name));
    await expect.poll(() => begun).toEqual(["first"]);
    end("first");
    await all[0];
    await expect.poll(() => begun).toEqual(["first", "second"]);
    end("second");
    end("third");
    expect(await Promise.all(all)).toEqual(["first", "second", "third"]);
  });

  it("rejects a caller's report beyond four that wait, and no other caller's", async () => {
    const { start } = createReports();
    for (const name of ["runs", "1", "2", "3", "4"]) void start(name);
    const error = await start("5").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status: 429, code: "too_many_reports", headers: { "retry-after": "5" } });
    const other = start("other", { ...OWN, caller: "person" });
    expect(await Promise.race([other, Promise.resolve("waits")])).toBe("waits");
  });

  it("runs reports of other lanes beside it, four of all", async () => {
    const { begun, start, end } = createReports();
    for (const lane of ["a", "b", "c", "d", "e"]) void start(lane, { lane, caller: "token" });
    void start("a again", { lane: "a", caller: "token" });
    await expect.poll(() => begun).toEqual(["a", "b", "c", "d"]);
    end("b");
    await expect.poll(() => begun).toEqual(["a", "b", "c", "d", "e"]);
  });

  it("gives the turn on after a failure", async () => {
    const { turns } = createReports();
    const failed = turns.run(OWN, () => Promise.reject(new Error("Redis is away")));
    const next = turns.run(OWN, () => Promise.resolve("next"));
    await expect(failed).rejects.toThrow("Redis is away");
    expect(await next).toBe("next");
  });

  it("has two exports of an organization open, and sixteen of all", () => {
    const { turns } = createReports();
    const close = turns.openExport("org_a");
    turns.openExport("org_a");
    expect(() => turns.openExport("org_a")).toThrow("Too many exports are open");
    close();
    close();
    turns.openExport("org_a");
    expect(() => turns.openExport("org_a")).toThrow("Too many exports are open");
    for (let index = 0; index < 14; index += 1) turns.openExport(`org_${index}`);
    expect(() => turns.openExport("org_last")).toThrow("Too many exports are open");
  });
});
