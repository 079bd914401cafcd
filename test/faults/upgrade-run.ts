/** The steps of an upgrade, in their order, while the load goes on; and what was seen in each. */
import { cpSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Generation, readGenerations, startGeneration } from "../envoy/access/generations.ts";
import { dayAt } from "../../src/time/calendar.ts";
import { LIMIT_PERIODS } from "../../src/settings/limits.ts";
import * as names from "../../src/store/redis/keys.ts";
import { windowName } from "../../src/store/usage/windows.ts";
import { waitFor } from "../support/wait.ts";
import { WORKERS } from "./fault-stack.ts";
import { readRefusal, type UpgradeLoad } from "./upgrade-load.ts";
import {
  type AdminAnswer,
  type CallAdmin,
  callerOf,
  olderGeneration,
  type UpgradeStack,
} from "./upgrade-stack.ts";

const CENT = 1_000_000n;
const START_TIMEOUT_MS = 40_000;
/** Never reached. */
const FAR_CENTS = 90_000_000;
const row = (period: string, kind: string, cents: number) => ({ period, kind, cents });

/** Both builds serve. */
export interface Mixed {
  /** gRPC calls of Envoy's that each generation had while both were there. */
  readonly calls: { readonly first: number; readonly next: number };
  /** Answers to limits that the older build would not count, as "409 older_workers". */
  readonly tooEarly: readonly string[];
  readonly recordsBefore: object;
  readonly recordsAfter: object;
  /** Of Ann's requests: with a cap of the month that the new build has set, and that the older one has lifted. */
  readonly capped: readonly number[];
  readonly lifted: readonly number[];
  /** What became of one more `serve` of the older build. */
  readonly olderAgain: string;
}

export async function serveByBoth(up: UpgradeStack, load: UpgradeLoad, next: Generation): Promise<Mixed> {
  const before = await waitFor(
    "workers of both generations",
    async () => {
      const now = await readGenerations(up.first);
      return now.first.healthy === WORKERS && now.next.healthy === WORKERS && now;
    },
    { timeoutMs: START_TIMEOUT_MS, intervalMs: 50 },
  );
  await load.holdStreams();
  await load.answered(20);
  const after = await readGenerations(up.first);
  const call = callerOf(next);
  const recordsBefore = await readRecords(up);
  const tooEarly = (await tryLimits(up, call)).map(outcomeOf);
  const recordsAfter = await readRecords(up);
  const { paths } = up.tenant;
  await succeed(call("PATCH", paths.ann, { hard_cap_cents: 1 }));
  const capped = await load.sendAnn(8);
  await succeed(callerOf(olderGeneration(up.first))("PATCH", paths.ann, { hard_cap_cents: null }));
  const lifted = await load.sendAnn(8);
  return {
    calls: {
      first: after.first.calls - before.first.calls,
      next: after.next.calls - before.next.calls,
    },
    tooEarly,
    recordsBefore,
    recordsAfter,
    capped,
    lifted,
    olderAgain: await startOlderAgain(up, "again"),
  };
}

/** Limits of windows, on every owner and in every way that they are set. */
async function tryLimits({ tenant: { paths } }: UpgradeStack, call: CallAdmin): Promise<AdminAnswer[]> {
  const limits = [row("day", "cap", FAR_CENTS)];
  return [
    await call("PATCH", paths.zoe, { limits }),
    await call("PATCH", paths.zoeUser, { limits: [row("week", "cap", FAR_CENTS)] }),
    await call("PATCH", paths.zoeUser, { limits: [row("month", "budget", FAR_CENTS)] }),
    await call("PATCH", paths.zoeGroup, { limits: [row("month", "cap", FAR_CENTS)] }),
    await call("PATCH", paths.zoeGroup, { member_limits: [row("week", "cap", FAR_CENTS)] }),
    await call("PATCH", paths.organization, { limits: [row("total", "budget", FAR_CENTS)] }),
    await call("POST", `${paths.organization}/users`, { name: "Bob", limits }),
    await call("POST", `${paths.organization}/groups`, { name: "Bobs", limits }),
    await call("POST", `${paths.organization}/keys`, { name: "bob", limits }),
    await call("POST", "/api/organizations", { name: "Early", currency: "USD", limits }),
  ];
}

