/**
 * Whether users get slower with their number: an organization with ten, a thousand, ten thousand and a hundred thousand
 * users, each with a key, a week's cap of its own and a counter that moves; the same admissions, charges, lists and
 * searches in each, on a private Redis.
 *
 *   npx tsx test/bench/many-users.ts [--users 10,1000,10000,100000] [--calls 4000]
 */
import { createHash } from "node:crypto";
import { parseArgs } from "node:util";
import { Redis } from "ioredis";
import { KEY_SETTINGS } from "../../src/shared/settings/key.ts";
import { ORGANIZATION_SETTINGS } from "../../src/shared/settings/organization.ts";
import { defaultsOf } from "../../src/shared/settings/table.ts";
import { USER_SETTINGS } from "../../src/shared/settings/user.ts";
import { createId } from "../../src/data-path/store/ids.ts";
import { createRedisClient, waitUntilReady } from "../../src/data-path/store/redis/client.ts";
import { createStore } from "../../src/data-path/store/redis-store.ts";
import { formatOwnerIds } from "../../src/shared/stored/owner-ids.ts";
import type { Store } from "../../src/shared/stored/store.ts";
import { startRedis } from "../support/redis.ts";
import { NO_TOKENS } from "../../src/shared/usage/token-usage.ts";

const ROUTE = "POST /v1/chat/completions";
const WEEK = [{ period: "week", kind: "cap", cents: 9_000_000_000 }] as const;
const AT_ONCE = 100;
const PAGE = { limit: 20, after: null };

const { values } = parseArgs({
  options: {
    users: { type: "string", default: "10,1000,10000,100000" },
    calls: { type: "string", default: "4000" },
  },
});
const calls = Number(values.calls);

const server = await startRedis();
const redis = new Redis(new URL(server.url).pathname, { protocol: 2 });
const client = createRedisClient({
  url: server.url,
  commandTimeoutMs: 20_000,
  onError: (error) => console.error(String(error)),
});
try {
  await waitUntilReady(client, 10_000);
  const store = createStore({ client, usageMonths: 13 });
  console.log("| users | admission | charge | a page of 20 | search | MiB of Redis |");
  console.log("|---|---|---|---|---|---|");
  for (const count of values.users.split(",").map(Number)) {
    await redis.flushall();
    console.log(await measureUsers(store, count));
  }
} finally {
  client.disconnect();
  redis.disconnect();
  await server.stop();
}

interface BenchUser {
  readonly organizationId: string;
  readonly keyId: string;
  readonly presentedHash: string;
  readonly owners: string;
}

async function measureUsers(store: Store, count: number): Promise<string> {
  const settings = { ...defaultsOf(ORGANIZATION_SETTINGS), name: `Bench ${count}`, currency: "USD" };
  const made = await store.createOrganization(settings);
  if (made.outcome !== "created") throw new Error(`the name is that of ${made.holder.id}`);
  const organizationId = made.organization.id;
  const users: BenchUser[] = [];
  for (let from = 0; from < count; from += AT_ONCE) {
    const numbers = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, index) => from + index);
    users.push(...(await Promise.all(numbers.map((number) => createUser(store, organizationId, number)))));
  }
  // Every counter is there: as large as the week's hash gets.
  for (let from = 0; from < count; from += AT_ONCE) {
    await Promise.all(users.slice(from, from + AT_ONCE).map((user) => charge(store, user)));
  }
  const drawn = Array.from({ length: calls }, () => users[Math.floor(Math.random() * count)] as BenchUser);
  const admission = await measure(drawn, (user) => admit(store, user));
  const charged = await measure(drawn, (user) => charge(store, user));
  const lists = drawn.slice(0, 500);
  const none = { search: null, groupId: null };
  const list = await measure(lists, () => store.listUsers(organizationId, none, PAGE));
  const search = await measure(lists, () =>
    store.listUsers(
      organizationId,
      { search: `person.${Math.floor(Math.random() * count)}@`, groupId: null },
      PAGE,
    ),
  );
  const bytes = Number(/used_memory:(\d+)/u.exec(await redis.info("memory"))?.[1]);
  const cells = [admission, charged, list, search].map((us) => `${us.toFixed(0)} µs`);
  return `| ${count.toLocaleString("en")} | ${cells.join(" | ")} | ${(bytes / 1024 ** 2).toFixed(0)} |`;
}

async function createUser(store: Store, organizationId: string, number: number): Promise<BenchUser> {
  const user = await store.createUser(organizationId, {
    ...defaultsOf(USER_SETTINGS),
    name: `User ${number}`,
    email: `person.${number}@example.com`,
    limits: WEEK,
  });
  if (user.outcome !== "created") throw new Error(user.outcome);
  const userId = user.owner.id;
  const presentedHash = createHash("sha256").update(userId).digest("hex");
  const settings = { ...defaultsOf(KEY_SETTINGS), name: "bench", requestsPerMinute: 1_000_000, userId };
  const key = await store.createKey(organizationId, settings, { hash: presentedHash, display: "sk-…" });
  if (key === null) throw new Error("the key was not created");
  return { organizationId, keyId: key.id, presentedHash, owners: formatOwnerIds({ userId, groupId: null }) };
}

async function admit(store: Store, { owners: _owners, ...key }: BenchUser): Promise<void> {
  const requestId = createId("req", Date.now());
  const { decision } = await store.admit({
    ...key,
    requestId,
    route: ROUTE,
    bucket: "requests",
    metered: true,
    promptTokens: 0,
  });
  if (decision !== "admitted") throw new Error(decision);
}

async function charge(store: Store, { organizationId, keyId, owners }: BenchUser): Promise<void> {
  const day = new Date().toISOString().slice(0, 10);
  const requestId = createId("req", Date.now());
  await store.charge({
    organizationId,
    keyId,
    owners,
    requestId,
    day,
    month: day.slice(0, 7),
    model: "bench/mock",
    route: ROUTE,
    totalMicrocents: 54_321n,
    sequence: 1,
    requests: 1,
    tokens: { ...NO_TOKENS, inputTokens: 200, cachedInputTokens: 50, outputTokens: 120 },
    estimated: false,
    estimate: null,
    isSingleCharge: true,
    final: { status: 200, errorCode: null, checks: [] },
  });
}

/** Microseconds of Redis's main thread for each, one after the other. */
async function measure<Item>(
  items: readonly Item[],
  send: (item: Item) => Promise<unknown>,
): Promise<number> {
  const before = await readRedisCpuUs();
  for (const item of items) await send(item);
  return ((await readRedisCpuUs()) - before) / items.length;
}

async function readRedisCpuUs(): Promise<number> {
  const stats = await redis.info("cpu");
  const read = (name: string): number => Number(new RegExp(`${name}:([\\d.]+)`, "u").exec(stats)?.[1]);
  return 1_000_000 * (read("used_cpu_user_main_thread") + read("used_cpu_sys_main_thread"));
}
