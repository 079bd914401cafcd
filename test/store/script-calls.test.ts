/** What one request runs in Redis: who has no limits beside the month's of key and organization pays for no others. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createRedisClient,
  type RedisClient,
  waitUntilReady,
} from "../../src/data-path/store/redis/client.ts";
import { createStore } from "../../src/data-path/store/redis-store.ts";
import type { RequestIdentity } from "../../src/shared/stored/settlement.ts";
import type { Store } from "../../src/shared/stored/store.ts";
import { formatOwnerIds } from "../../src/shared/stored/owner-ids.ts";
import type { Limit } from "../../src/shared/settings/limits.ts";
import { type PrivateRedis, startRedis } from "../support/redis.ts";
import {
  addTestGroup,
  addTestKey,
  admitKnown,
  chargeInput,
  createIdentity,
  createTestOrganization,
  FINAL,
  type TestKey,
} from "./fixture.ts";
import { monthLimits } from "../support/month-limits.ts";

/** Of its own: commands are counted for a whole server. */
let redis: PrivateRedis;
let client: RedisClient;
let store: Store;
beforeAll(async () => {
  redis = await startRedis();
  client = createRedisClient({ url: redis.url, commandTimeoutMs: 20_000, onError: () => undefined });
  await waitUntilReady(client, 10_000);
  store = createStore({ client, usageMonths: 13 });
});
afterAll(async () => {
  client.disconnect();
  await redis.stop();
});

/**
 * Of all commands, scripts' own included, while `run` runs; without those of the test, and without what one admission of 256
 * sweeps.
 */
async function countCalls(run: () => Promise<unknown>): Promise<Record<string, number>> {
  await client.config("RESETSTAT");
  await run();
  const stats = await client.info("commandstats");
  const found = Array.from(stats.matchAll(/^cmdstat_([a-z|]+):calls=(\d+)/gm), ([, name = "", calls]) => [
    name,
    Number(calls),
  ]);
  return Object.fromEntries(
    found.filter(([name]) => !/^(?:config|info|evalsha|eval|zremrangebyscore)/.test(String(name))),
  );
}

const FAR = 1_000_000;
const MONTH = { limits: monthLimits({ cap: FAR, budget: FAR }) };
const DAY_AND_WEEK: readonly Limit[] = [
  { period: "day", kind: "cap", cents: FAR },
  { period: "week", kind: "cap", cents: FAR },
];

/** Of the second request: the first has the settings told and the hashes made. */
async function countOfSecond(
  key: TestKey,
  names: Pick<RequestIdentity, "owners" | "session"> = {},
): Promise<Record<string, Record<string, number>>> {
  const charge = async () => {
    const identity = { ...(await createIdentity(store, key)), ...names };
    return chargeInput(identity, 1, 5n, { final: FINAL, isSingleCharge: true });
  };
  await admitKnown(store, key);
  await store.charge(await charge());
  const second = await charge();
  return {
    admission: await countCalls(() => admitKnown(store, key)),
    charge: await countCalls(() => store.charge(second)),
  };
}

/** An admission reads key, organization and bucket, and the month's spend of each of the two. */
const OF_MONTHS = {
  admission: { time: 1, hmget: 3, hget: 2, hset: 1, zadd: 2 },
  charge: { exists: 1, hget: 1, hmget: 1, hincrby: 8, hset: 1, pexpire: 1, xadd: 1, zrem: 2 },
};

describe("the commands of a request", () => {
  it("are no more than its month's caps and budgets need", async () => {
    const { id } = await createTestOrganization(store, MONTH);
    const key = await addTestKey(store, id, MONTH);
    expect(await countOfSecond(key)).toEqual(OF_MONTHS);
  });

  it("are no more for a request that names a session where none has a cap", async () => {
    const { id } = await createTestOrganization(store, MONTH);
    const key = await addTestKey(store, id, MONTH);
    expect(await countOfSecond(key, { session: "run 1" })).toEqual(OF_MONTHS);
  });

  it("are two more for a group without limits, its id and its record, and in the charge its month", async () => {
    const { id } = await createTestOrganization(store, MONTH);
    const groupId = await addTestGroup(store, id);
    const key = await addTestKey(store, id, { ...MONTH, groupId });
    const owners = formatOwnerIds({ userId: null, groupId });
    expect(await countOfSecond(key, { owners })).toMatchObject({
      admission: { ...OF_MONTHS.admission, hmget: OF_MONTHS.admission.hmget + 2 },
      charge: { hmget: OF_MONTHS.charge.hmget + 1, hincrby: OF_MONTHS.charge.hincrby + 1 },
    });
  });

  it("are with limits of tokens three more in the admission, and in the charge one for each bucket", async () => {
    const { id } = await createTestOrganization(store, { ...MONTH, tokensPerMinute: FAR });
    const key = await addTestKey(store, id, { ...MONTH, tokensPerMinute: FAR });
    const first = await admitKnown(store, key, { promptTokens: 10 });
    const { takenTokens } = await admitKnown(store, key, { promptTokens: 10 });
    if (first.takenTokens === null || takenTokens === null) throw new Error("it meets no limit of tokens");
    const usedTokens = { ...takenTokens, input: 11, output: 12 };
    const charge = chargeInput(await createIdentity(store, key), 1, 5n, {
      final: FINAL,
      isSingleCharge: true,
      usedTokens,
    });
    await store.charge(
      chargeInput(await createIdentity(store, key), 1, 5n, { final: FINAL, isSingleCharge: true }),
    );
    expect(await countCalls(() => admitKnown(store, key, { promptTokens: 10 }))).toEqual({
      ...OF_MONTHS.admission,
      // Which limits each of the two has, and the organization's bucket: the key's is in the hash of its requests.
      hmget: OF_MONTHS.admission.hmget + 3,
      hset: OF_MONTHS.admission.hset + 1,
    });
    expect(await countCalls(() => store.charge(charge))).toEqual({
      ...OF_MONTHS.charge,
      hincrby: OF_MONTHS.charge.hincrby + 2,
    });
  });

  it("are with a day and a week on key and group one for each window of caps and each counter, and the group's id, record and limits", async () => {
    const { id } = await createTestOrganization(store, MONTH);
    const groupId = await addTestGroup(store, id, { limits: DAY_AND_WEEK });
    const key = await addTestKey(store, id, { ...MONTH, groupId, limits: DAY_AND_WEEK });
    const owners = formatOwnerIds({ userId: null, groupId });
    const { admission, charge } = await countOfSecond(key, { owners });
    expect(admission).toEqual({
      ...OF_MONTHS.admission,
      hmget: OF_MONTHS.admission.hmget + 3,
      // Day and week of key and group, and the organization's month.
      hget: 5,
    });
    expect(charge).toMatchObject({
      hmget: OF_MONTHS.charge.hmget + 1,
      // Of key, group and organization, in a day and in a week; of the group in its month.
      hincrby: OF_MONTHS.charge.hincrby + 7,
    });
  });
});
