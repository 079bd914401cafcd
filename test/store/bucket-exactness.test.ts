import { describe, expect, it } from "vitest";
import { admitKnown, connectStore, createTestKey, type StoreUnderTest, withTestStore } from "./fixture.ts";

const UNITS_PER_TOKEN = 60_000_000n;
const RPM = 600;
const CAPACITY = 60;
/** Taken before: at a tenth of a second a token the bucket is not full again before all callers have begun. */
const TAKEN_BEFORE = 50;
const CONNECTIONS = 4;
/** Callers at a time on each connection. */
const CALLERS = 16;

const test = withTestStore();

describe("a bucket that four connections empty without a pause", () => {
  it("grants floor(what was in it + elapsed × rpm / 60), not one more or less, and loses no unit", async () => {
    const key = await createTestKey(test.store, { requestsPerMinute: RPM });
    const bucket = `igw:{${key.organizationId}}:bucket:${key.keyId}`;
    const read = async (field: string): Promise<bigint> =>
      BigInt((await test.client.hget(bucket, field)) ?? "-1");
    const stores = await Promise.all(Array.from({ length: CONNECTIONS }, () => connectStore(test.address)));
    for (let taken = 0; taken < TAKEN_BEFORE; taken += 1) await admitKnown(test.store, key);
    const first = await read("at");
    const before = await read("units");
    let granted = 0;

    // Each caller goes on until it is refused, so that after the last grant there was still somebody who wanted more.
    const demand = async (caller: StoreUnderTest): Promise<void> => {
      for (;;) {
        const { decision } = await admitKnown(caller.store, key);
        if (decision === "admitted") granted += 1;
        else if (granted > CAPACITY - TAKEN_BEFORE + 15) return;
      }
    };
    await Promise.all(stores.flatMap((caller) => Array.from({ length: CALLERS }, () => demand(caller))));
    const elapsed = (await read("at")) - first;
    const left = await read("units");
    await Promise.all(stores.map((caller) => caller.stop()));

    expect(left).toBeLessThan(UNITS_PER_TOKEN);
    const given = before + elapsed * BigInt(RPM);
    expect(BigInt(granted)).toBe(given / UNITS_PER_TOKEN);
    expect(BigInt(granted) * UNITS_PER_TOKEN + left).toBe(given);
  });
});