/** All that a change by the management API would have changed. */
async function readRecords({ client, tenant }: UpgradeStack): Promise<object> {
  const { organizationId, paths } = tenant;
  const idOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);
  return {
    schema: await client.get(names.SCHEMA_KEY),
    organization: await client.hgetall(names.organizationKey(organizationId)),
    key: await client.hgetall(names.keyRecordKey(organizationId, idOf(paths.zoe))),
    user: await client.hgetall(names.ownerKey(organizationId, "user", idOf(paths.zoeUser))),
    group: await client.hgetall(names.ownerKey(organizationId, "group", idOf(paths.zoeGroup))),
    keys: await client.zrange(names.keyListKey(organizationId), "0", "-1"),
    users: await client.zrange(names.ownerListKey(organizationId, "user"), "0", "-1"),
    groups: await client.zrange(names.ownerListKey(organizationId, "group"), "0", "-1"),
    organizations: await client.zrange(names.ORGANIZATIONS_KEY, "0", "-1"),
    organizationNames: await client.hgetall(names.ORGANIZATION_NAMES_KEY),
    audit: await client.xlen(names.auditKey(organizationId)),
  };
}

/** Starts the older build once more: "ready", after which it is ended, or how it ended by itself and what it said. */
export async function startOlderAgain(up: UpgradeStack, name: string): Promise<string> {
  const { serve } = await startGeneration(up.first, name, up.older.main);
  try {
    return await waitFor(
      "the older build to start or to end",
      () => {
        if (serve.ended !== null) return `ended ${serve.ended}: ${serve.stderr}`;
        return serve.stderr.includes('"msg":"ready"') && "ready";
      },
      { timeoutMs: START_TIMEOUT_MS },
    );
  } finally {
    await serve.stop(15_000);
  }
}

/** The older build is told to end. */
export interface Drained {
  /** A limit that was asked for while streams of its workers ran. */
  readonly whileDraining: string;
  readonly wholeStreams: number;
  readonly exitCode: number | string;
}

export async function drainOlder(up: UpgradeStack, load: UpgradeLoad, next: Generation): Promise<Drained> {
  const { serve } = up.first;
  serve.signal("SIGTERM");
  await waitFor("the older workers to be passed over", async () => {
    const now = await readGenerations(up.first);
    return now.first.healthy === 0 && now.next.healthy === WORKERS;
  });
  await load.answered(10);
  const limits = [row("day", "cap", FAR_CENTS)];
  const whileDraining = outcomeOf(await callerOf(next)("PATCH", up.tenant.paths.zoe, { limits }));
  const wholeStreams = await load.releaseStreams();
  return { whileDraining, wholeStreams, exitCode: await serve.waitForEnd(30_000) };
}

/** Nothing but the new build is there: limits that nobody reaches, of all four periods and owners, while streams are open. */
export async function setLimits(up: UpgradeStack, load: UpgradeLoad, next: Generation): Promise<number> {
  const { paths } = up.tenant;
  const call = callerOf(next);
  await load.holdStreams();
  await succeed(call("PATCH", paths.zoe, { limits: [row("day", "cap", FAR_CENTS)] }));
  await succeed(call("PATCH", paths.zoeUser, { limits: [row("week", "cap", FAR_CENTS)] }));
  await load.answered(10);
  // The streams go on while the others are set.
  const wholeStreams = load.releaseStreams();
  await succeed(call("PATCH", paths.zoeGroup, { limits: [row("month", "budget", FAR_CENTS)] }));
  await succeed(call("PATCH", paths.organization, { limits: [row("total", "cap", FAR_CENTS)] }));
  return wholeStreams;
}

/** What a cap does that is set at what was spent, and one that leaves room for two requests. */
export interface CapCheck {
  readonly refusal: object;
  readonly spentCents: number;
  readonly above: readonly number[];
}

const CHECKED = [
  ["day", "ann"],
  ["week", "annUser"],
  ["month", "annGroup"],
  ["total", "annUser"],
] as const;

