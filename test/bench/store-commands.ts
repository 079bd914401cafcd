/**
 * What the commands of one request cost: CPU time in Redis and in the process that sends them, on a private Redis, with
 * the record, caps and price of a usual request. The commands run one kind after the other.
 *
 *   npx tsx test/bench/store-commands.ts [--requests 20000] [--callers 16]
 *
 * With `--limits` what a request costs Redis by whose limits it meets, admission and charge together, one caller after the
 * other so that no two share a command: the least of so many rounds, in each of which every kind has its turn.
 *
 *   npx tsx test/bench/store-commands.ts --limits [--requests 4000] [--rounds 9]
 */
import { createHash } from "node:crypto";
import { parseArgs } from "node:util";
import { Redis } from "ioredis";
import { KEY_SETTINGS, type KeySettings } from "../../src/shared/settings/key.ts";
import type { Limit } from "../../src/shared/settings/limits.ts";
import { ORGANIZATION_SETTINGS, type OrganizationSettings } from "../../src/shared/settings/organization.ts";
import { defaultsOf } from "../../src/shared/settings/table.ts";
import { USER_GROUP_SETTINGS } from "../../src/shared/settings/user-group.ts";
import { createId } from "../../src/data-path/store/ids.ts";
import { createRedisClient, waitUntilReady } from "../../src/data-path/store/redis/client.ts";
import { createStore } from "../../src/data-path/store/redis-store.ts";
import type { Store } from "../../src/shared/stored/store.ts";
import { formatOwnerIds } from "../../src/shared/stored/owner-ids.ts";
import type { ChargeInput, RequestIdentity } from "../../src/shared/stored/settlement.ts";
import type { TakenTokens, UsedTokens } from "../../src/shared/stored/token-rate.ts";
import { startRedis } from "../support/redis.ts";
import { NO_TOKENS } from "../../src/shared/usage/token-usage.ts";
import { monthLimits } from "../support/month-limits.ts";

const ROUTE = "POST /v1/chat/completions";
const MODEL = "bench/mock";
/** Caps and budgets that are compared on every request and never reached. */
const FAR = { limits: monthLimits({ cap: 9_000_000_000, budget: 9_000_000_000 }) };
const PRICE = {
  name: "price",
  passed: true,
  figures: { currency: "USD", input_microcents_per_million: "2000", output_microcents_per_million: "8000" },
};

const USED = { input: 250, output: 120 };
/** What its head tells of its prompt. */
const PROMPT_TOKENS = 200;

/** Far enough for no alert. */
const DAY_AND_WEEK: readonly Limit[] = [
  { period: "day", kind: "cap", cents: 9_000_000_000 },
  { period: "week", kind: "cap", cents: 9_000_000_000 },
];

const FAR_TOKENS = { tokensPerMinute: 1_000_000_000 };

const LIMITS: Readonly<Record<string, LimitsSet>> = {
  "month caps alone": {},
  "the same in a group without limits": { group: { limits: [] } },
  "a day and a week on key and group": { key: { limits: DAY_AND_WEEK }, group: { limits: DAY_AND_WEEK } },
  "tokens per minute on the key": { key: FAR_TOKENS },
  "tokens per minute on the organization": { organization: FAR_TOKENS },
  "tokens per minute on key and organization": { key: FAR_TOKENS, organization: FAR_TOKENS },
};

const { values } = parseArgs({
  options: {
    requests: { type: "string" },
    callers: { type: "string" },
    rounds: { type: "string", default: "9" },
    limits: { type: "boolean", default: false },
  },
});
const requests = Number(values.requests ?? (values.limits ? 4_000 : 20_000));
const callers = Number(values.callers ?? (values.limits ? 1 : 16));

const server = await startRedis();
const redis = new Redis(new URL(server.url).pathname, { protocol: 2 });
const client = createRedisClient({ url: server.url, onError: (error) => console.error(String(error)) });
try {
  await waitUntilReady(client, 10_000);
  const store = createStore({ client, usageMonths: 13 });
  await (values.limits ? runByLimits(store) : run(store));
} finally {
  client.disconnect();
  redis.disconnect();
  await server.stop();
}

async function run(store: Store): Promise<void> {
  const id = await createOrganization(store, "Bench");
  const [key, refusedKey] = [await createKey(store, id, 1_000_000), await createKey(store, id, 1)];
  const identify = () => Array.from({ length: requests }, () => createIdentity(id, key.keyId));
  const [opened, brief] = [identify(), identify()];
  const admit = (caller: typeof key) => (identity: RequestIdentity) =>
    store.admit({
      ...caller,
      requestId: identity.requestId,
      route: ROUTE,
      bucket: "requests",
      metered: true,
      promptTokens: 0,
    });
  // Not counted: code that is not optimized yet.
  await measure(opened, admit(key));
  console.log("| command | µs of Redis's CPU | µs of the caller's CPU |");
  console.log("|---|---|---|");
  const print = async (
    name: string,
    send: (identity: RequestIdentity) => Promise<unknown>,
    identities = opened,
  ) => {
    const { redisUs, callerUs } = await measure(identities, send);
    console.log(`| ${name} | ${redisUs.toFixed(1)} | ${callerUs.toFixed(1)} |`);
  };
  await print("admission", admit(key), brief);
  await print("admission, refused by the bucket", admit(refusedKey));
  await print("open record", (identity) => openRecord(store, identity));
  await print("final charge of a request with a record", (identity) => store.charge(finalCharge(identity)));
  await print(
    "final charge of a brief request",
    (identity) => store.charge({ ...finalCharge(identity), isSingleCharge: true }),
    brief,
  );
}

