import { describe, expect, it } from "vitest";
import { OK } from "./account-fixture.ts";
import { ADMISSION, createOpenInput, createSettlement } from "./settlement-fixture.ts";

const ID = ADMISSION.identity.requestId;

describe("Settlement.stop", () => {
  it("deletes the records of settled requests and closes the log", async () => {
    const { settlement, seen } = createSettlement();
    const account = await settlement.open(createOpenInput());
    await account.settle("broken", OK);
    await settlement.stop(1_000);
    expect(seen.forgotten).toEqual([ID]);
    expect(seen.isLogClosed).toBe(true);
    expect(JSON.parse(seen.lines[0] ?? "")).toMatchObject({
      request_id: ID,
      outcome: "broken",
      cost_microcents: 100,
    });
  });

  it("waits for a request that is still open", async () => {
    const { settlement, seen } = createSettlement();
    const account = await settlement.open(createOpenInput());
    const stopped = settlement.stop(10_000);
    await account.settle("broken", OK);
    await stopped;
    expect(seen.forgotten).toEqual([ID]);
  });

  it("says what is left when its time is up", async () => {
    const { settlement } = createSettlement();
    await settlement.open(createOpenInput());
    await expect(settlement.stop(30)).rejects.toThrow(
      "1 requests are not settled, 0 charges not acknowledged",
    );
  });

  it("never deletes the record of a request whose charge was once not answered", async () => {
    let attempts = 0;
    const { settlement, seen } = createSettlement({
      charge: () =>
        (attempts += 1) === 1
          ? Promise.reject(new Error("timed out"))
          : Promise.resolve({ outcome: "applied" }),
    });
    const account = await settlement.open(createOpenInput());
    await account.settle("broken", OK);
    await settlement.stop(1_000);
    expect(seen.charges).toHaveLength(2);
    expect(seen.charges[1]).toEqual(seen.charges[0]);
    expect(seen.forgotten).toEqual([]);
  });
});
