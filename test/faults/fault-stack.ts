/** What a fault scenario runs on: Envoy, a gateway of two workers, a Redis that can be broken, a counting upstream. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  createRedisClient,
  type RedisAddress,
  type RedisClient,
  waitUntilReady,
} from "../../src/data-path/store/redis/client.ts";
import { openRequestsKey, spendKey } from "../../src/data-path/store/redis/keys.ts";
import { createStore } from "../../src/data-path/store/redis-store.ts";
import type { Store } from "../../src/shared/stored/store.ts";
import { windowName } from "../../src/data-path/store/usage/windows.ts";
import { internalWait } from "../../src/shared/time/internal-waits.ts";
import { type Child, startChild } from "../support/child.ts";
import { catalogEntry } from "../support/gateway-config.ts";
import { timeOfId } from "../../src/data-path/store/ids.ts";
import { listProcesses } from "../support/gateway-processes.ts";
import { startStack, type Stack } from "../support/stack.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { waitFor } from "../support/wait.ts";
import { type CountingUpstream, startCountingUpstream } from "./counting-upstream.ts";
import { type FaultRedis, type FaultRedisOptions, startFaultRedis } from "./fault-redis.ts";
import { createTenant, planTenants, type TenantPlan, type Tenants } from "./fault-tenants.ts";
import { leaveMachine, takeMachine } from "./machine.ts";
import { readSeeds } from "./seeded-draw.ts";

/** A prompt token costs a cent and a generated one two, so that caps are some dozens of requests. */
export const MODEL = "acme/counted";
export const PROMPT_MICROCENTS = 1_000_000n;
export const OUTPUT_MICROCENTS = 2_000_000n;
export const WORKERS = 2;
/**
 * The upstream serves `flex` and says half of each prompt to be from the cache and half to be written to it, a part of
 * that for an hour: at these prices a prompt token comes to a cent only where tier, size and every part are right. What
 * is estimated, when nothing was told, gets the default tier's plain prices, which come to the same.
 */
const PRICES = {
  USD: {
    input: "90000",
    output: "90000",
    tiers: [
      {
        above_prompt_tokens: 10,
        input: "10000",
        cached_input: "1000",
        cache_write: "5000",
        output: "20000",
      },
    ],
    service_tiers: {
      flex: {
        input: "30000",
        output: "30000",
        tiers: [
          {
            above_prompt_tokens: 10,
            input: "10000",
            cached_input: "5000",
            cache_write: "15000",
            cache_write_1h: "17500",
            output: "20000",
          },
        ],
      },
    },
  },
};

/** What `gateway.yaml` says of a counting upstream. */
export function configureCounted(url: string) {
  return {
    upstreams: [{ name: "counted", url, path_prefix: "/v1", protocols: ["chat", "messages"] }],
    catalog: [catalogEntry({ id: MODEL, upstream: "counted", prices: PRICES })],
  };
}

/** A Redis of some kind, as the gateway and the test reach it. */
export interface FaultServer {
  readonly address: RedisAddress;
  /** `redis` in gateway.yaml. */
  readonly settings: object;
  /** Whether an organization's keys are where the fault will be; everywhere when left out. */
  isAffected?(organizationId: string): Promise<boolean>;
  stop(): Promise<void>;
}

export interface FaultStack extends FaultStackOn {
  readonly redis: FaultRedis;
}

type OfOrganization = Pick<CreatedKey, "organizationId">;

/** A scenario's keys, once everything of it was settled and the request log put in. */
export interface SettledTenant {
  readonly organizationId: string;
  readonly microcents: bigint;
}