/** On Ann's key, user and group, while the others' load goes on. */
export async function checkCaps(up: UpgradeStack, load: UpgradeLoad, next: Generation): Promise<CapCheck[]> {
  const call = callerOf(next);
  const checks: CapCheck[] = [];
  const before = load.used(["ann"]);
  await load.sendAnn(1);
  const cost = centsOf(load.used(["ann"]) - before);
  for (const [period, name] of CHECKED) {
    const path = up.tenant.paths[name];
    const set = (limits: readonly object[]) => succeed(call("PATCH", path, { limits }));
    const { ann } = up.tenant.keys;
    await waitUntilCharged(up, `key:${ann.id}`, load.used(["ann"]));
    const spentCents = centsOf(load.used(["ann"]));
    await set([row(period, "cap", spentCents)]);
    const refusal = await readRefusal(up, "ann");
    await set([row(period, "cap", spentCents + 2 * cost)]);
    const above = await load.sendAnn(3);
    await set([]);
    checks.push({ refusal, spentCents, above });
  }
  return checks;
}

/** Everything is over. */
export interface Ended {
  /** Of a cap of the organization's day that leaves room for one request of any key. */
  readonly lastStatuses: readonly number[];
  readonly exitCode: number | string;
  /** Microcents by owner and window: what the upstream's answers cost, and what Redis has. */
  readonly expected: Readonly<Record<string, bigint>>;
  readonly counted: Readonly<Record<string, bigint>>;
  /** A folder with the logs of requests of both builds. */
  readonly requestLogs: string;
}

export async function endUpgrade(up: UpgradeStack, load: UpgradeLoad, next: Generation): Promise<Ended> {
  const { organizationId, keys, paths } = up.tenant;
  await load.stopClients();
  const all = Object.keys(keys) as (keyof typeof keys)[];
  await waitUntilCharged(up, "organization", load.used(all));
  const cents = centsOf(load.used(all)) + 1;
  await succeed(callerOf(next)("PATCH", paths.organization, { limits: [row("day", "cap", cents)] }));
  const lastStatuses = await load.sendCi(2);
  await waitFor("nothing to be in flight", async () => {
    return (await up.client.zcard(names.holdsKey(organizationId))) === 0;
  });
  next.serve.signal("SIGTERM");
  const exitCode = await next.serve.waitForEnd(30_000);
  return { lastStatuses, exitCode, ...(await readWindows(up, load)), requestLogs: gatherLogs(up, next) };
}

async function readWindows(
  { client, first, tenant }: UpgradeStack,
  load: UpgradeLoad,
): Promise<Pick<Ended, "expected" | "counted">> {
  const expected: Record<string, bigint> = {};
  const counted: Record<string, bigint> = {};
  const { name: today } = dayAt(await first.store.timeMs());
  for (const period of LIMIT_PERIODS) {
    const spend = names.spendKey(tenant.organizationId, windowName(period, today));
    for (const [subject, keys] of tenant.subjects) {
      expected[`${period} of ${subject}`] = load.used(keys);
      counted[`${period} of ${subject}`] = BigInt((await client.hget(spend, subject)) ?? "0");
    }
  }
  return { expected, counted };
}

/** As an operator does for `usage verify --requests`. */
function gatherLogs({ first }: UpgradeStack, next: Generation): string {
  const gathered = join(dirname(first.configFile), "gathered");
  mkdirSync(gathered);
  const folders = { first: olderGeneration(first).dataDir, next: next.dataDir };
  for (const [name, dataDir] of Object.entries(folders)) {
    const requests = join(dataDir, "requests");
    for (const file of readdirSync(requests)) {
      cpSync(join(requests, file), join(gathered, file.replace("worker", `${name}-worker`)));
    }
  }
  return gathered;
}

/** Redis has taken what the answers cost that have ended. */
async function waitUntilCharged(
  { client, first, tenant }: UpgradeStack,
  subject: string,
  microcents: bigint,
): Promise<void> {
  const { name: today } = dayAt(await first.store.timeMs());
  const spend = names.spendKey(tenant.organizationId, windowName("month", today));
  await waitFor(`${microcents} microcents of ${subject}`, async () => {
    return (await client.hget(spend, subject)) === String(microcents);
  });
}

async function succeed(answer: Promise<AdminAnswer>): Promise<void> {
  const { status, body } = await answer;
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
}

function outcomeOf({ status, body }: AdminAnswer): string {
  const { code } = (body["error"] ?? {}) as { readonly code?: string };
  return `${status} ${code ?? ""}`;
}

/** Every request here costs whole cents. */
function centsOf(microcents: bigint): number {
  if (microcents % CENT !== 0n) throw new Error(`${microcents} microcents are no whole cents`);
  return Number(microcents / CENT);
}
