/**
 * One organization does what it can to hurt another: with requests, with connections, and with its people's calls of the
 * management API. The other has every answer, whole and right, also of that API and of the health probe, pays what it has
 * used to the microcent, and the gateway's memory comes back to what it was.
 */
import { readFileSync, statSync, writeSync } from "node:fs";
import type { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readEnvoyMemory } from "../envoy/edge/envoy-counters.ts";
import { leaveMachine, START_TIMEOUT_MS, takeWholeMachine } from "../faults/machine.ts";
import { waitFor } from "../support/wait.ts";
import { addUp, checkHostileLines, readCharged, readRequestLog } from "./accounts.ts";
import { ALL_AT_ONCE, ATTACKS } from "./attacks/all.ts";
import type { Target } from "./attacks/attack.ts";
import { chooseCombinations, type Combination, IS_LONG, IS_WATCHED } from "./combinations.ts";
import { formatPhase, formatTables, measureLatency, type PhaseFigures, type RunFigures } from "./figures.ts";
import {
  createCapKeeper,
  type HostileStack,
  listLogs,
  readMemory,
  startHostileStack,
} from "./hostile-stack.ts";
import { connectRedis, type Leftovers, readLeftovers, readRedisBytes } from "./leftovers.ts";
import { countAuditEntries, createToken } from "./managed.ts";
import type { ServedRequest } from "./upstream-program.ts";
import { type Asked, startVictim } from "./victim.ts";
import { KINDS_OF_CALLS, startWatchers, type Watched } from "./watchers.ts";

const MEBIBYTE = 1024 ** 2;
const NO_ATTACK = "no attack";
/** The victim's quick requests of a phase, at least. Fewer than in the long form would say nothing of its latency. */
const MEASURED_REQUESTS = IS_LONG ? 150 : 25;
/** Before its memory is taken, the gateway has loaded what it needs, and its heaps have grown to what they are under load. */
const WARM_REQUESTS = IS_LONG ? 300 : 100;
/**
 * What may have grown by. Allocators keep what they had, and V8 gives pages back as it likes: what an attack left behind
 * for ever would be there once more with each of its requests. Redis keeps 10,000 deleted keys and full audit logs. In
 * the long form, what the page on sizing has for a worker, and nine tenths of Envoy's heap, where it gives pages back.
 */
const MAY_HAVE_GROWN = IS_LONG
  ? { envoy: 1_843 * MEBIBYTE, worker: 620 * MEBIBYTE, redis: 64 * MEBIBYTE }
  : { envoy: 800 * MEBIBYTE, worker: 400 * MEBIBYTE, redis: 64 * MEBIBYTE };
/** What Envoy has allocated itself is known exactly. */
const ALLOCATED_MAY_HAVE_GROWN = 32 * MEBIBYTE;
/** What an attack had sent: of bodies, and asked for of answers. */
const LARGEST = { bytes: 33_554_432, outputTokens: 60_000 };
/** Of the access log, as docs/sizing.md has it. */
const MAX_LINE_BYTES = 4_096;
/** Four logs and what is written to them in a second. */
const MAX_LOG_BYTES = 5 * 64 * MEBIBYTE;
/** Twenty in an hour, of the one organization that has addresses; a run may see two hours. */
const MAX_EMAILS = 2 * 21;
/** The tokens of the attacker's people are the operator's work. */
const OPERATOR_ENTRIES = 2;
const SETTLED_WITHIN_MS = 60_000;
/** Entries of what never went upstream are there for a minute. */
const LEFT_WITHIN_MS = 120_000;
const NOTHING: Leftovers = { open: 0, slots: 0, held: 0n, entered: 0 };

/** `HOSTILE_ATTACKS` names a part of them, separated by commas. */
const chosen = process.env["HOSTILE_ATTACKS"]?.split(",");
const names = [...Object.keys(ATTACKS), ALL_AT_ONCE].filter(
  (name) => chosen?.some((part) => name.includes(part)) ?? true,
);
const finished: RunFigures[] = [];

beforeAll(takeWholeMachine, START_TIMEOUT_MS);
afterAll(() => {
  leaveMachine();
  if (finished.length > 0) process.stdout.write(`${formatTables(finished)}\n`);
});

