import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readLateCharges, readLoggedUsage } from "../../src/data-path/request-log/read-usage.ts";
import { rebuildUsage } from "../../src/data-path/request-log/rebuild-usage.ts";
import { verifyUsage } from "../../src/data-path/request-log/verify-usage.ts";
import { openRequestsKey, requestBucketKey } from "../../src/data-path/store/redis/keys.ts";
import { addTestKey, type CreatedKey } from "../support/test-key.ts";
import { createGate, waitFor } from "../support/wait.ts";
import { sendOne, type Sent } from "./fault-load.ts";
import { IS_LONG, type RunningScenario, runScenario, type Scenario, WARM_ANSWERS } from "./fault-scenario.ts";
import { type FaultStack, REAPED_WITHIN_MS, startFaultStack } from "./fault-stack.ts";
import { lendMachine, START_TIMEOUT_MS } from "./machine.ts";
import { restartStack } from "./restart.ts";

/** On each key. */
const OUTAGE_ANSWERS = IS_LONG ? 400 : 30;
const ANSWERS_AFTER = 10;

let faults: FaultStack;
beforeAll(async () => {
  faults = await startFaultStack();
}, START_TIMEOUT_MS);
afterAll(() => faults?.stop(), 60_000);

/** Redis is away from `begin` to `end`; meanwhile only strict organizations are refused. */
function createOutage(
  name: string,
  begin: () => Promise<unknown>,
  end: () => Promise<unknown>,
  during: (running: RunningScenario) => Promise<void> = ({ answered }) => answered(OUTAGE_ANSWERS),
): Scenario {
  return {
    name,
    outputTokens: 10,
    async fault(running) {
      await running.answered(WARM_ANSWERS);
      await begin();
      try {
        await during(running);
      } finally {
        await end();
      }
      await running.answered(ANSWERS_AFTER);
    },
    allowsFailures: false,
    isGrace: true,
  };
}

const kill = () => faults.redis.kill();
const restart = () => faults.redis.restart();
const command = (...args: string[]) => faults.redis.command(...args);

describe("charged and used agree when Redis", () => {
  it("is killed and restarted while requests are admitted", async () => {
    expect(await runScenario(faults, createOutage("Redis killed, admissions", kill, restart))).toEqual([]);
  });

  it("is killed between the admission and the record", async () => {
    const bodies = createGate();
    let waiting: Promise<Sent>[] = [];
    const scenario = createOutage("Redis killed, records", kill, restart, async () => {
      bodies.release();
      expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(waiting.map(() => 200));
    });
    expect(
      await runScenario(faults, {
        ...scenario,
        async fault(running) {
          const { organizationId, id: keyId } = running.tenants.open;
          const userId = (await faults.store.getKey({ organizationId, keyId }))?.userId ?? null;
          // Keys of the same user, whose buckets show that they were admitted.
          const create = () => addTestKey(faults.store, organizationId, { userId });
          const keys = await Promise.all(Array.from({ length: 5 }, create));
          const options = { ...running.options("open"), beforeBody: bodies.opened };
          waiting = keys.map(({ key }) =>
            sendOne({ ...options, key }, (sent) => running.sent.open.push(sent)),
          );
          await waitForBuckets(keys);
          return scenario.fault(running);
        },
      }),
    ).toEqual([]);
  });

  it("is killed between the record and the last charge", async () => {
    let gated: Promise<Sent>[] = [];
    const scenario = createOutage("Redis killed, settlements", kill, restart, async (running) => {
      faults.upstream.release();
      const sent = await Promise.all(gated);
      // Strict caps may have no room for the worst case of seven requests at once.
      const { strict } = running.sent;
      const failed = sent.filter((each) => !(each.isWhole || (each.status === 402 && strict.includes(each))));
      expect(failed).toEqual([]);
    });
    expect(
      await runScenario(faults, {
        ...scenario,
        async fault(running) {
          // At once: later the others may have reached the cap.
          gated = (["open", "capped", "strict"] as const).flatMap((tenant) =>
            [true, false].map((isStream) =>
              sendOne({ ...running.options(tenant), isStream, behavior: "gated" }, (sent) =>
                running.sent[tenant].push(sent),
              ),
            ),
          );
          return scenario.fault(running);
        },
      }),
    ).toEqual([]);
  });

  it("answers late, by 50 ms to 5 s", async () => {
    expect(
      await runScenario(
        faults,
        createOutage(
          "Redis slow",
          async () => undefined,
          async () => undefined,
          async ({ answered }) => {
            for (const pauseMs of IS_LONG ? [50, 200, 300, 1_000, 5_000, 50, 5_000] : [50, 200, 300, 2_000]) {
              await command("CLIENT", "PAUSE", String(pauseMs), "ALL");
              // Answered when the pause is over.
              await command("PING");
              await answered(1);
            }
          },
        ),
      ),
    ).toEqual([]);
  });

  it("has become a read-only replica", async () => {
    const outage = createOutage(
      "Redis read-only",
      () => command("REPLICAOF", "127.0.0.1", "1"),
      () => command("REPLICAOF", "NO", "ONE"),
    );
    expect(await runScenario(faults, outage)).toEqual([]);
  });

  it("is out of memory", async () => {
    const outage = createOutage(
      "Redis out of memory",
      () => command("CONFIG", "SET", "maxmemory", "100kb"),
      () => command("CONFIG", "SET", "maxmemory", "0"),
    );
    expect(await runScenario(faults, outage)).toEqual([]);
  });

  it("forgets its scripts", async () => {
    const scenario = createOutage(
      "Redis scripts flushed",
      async () => undefined,
      async () => undefined,
      async ({ answered }) => {
        for (let count = 0; count < 20; count += 1) {
          await command("SCRIPT", "FLUSH");
          await answered(1);
        }
      },
    );
    expect(await runScenario(faults, { ...scenario, isGrace: false, repeatsCharges: true })).toEqual([]);
  });

  it("stands still with its connections open", async () => {
    const outage = createOutage(
      "Redis frozen",
      async () => faults.redis.freeze(),
      async () => faults.redis.thaw(),
    );
    expect(await runScenario(faults, outage)).toEqual([]);
  });
});

