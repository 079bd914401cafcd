/**
 * What the commands of one request cost: CPU time in Redis and in the process that sends them, on a private Redis, with
 * the record, caps and price of a usual request. The commands run one kind after the other.
 *
 *   npx tsx test/bench/store-commands.ts [--requests 20000] [--callers 16]
 */
import { parseArgs } from "node:util";
import { Redis } from "ioredis";
import { KEY_SETTINGS } from "../../src/settings/key.ts";
import { ORGANIZATION_SETTINGS } from "../../src/settings/organization.ts";
import { defaultsOf } from "../../src/settings/table.ts";
import { createId } from "../../src/store/ids.ts";
import { createRedisClient, waitUntilReady } from "../../src/store/redis/client.ts";
import { createStore } from "../../src/store/redis-store.ts";
import type { Store } from "../../src/store/types.ts";
import type { ChargeInput, RequestIdentity } from "../../src/store/types/settlement.ts";
import { startRedis } from "../support/redis.ts";

const ROUTE = "POST /v1/chat/completions";
const MODEL = "bench/mock";
/** Caps and budgets that are compared on every request and never reached. */
const FAR = { hardCapCents: 9_000_000_000, budgetCents: 9_000_000_000 };
const PRICE = {
  name: "price",
  passed: true,
  figures: { currency: "USD", input_microcents_per_million: "2000", output_microcents_per_million: "8000" },
};

const { values } = parseArgs({
  options: { requests: { type: "string", default: "20000" }, callers: { type: "string", default: "16" } },
});
const requests = Number(values.requests);
const callers = Number(values.callers);

const server = await startRedis();
const redis = new Redis(new URL(server.url).pathname, { protocol: 2 });
const client = createRedisClient({ url: server.url, onError: (error) => console.error(String(error)) });
try {
  await waitUntilReady(client, 10_000);
  await run(createStore({ client, usageMonths: 13 }));
} finally {
  client.disconnect();
  redis.disconnect();
  await server.stop();
}

async function run(store: Store): Promise<void> {
  const made = await store.createOrganization({
    ...defaultsOf(ORGANIZATION_SETTINGS),
    name: "Bench",
    currency: "USD",
    ...FAR,
  });
  if (made.outcome !== "created") throw new Error(`the name is that of ${made.holder.id}`);
  const { id } = made.organization;
  const [key, refusedKey] = [await createKey(store, id, 1_000_000), await createKey(store, id, 1)];
  const identify = () => Array.from({ length: requests }, () => createIdentity(id, key.keyId));
  const [held, brief] = [identify(), identify()];
  const admit = (caller: typeof key) => (identity: RequestIdentity) =>
    store.admit({
      ...caller,
      requestId: identity.requestId,
      route: ROUTE,
      bucket: "requests",
      metered: true,
    });
  // Not counted: code that is not optimized yet.
  await measure(held, admit(key));
  console.log("| command | µs of Redis's CPU | µs of the caller's CPU |");
  console.log("|---|---|---|");
  const print = async (
    name: string,
    send: (identity: RequestIdentity) => Promise<unknown>,
    identities = held,
  ) => {
    const { redisUs, callerUs } = await measure(identities, send);
    console.log(`| ${name} | ${redisUs.toFixed(1)} | ${callerUs.toFixed(1)} |`);
  };
  await print("admission", admit(key), brief);
  await print("admission, refused by the bucket", admit(refusedKey));
  await print("hold", (identity) => placeHold(store, identity));
  await print("final charge of a request with a hold", (identity) => store.charge(finalCharge(identity)));
  await print(
    "final charge of a brief request",
    (identity) => store.charge({ ...finalCharge(identity), isBrief: true }),
    brief,
  );
}

async function createKey(store: Store, organizationId: string, requestsPerMinute: number) {
  const presentedHash = String(requestsPerMinute).padStart(64, "a");
  const settings = { ...defaultsOf(KEY_SETTINGS), name: "bench", requestsPerMinute, ...FAR };
  const record = await store.createKey(organizationId, settings, { hash: presentedHash, display: "sk-…" });
  if (record === null) throw new Error("the key was not created");
  return { organizationId, keyId: record.id, presentedHash };
}

function createIdentity(organizationId: string, keyId: string): RequestIdentity {
  const day = new Date().toISOString().slice(0, 10);
  const requestId = createId("req", Date.now());
  return { organizationId, keyId, requestId, month: day.slice(0, 7), day, model: MODEL, route: ROUTE };
}

function placeHold(store: Store, identity: RequestIdentity): Promise<unknown> {
  const floor = { floorMicrocents: 12_345n, floorInputTokens: 250 };
  return store.hold({ ...identity, worstCaseMicrocents: null, ...floor, price: PRICE });
}

function finalCharge(identity: RequestIdentity): ChargeInput {
  return {
    ...identity,
    totalMicrocents: 54_321n,
    sequence: 1,
    tokens: { input: 200, cachedInput: 50, output: 120, reasoning: 0 },
    requests: 1,
    estimated: false,
    estimate: null,
    final: { status: 200, errorCode: null, checks: [PRICE] },
  };
}

async function measure(
  identities: readonly RequestIdentity[],
  send: (identity: RequestIdentity) => Promise<unknown>,
): Promise<{ redisUs: number; callerUs: number }> {
  const [redisBefore, callerBefore] = [await readRedisCpuUs(), process.cpuUsage()];
  const waiting = identities.values();
  const call = async (): Promise<void> => {
    for (const identity of waiting) await send(identity);
  };
  await Promise.all(Array.from({ length: callers }, call));
  const { user, system } = process.cpuUsage(callerBefore);
  const redisUs = (await readRedisCpuUs()) - redisBefore;
  return { redisUs: redisUs / identities.length, callerUs: (user + system) / identities.length };
}

async function readRedisCpuUs(): Promise<number> {
  const stats = await redis.info("cpu");
  const read = (name: string): number => Number(new RegExp(`${name}:([\\d.]+)`, "u").exec(stats)?.[1]);
  return 1_000_000 * (read("used_cpu_user_main_thread") + read("used_cpu_sys_main_thread"));
}