/** What key, organization and group of a kind of request have set beside their month's caps and budgets. */
interface LimitsSet {
  readonly key?: Partial<KeySettings>;
  readonly organization?: Partial<OrganizationSettings>;
  /** Left out: it belongs to no group. */
  readonly group?: { readonly limits: readonly Limit[] };
  readonly session?: string;
}

/** Kind → the key of a request, whose it is, and what its admission and its charge have cost Redis in each round. */
interface LimitsKind {
  readonly name: string;
  readonly session: string | undefined;
  readonly key: Awaited<ReturnType<typeof createKey>>;
  readonly owners: string;
  readonly admissionsUs: number[];
  readonly chargesUs: number[];
}

async function runByLimits(store: Store): Promise<void> {
  const kinds: LimitsKind[] = [];
  for (const [name, set] of Object.entries(LIMITS)) kinds.push(await createKind(store, name, set));
  for (let round = 0; round <= Number(values.rounds); round += 1) {
    for (const kind of kinds) {
      const { key, owners, session } = kind;
      const identities = Array.from({ length: requests }, () => ({
        ...createIdentity(key.organizationId, key.keyId),
        ...(owners === "" ? {} : { owners }),
        ...(session === undefined ? {} : { session }),
      }));
      const taken = new Map<string, TakenTokens | null>();
      const admitted = await measure(identities, async ({ requestId }) => {
        const result = await store.admit({
          requestId,
          route: ROUTE,
          bucket: "requests",
          metered: true,
          promptTokens: PROMPT_TOKENS,
          ...key,
        });
        if (result.decision !== "admitted") throw new Error(`the admission says ${result.decision}`);
        taken.set(requestId, result.takenTokens);
      });
      const charged = await measure(identities, (identity) =>
        store.charge({
          ...finalCharge(identity),
          isSingleCharge: true,
          usedTokens: usedTokens(taken.get(identity.requestId)),
        }),
      );
      // The first is not counted: code that is not optimized yet.
      if (round === 0) continue;
      kind.admissionsUs.push(admitted.redisUs);
      kind.chargesUs.push(charged.redisUs);
    }
  }
  console.log("| limits | µs of Redis: admission | charge | both |");
  console.log("|---|---|---|---|");
  for (const { name, admissionsUs, chargesUs } of kinds) {
    const [admission, charge] = [Math.min(...admissionsUs), Math.min(...chargesUs)];
    const cells = [admission, charge, admission + charge].map((us) => us.toFixed(1));
    console.log(`| ${name} | ${cells.join(" | ")} |`);
  }
}

async function createKind(store: Store, name: string, set: LimitsSet): Promise<LimitsKind> {
  const organizationId = await createOrganization(store, name, set.organization);
  const settings = { ...defaultsOf(USER_GROUP_SETTINGS), name: "Team", ...set.group };
  const group = set.group === undefined ? null : await store.createGroup(organizationId, settings);
  const groupId = group?.outcome === "created" ? group.owner.id : null;
  const key = await createKey(store, organizationId, 1_000_000, { ...set.key, groupId });
  const owners = formatOwnerIds({ userId: null, groupId });
  return { name, key, owners, session: set.session, admissionsUs: [], chargesUs: [] };
}

async function createOrganization(
  store: Store,
  name: string,
  more: Partial<OrganizationSettings> = {},
): Promise<string> {
  const settings = { ...defaultsOf(ORGANIZATION_SETTINGS), name, currency: "USD", ...FAR, ...more };
  const made = await store.createOrganization(settings);
  if (made.outcome !== "created") throw new Error(`the name is that of ${made.holder.id}`);
  return made.organization.id;
}

async function createKey(
  store: Store,
  organizationId: string,
  requestsPerMinute: number,
  more: Partial<KeySettings> = {},
) {
  const presentedHash = createHash("sha256").update(`${organizationId} ${requestsPerMinute}`).digest("hex");
  const settings = { ...defaultsOf(KEY_SETTINGS), name: "bench", requestsPerMinute, ...FAR, ...more };
  const record = await store.createKey(organizationId, settings, { hash: presentedHash, display: "sk-…" });
  if (record === null) throw new Error("the key was not created");
  return { organizationId, keyId: record.id, presentedHash };
}

function createIdentity(organizationId: string, keyId: string): RequestIdentity {
  const day = new Date().toISOString().slice(0, 10);
  const requestId = createId("req", Date.now());
  return { organizationId, keyId, requestId, month: day.slice(0, 7), day, model: MODEL, route: ROUTE };
}

function openRecord(store: Store, identity: RequestIdentity): Promise<unknown> {
  const floor = { floorMicrocents: 12_345n, floorInputTokens: 250 };
  return store.openRecord({ ...identity, worstCaseMicrocents: null, ...floor, price: PRICE });
}

function usedTokens(taken: TakenTokens | null = null): UsedTokens | undefined {
  return taken === null ? undefined : { ...taken, ...USED };
}

function finalCharge(identity: RequestIdentity): ChargeInput {
  return {
    ...identity,
    totalMicrocents: 54_321n,
    sequence: 1,
    tokens: { ...NO_TOKENS, inputTokens: 200, cachedInputTokens: 50, outputTokens: 120 },
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
