/**
 * What `WAIT 1` behind each final charge would add: how long one takes until it is acknowledged, on a master that has a
 * replica on the same machine, with the charges of some callers on one connection, as a worker has it.
 *
 *   npx tsx test/bench/replica-wait.ts [--requests 4000]
 */
import { parseArgs } from "node:util";
import { createRedisClient, waitUntilReady } from "../../src/data-path/store/redis/client.ts";
import { createStore } from "../../src/data-path/store/redis-store.ts";
import type { Store } from "../../src/shared/stored/store.ts";
import type { ChargeInput } from "../../src/shared/stored/settlement.ts";
import { chargeInput, createIdentity, createTestKey, FINAL } from "../store/fixture.ts";
import { startRedisWithSentinels } from "../support/redis-sentinel.ts";

const { values } = parseArgs({ options: { requests: { type: "string", default: "4000" } } });
const requests = Number(values.requests);
const CALLERS = [1, 16];
/** Of the replica's answer, milliseconds. */
const WAIT_MS = "1000";

const redis = await startRedisWithSentinels();
const url = `redis://127.0.0.1:${redis.master.port}`;
const client = createRedisClient({ url, commandTimeoutMs: 20_000, onError: (error) => console.error(error) });
try {
  await waitUntilReady(client, 10_000);
  await run(createStore({ client, usageMonths: 13 }));
} finally {
  client.disconnect();
  await redis.stop();
}

type Charge = (input: ChargeInput) => Promise<unknown>;

async function run(store: Store): Promise<void> {
  const charge: Charge = (input) => store.charge(input);
  const chargeAndWait: Charge = (input) => Promise.all([charge(input), client.call("WAIT", "1", WAIT_MS)]);
  // Not counted: code that is not optimized yet.
  await measure(store, charge, 1);
  console.log("| callers | final charge | ms, median | ms, 99 % | a second |");
  console.log("|---:|---|---:|---:|---:|");
  for (const callers of CALLERS) {
    console.log(`| ${callers} | as it is | ${await measure(store, charge, callers)} |`);
    console.log(`| ${callers} | and \`WAIT 1\` | ${await measure(store, chargeAndWait, callers)} |`);
  }
}

async function measure(store: Store, charge: Charge, callers: number): Promise<string> {
  const key = await createTestKey(store);
  const inputs: ChargeInput[] = [];
  for (let made = 0; made < requests; made += 1) {
    const identity = await createIdentity(store, key);
    inputs.push(chargeInput(identity, 1, 102n, { final: FINAL }));
  }
  const tookMs: number[] = [];
  const startedMs = performance.now();
  const waiting = inputs.values();
  const call = async (): Promise<void> => {
    for (const input of waiting) {
      const sentMs = performance.now();
      await charge(input);
      tookMs.push(performance.now() - sentMs);
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
  const perSecond = Math.round((requests * 1000) / (performance.now() - startedMs));
  tookMs.sort((one, other) => one - other);
  const at = (share: number): string => (tookMs[Math.floor(share * tookMs.length)] ?? 0).toFixed(2);
  return `${at(0.5)} | ${at(0.99)} | ${perSecond}`;
}