describe.each(chooseCombinations())("with $workers of $transport, both by $http:", (combination) => {
  let hostile: HostileStack;
  let redis: Redis;
  const asked: Asked[] = [];
  const phases: PhaseFigures[] = [];
  let victims: { stop(): Promise<void> }[] = [];
  const spentCents = { open: 0, strict: 0 };
  let allocatedBefore = 0;
  let problem: unknown = null;
  const watched: Watched[] = [];

  beforeAll(async () => {
    hostile = await startHostileStack(combination);
    redis = connectRedis(hostile.stack);
    const { stack, healthUrl } = hostile;
    const { organizationId } = hostile.victims.open;
    const watchers = await startWatchers({
      adminUrl: stack.adminUrl,
      healthUrl,
      organizationId,
      token: await createToken(stack, organizationId, "admin"),
      onWatched: (one) => watched.push(one),
    });
    const keepCap = createCapKeeper(hostile.stack, hostile.victims.strict);
    const startOne = (name: "open" | "strict") =>
      startVictim({
        baseUrl: hostile.stack.baseUrl,
        http: combination.http,
        key: hostile.victims[name],
        onAsked: (one) => {
          asked.push(one);
          spentCents[name] += one.promptTokens + 2 * one.outputTokens;
          if (name === "strict") {
            keepCap(spentCents.strict).catch((error: unknown) => {
              problem = error;
            });
          }
        },
      });
    victims = [startOne("open"), startOne("strict"), watchers];
    await answered(0, WARM_REQUESTS);
    allocatedBefore = await readEnvoyMemory(hostile.stack);
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    await stopVictims();
    redis?.disconnect();
    await hostile?.stop();
  }, 60_000);

  it.each([NO_ATTACK, ...names])("nobody else is hurt by: %s", async (name) => {
    const { stack, attacker } = hostile;
    const from = asked.length;
    const watchedFrom = watched.length;
    if (name !== NO_ATTACK) await attacker.call("attack", { name, target: targetOf(hostile, combination) });
    await answered(from, MEASURED_REQUESTS);
    await called(watchedFrom);
    const beside = watched.slice(watchedFrom);
    const own = asked.slice(from);
    const failures = [...own, ...beside].flatMap(({ failure }) => failure ?? []);
    const ofKind = (kind: Watched["kind"]) => measureLatency(beside.filter((one) => one.kind === kind));
    const phase: PhaseFigures = {
      name,
      latency: measureLatency(own.filter(({ isQuick }) => isQuick)),
      calls: ofKind("call"),
      probes: ofKind("probe"),
      failures: failures.length,
      memory: readMemory(stack),
      redisBytes: await readRedisBytes(redis),
      logBytes: listLogs(stack).reduce((sum, file) => sum + statSync(file).size, 0),
    };
    phases.push(phase);
    // At once: what a test writes is shown when its file has ended, which may take an hour.
    if (IS_WATCHED) writeSync(process.stderr.fd, `${[formatPhase(phase), ...failures].join("\n  ")}\n`);
    expect(failures).toEqual([]);
    expect(problem).toBeNull();
  });

  it("logs, Redis and the mail server have no more than their bounds, and the operator's audit entries are kept", async () => {
    const lines = listLogs(hostile.stack)
      .filter((file) => file.includes("access.log"))
      .flatMap((file) => readFileSync(file, "utf8").split("\n"));
    expect(lines.filter((line) => Buffer.byteLength(line) > MAX_LINE_BYTES)).toEqual([]);
    expect(Math.max(...phases.map(({ logBytes }) => logBytes))).toBeLessThan(MAX_LOG_BYTES);
    const [before] = phases;
    const mostRedis = Math.max(...phases.map(({ redisBytes }) => redisBytes));
    expect(mostRedis - (before?.redisBytes ?? 0)).toBeLessThan(MAY_HAVE_GROWN.redis);
    expect(await hostile.upstream.call<number>("countEmails")).toBeLessThanOrEqual(MAX_EMAILS);
    expect(await countAuditEntries(hostile.stack, hostile.managed, "operator")).toBe(OPERATOR_ENTRIES);
  });

  it("its streams are whole to the last, and it is charged what it has used, to the microcent", async () => {
    await stopVictims();
    expect(asked.flatMap(({ failure }) => failure ?? [])).toEqual([]);
    const { open, strict } = hostile.victims;
    const charged = await Promise.all(
      [open, strict].map(async ({ organizationId }) => await readCharged(hostile.stack, organizationId)),
    );
    expect(charged.reduce((sum, each) => sum + each, 0n)).toBe(addUp(asked));
    for (const { organizationId } of [open, strict]) {
      expect(await readLeftovers(redis, organizationId)).toEqual(NOTHING);
    }
  });

  it("the hostile organization is charged what its own requests have used", async () => {
    const { organizationId } = hostile.hostile.roomy;
    const read = async () => await readLeftovers(redis, organizationId);
    const isSettled = async (): Promise<boolean> => {
      const { open, slots, held } = await read();
      return open === 0 && slots === 0 && held === 0n;
    };
    await waitFor("all to be settled", isSettled, { timeoutMs: SETTLED_WITHIN_MS, intervalMs: 100 }).catch(
      () => undefined,
    );
    expect(await read()).toMatchObject({ open: 0, slots: 0, held: 0n });
    const charged = await readCharged(hostile.stack, organizationId);
    const served = await hostile.upstream.call<readonly ServedRequest[]>("list");
    const check = () => checkHostileLines(readRequestLog(hostile.stack, organizationId), served, LARGEST);
    await waitFor("the log to have all of it", () => check().chargedMicrocents >= charged);
    const account = check();
    expect(account.problems).toEqual([]);
    expect(account.chargedMicrocents).toBe(charged);
    finished.push({
      combination,
      phases,
      requests: asked.length,
      failures: [...asked, ...watched].filter(({ failure }) => failure !== null).length,
      microcentsOff: 0n,
      hostile: account,
      memoryAfter: readMemory(hostile.stack),
    });
  });

  it("memory has come back to what it was, and nothing is left in Redis", async () => {
    const { stack } = hostile;
    const before = phases[0]?.memory ?? readMemory(stack);
    const grown = (): string[] => {
      const memory = readMemory(stack);
      return (["envoy", "worker", "redis"] as const)
        .filter((name) => memory[name] > before[name] + MAY_HAVE_GROWN[name])
        .map((name) => `${name}: ${before[name]} has become ${memory[name]}`);
    };
    // A process that has nothing to do collects its garbage late.
    await waitFor("memory to come back", () => grown().length === 0, {
      timeoutMs: SETTLED_WITHIN_MS,
      intervalMs: 100,
    }).catch(() => undefined);
    expect(grown()).toEqual([]);
    const isBack = async () => (await readEnvoyMemory(stack)) < allocatedBefore + ALLOCATED_MAY_HAVE_GROWN;
    await waitFor("what Envoy has allocated to come back", isBack, { timeoutMs: SETTLED_WITHIN_MS });
    if (!IS_LONG) return;
    const { organizationId } = hostile.hostile.roomy;
    const isEmpty = async (): Promise<boolean> => {
      const { entered } = await readLeftovers(redis, organizationId);
      return entered === 0;
    };
    await waitFor("nothing to be left", isEmpty, { timeoutMs: LEFT_WITHIN_MS, intervalMs: 500 });
    expect(await readLeftovers(redis, organizationId)).toEqual(NOTHING);
  });

  /** Resolves when so many of the victim's quick requests have ended since. */
  async function answered(from: number, count: number): Promise<void> {
    const isEnough = (): boolean => asked.slice(from).filter(({ isQuick }) => isQuick).length >= count;
    await waitFor("the victim's requests", isEnough, { timeoutMs: SETTLED_WITHIN_MS, intervalMs: 50 });
  }

  /** Resolves when each kind of call beside the request path was made since. */
  async function called(from: number): Promise<void> {
    const isEnough = (): boolean =>
      watched.slice(from).filter(({ kind }) => kind === "call").length >= KINDS_OF_CALLS;
    await waitFor("others' calls", isEnough, { timeoutMs: SETTLED_WITHIN_MS, intervalMs: 50 });
  }

  async function stopVictims(): Promise<void> {
    await Promise.all(victims.map(async (victim) => await victim.stop()));
  }
});

function targetOf({ stack, hostile, managed }: HostileStack, { http }: Combination): Target {
  const { roomy, narrow, paired, spent } = hostile;
  const keys = { roomy: roomy.key, narrow: narrow.key, paired: paired.key, spent: spent.key };
  return { port: Number(new URL(stack.baseUrl).port), http, keys, management: managed, isLong: IS_LONG };
}