export interface FaultStackOn {
  readonly stack: Stack;
  /** The command that runs the stack now. */
  child: Child;
  /** Of what has run on it so far. */
  readonly settled: SettledTenant[];
  readonly upstream: CountingUpstream;
  readonly store: Store;
  /**
   * Three organizations with a key each: without a cap that is near, with one, with a strict one.
   * @param turn Says of which kinds these are; the next one of this stack when left out.
   */
  createTenants(capCents: number, turn?: number): Promise<Tenants>;
  /** Waits until nothing of these keys is in flight or in the spool. */
  waitUntilSettled(keys: readonly CreatedKey[], timeoutMs: number): Promise<void>;
  /** Whether Redis has no entry of theirs any more, of a request that never went upstream neither. */
  hasLeft(owners: readonly OfOrganization[]): Promise<boolean>;
  /** Waits for it, for as long as the reaper takes. */
  waitUntilLeft(owners: readonly OfOrganization[]): Promise<void>;
  /** What strict caps hold in any window of an organization, "<window> <field> <microcents>" each. */
  readHeld(organizationId: string): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/** Has the machine from here until the stack is stopped: see machine.ts. */
export async function startFaultStack(
  overrides: object = {},
  redisOptions: FaultRedisOptions = {},
): Promise<FaultStack> {
  await takeMachine();
  const redis = await startFaultRedis(redisOptions);
  const { url } = redis;
  const server = { address: { url }, settings: { url }, stop: () => redis.stop() };
  return Object.assign(await startFaultStackOn(server, overrides), { redis });
}

/** The same on any Redis, which is stopped with it. */
export async function startFaultStackOn(server: FaultServer, overrides: object = {}): Promise<FaultStackOn> {
  await takeMachine();
  const upstream = await startCountingUpstream();
  const stop = async (): Promise<void> => {
    await upstream.close();
    await server.stop();
  };
  const stack = await startStack({
    ...configureCounted(upstream.url),
    workers: WORKERS,
    overrides: { redis: server.settings, ...overrides },
    isLauncherOwnProcess: true,
  }).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  let client: RedisClient | null = null;
  try {
    client = createRedisClient({ ...server.address, commandTimeoutMs: 10_000, onError: () => undefined });
    await waitUntilReady(client, 10_000);
  } catch (error) {
    client?.disconnect();
    await stack.stop();
    await stop();
    throw error;
  }
  const connected = client;
  const store = createStore({ client: connected, usageMonths: 13 });
  // The workers may be back at a Redis that was away while this connection still waits for its next attempt.
  const reconnect = () => waitUntilReady(connected, 10_000);
  const create = async (plan: TenantPlan): Promise<CreatedKey> => {
    await reconnect();
    for (;;) {
      const key = await createTenant(store, plan);
      if ((await server.isAffected?.(key.organizationId)) !== false) return key;
    }
  };
  const hasLeft = async (owners: readonly OfOrganization[]): Promise<boolean> => {
    await reconnect();
    const counts = owners.map(({ organizationId }) => connected.zcard(openRequestsKey(organizationId)));
    return (await Promise.all(counts)).every((count) => count === 0);
  };
  // Another seed has each fault meet other kinds.
  let nextTurn = (readSeeds()[0] ?? 1) - 1;
  const faultStack: FaultStackOn = {
    stack,
    child: stack.child,
    settled: [],
    upstream,
    store,
    createTenants: async (capCents, turn = nextTurn++) => {
      const { open, capped, strict } = planTenants(capCents, turn);
      return { open: await create(open), capped: await create(capped), strict: await create(strict) };
    },
    waitUntilSettled: (keys, timeoutMs) =>
      waitFor(
        "everything to be settled",
        async () => {
          if (listSpoolFiles(stack).length > 0) return false;
          if (hasJournalOfTheDead(stack)) return false;
          const sent = new Set([...upstream.accounts.values()].map(({ requestId }) => requestId));
          for (const { organizationId } of keys) {
            const inFlight = await countInFlight(connected, organizationId, sent);
            if (inFlight > 0) return false;
          }
          return true;
        },
        { timeoutMs, intervalMs: 100 },
      ).then(() => undefined),
    hasLeft,
    async waitUntilLeft(owners) {
      await waitFor("no entry to be left", () => hasLeft(owners), {
        timeoutMs: REAPED_WITHIN_MS,
        intervalMs: 500,
      });
    },
    readHeld: (organizationId) => readHeld(connected, store, organizationId),
    async stop() {
      connected.disconnect();
      await faultStack.child.stop();
      await stack.stop();
      await stop();
      leaveMachine();
    },
  };
  return faultStack;
}

async function readHeld(
  client: RedisClient,
  store: Store,
  organizationId: string,
): Promise<readonly string[]> {
  const { month } = await store.readSpend(organizationId, null);
  const { windows } = await store.listWindows(organizationId, month);
  const names = windows.map(({ period, start }) => windowName(period, start ?? `${month}-01`));
  const held = await Promise.all(
    [...new Set([month, ...names])].map(async (name) => {
      const fields = Object.entries(await client.hgetall(spendKey(organizationId, name)));
      return fields.flatMap(([field, amount]) =>
        field.startsWith("held:") && amount !== "0" ? [`${name} ${field} ${amount}`] : [],
      );
    }),
  );
  return held.flat();
}

/**
 * By the second tick of its worker a request that went upstream has a record. What has none then never went: its client
 * left before its body was there, or its admission was not answered in time, which may be executed behind the final charge
 * that went through another worker. Redis drops both when they are overdue.
 */
const RECORDED_AFTER_MS = 8_000;
/** Of one that the upstream has not seen: its client has ended, so that nothing of it is on its way. */
const NEVER_SENT_AFTER_MS = 3_000;
/**
 * The longest that anything of a dead worker is in flight: an entry's minute, or a record's 30 s; the reaper's pause after
 * an outage, its delay with strict caps, and its interval, twice; and what a slow machine takes.
 */
export const REAPED_WITHIN_MS = internalWait(130_000) + 30_000;

/** Of an organization; as if there were one while Redis is not back yet. */
async function countInFlight(
  client: RedisClient,
  organizationId: string,
  sent: ReadonlySet<string>,
): Promise<number> {
  try {
    const [seconds] = await client.time();
    const nowMs = Number(seconds) * 1000;
    const entered = await client.zrange(openRequestsKey(organizationId), "0", "-1");
    const isInFlight = async (id: string): Promise<boolean> =>
      nowMs - (timeOfId(id) ?? 0) < (sent.has(id) ? RECORDED_AFTER_MS : NEVER_SENT_AFTER_MS) ||
      (await client.hget(`igw:{${organizationId}}:request:${id}`, "state")) === "open";
    return (await Promise.all(entered.map(isInFlight))).filter(Boolean).length;
  } catch {
    return 1;
  }
}

/** What a worker that is gone had sent upstream is not sent to Redis yet. When its host is gone, nobody will. */
function hasJournalOfTheDead(stack: Stack): boolean {
  const alive = new Set(listProcesses(stack.configFile, "worker").map(String));
  const journals = listFolder(join(stack.dir, "data/spool")).filter((name) => name.endsWith(".begun"));
  return alive.size > 0 && journals.some((name) => !alive.has(/-(\d+)\.\d+\.begun$/.exec(name)?.[1] ?? ""));
}

/** Files in which charges wait for Redis. */
export function listSpoolFiles(stack: Stack): readonly string[] {
  return listFolder(join(stack.dir, "data/spool")).filter((name) => name.endsWith(".spool"));
}

function listFolder(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** Ends the supervisor as Kubernetes does, while streams run. Resolves with whether it could settle everything. */
export async function terminateStack({
  stack,
  child,
}: Pick<FaultStackOn, "stack" | "child">): Promise<boolean> {
  const [supervisor] = listProcesses(stack.configFile, "serve");
  if (supervisor === undefined) throw new Error("the supervisor does not run");
  process.kill(supervisor, "SIGTERM");
  await child.waitForEnd(60_000);
  const stopped = [...stack.readLogs().matchAll(/"orderly":(true|false)/g)].at(-1);
  return stopped?.[1] === "true";
}

/** Starts the same stack once more, after it has ended. */
export async function startStackAgain(faults: Pick<FaultStackOn, "stack" | "child">): Promise<void> {
  const main = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
  const args = [main, "up", "--config", faults.stack.configFile, "--json"];
  const child = startChild(process.execPath, args, { cwd: faults.stack.dir });
  faults.child = child;
  await child.waitForLine("the stack's JSON line", (line) => (line.startsWith("{") ? line : null));
}