describe("the request log", () => {
  it("adds up to what Redis says after all that, request by request", async () => {
    const month = new Date(await faults.store.timeMs()).toISOString().slice(0, 7);
    // The last lines wait a moment to be written together.
    const logged = await waitFor("the last lines", async () => {
      const read = await readLoggedUsage(join(faults.stack.dir, "data/requests"), month);
      const { differences } = await verifyUsage(faults.store, month, read);
      return differences.length === 0 && read;
    });
    expect(logged.requests).toBeGreaterThan(100);
    expect(logged.damagedLines).toBe(0);
  });

  it("brings back what a Redis that was restored from an older snapshot has lost, once", async () => {
    const { store, redis } = faults;
    const month = new Date(await store.timeMs()).toISOString().slice(0, 7);
    const dir = join(faults.stack.dir, "data/requests");
    const nowMs = await store.timeMs();
    const rebuild = () => rebuildUsage(store, logged, () => readLateCharges(dir, month, nowMs));
    const logged = await readLoggedUsage(dir, month);
    const before = await verifyUsage(store, month, logged);
    const [organizationId] = [...logged.rows.keys()];
    const keys = (await redis.command("KEYS", `igw:{${organizationId}}:[su]*`)) as string[];
    await redis.command("DEL", ...keys.filter((key) => /:(?:spend|usage):/.test(key)));
    const damaged = await verifyUsage(store, month, logged);
    expect(damaged.differences.map(({ kind }) => kind)).toContain("missing_in_redis");
    // Admissions that were not answered are in flight until they are overdue.
    const isQuiet = async () => {
      const counts = await Promise.all(
        [...logged.rows.keys()].map((id) => redis.command("ZCARD", openRequestsKey(id))),
      );
      return counts.every((count) => count === 0);
    };
    await lendMachine(async () => {
      await waitFor("nothing to be in flight", isQuiet, { timeoutMs: REAPED_WITHIN_MS });
    });
    expect(await rebuild()).toMatchObject({
      addedMicrocents: before.spentMicrocents - damaged.spentMicrocents,
      inFlight: [],
    });
    expect(await verifyUsage(store, month, logged)).toEqual(before);
    expect((await rebuild()).raisedRows).toBe(0);
  });
});

it("nothing of it changes when the gateway is stopped, its usage verified and rebuilt, and it starts again", async () => {
  expect(await restartStack(faults, { isLogShort: false })).toEqual([]);
});

async function waitForBuckets(keys: readonly CreatedKey[]): Promise<void> {
  const buckets = keys.map(({ organizationId, id }) => requestBucketKey(organizationId, id));
  await waitFor("the admissions", async () => (await command("EXISTS", ...buckets)) === keys.length);
}
