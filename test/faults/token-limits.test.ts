/** A limit of tokens per minute over faults: it holds what is published, refuses nothing falsely, and knows what was used. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findWorkerPid, waitForNewWorker } from "../support/gateway-processes.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { waitFor } from "../support/wait.ts";
import { ROUTES, sendOne, type SendOptions, type Sent, startClients } from "./fault-load.ts";
import { type FaultStack, MODEL, startFaultStack, WORKERS } from "./fault-stack.ts";
import { START_TIMEOUT_MS } from "./machine.ts";
import {
  checkTokenBound,
  countFalseTokenRefusals,
  highestLevel,
  lowestLevel,
  tokensOf,
  type TokenRun,
} from "./token-levels.ts";

const LIMIT = 48_000;
const CLIENTS = 6;
/** Of one answer, of the catalog's model; so many of them are about what the bucket has. */
const LONGEST = 8_192;
const EMPTYING = 6;
/** The head lets guess fewer. What is not told is estimated, and comes to as many once others have been told. */
const TOKENS_PER_GUESS = 5;
/** A token for four bytes of them. */
const MAX_BY_HEAD = 60;
/** Of a tick, and of a slow machine. */
const LATE_MS = 3_000;
/** Answers that are waited for, of which there are two or three a second once the bucket is empty. */
const FEW = 4;

let faults: FaultStack;
beforeAll(async () => {
  faults = await startFaultStack();
}, START_TIMEOUT_MS);
afterAll(() => faults?.stop(), 60_000);

interface Outage {
  readonly fromMs: number;
  /** Redis was gone from then on, and until then. */
  readonly goneMs: number;
  readonly restartMs: number;
  readonly untilMs: number;
}

interface Running {
  /** Resolves when so many more answers have come whole. */
  readonly served: (count: number) => Promise<void>;
  /** Resolves when the limit has refused something since. */
  readonly refused: () => Promise<void>;
  /** A worker is killed now. */
  readonly died: () => void;
  /** Redis is killed, and started again when the clients have met it, the long stream has ended, and this has resolved. */
  readonly outage: (whileAway?: () => Promise<void>) => Promise<void>;
}

interface Flood {
  readonly key: CreatedKey;
  readonly run: TokenRun;
  readonly outages: readonly Outage[];
}

/**
 * Clients that want many times what the limit gives, on all routes, from a bucket that is empty; some leave, and some
 * answers tell no usage.
 */
async function flood(during: (running: Running) => Promise<void>): Promise<Flood> {
  const { open: key } = await faults.createTenants(0);
  const settings = { tokensPerMinute: LIMIT, countCachedTokens: "always" } as const;
  await faults.store.changeKey({ organizationId: key.organizationId, keyId: key.id }, settings, null);
  const sent: Sent[] = [];
  const emptied = await emptyBucket(key, sent);
  const outages: Outage[] = [];
  const diedMs: number[] = [];
  let count = 0;
  const next = (): SendOptions => createOptions(key, count++);
  const clients = startClients(CLIENTS, next, (each) => sent.push(each));
  const countOf = (is: (each: Sent) => boolean): number => sent.filter(is).length;
  const isLimited = ({ errorCode }: Sent): boolean => errorCode === "token_rate_limit_exceeded";
  const more = async (what: string, is: (each: Sent) => boolean, wanted: number): Promise<void> => {
    const before = countOf(is);
    await waitFor(what, () => countOf(is) >= before + wanted, { timeoutMs: 90_000, intervalMs: 20 });
  };
  try {
    await during({
      served: (wanted) => more("whole answers", ({ isWhole }) => isWhole, wanted),
      died: () => diedMs.push(performance.now()),
      refused: () => more("a refusal of the limit", isLimited, 1),
      async outage(whileAway = async () => undefined) {
        const fromMs = performance.now();
        diedMs.push(fromMs);
        await faults.redis.kill();
        const goneMs = performance.now();
        let restartMs = goneMs;
        try {
          const met = more("refusals", ({ status }) => status === 503, CLIENTS);
          faults.upstream.release();
          await waitFor("the end of the stream", () => sent[0]?.isWhole === true);
          await met;
          await whileAway();
        } finally {
          restartMs = performance.now();
          await faults.redis.restart();
          outages.push({ fromMs, goneMs, restartMs, untilMs: performance.now() });
        }
      },
    });
  } finally {
    faults.upstream.release();
    await clients.stop();
  }
  return {
    key,
    outages,
    run: {
      limit: LIMIT,
      sent,
      emptied,
      accounts: faults.upstream.accounts,
      mostByHead: MAX_BY_HEAD,
      mostPerUntold: TOKENS_PER_GUESS,
      lateMs: LATE_MS,
      diedMs,
      outages,
    },
  };
}

/** By long answers, one of them a stream that goes on when the upstream is told to. */
async function emptyBucket(key: CreatedKey, sent: Sent[]): Promise<ReadonlySet<string>> {
  const one = (index: number, isStream: boolean) => {
    const options = { ...createOptions(key, 0), route: routeOf(index), outputTokens: LONGEST, tokenMs: 0 };
    const behavior = isStream ? ({ behavior: "paused" } as const) : {};
    return sendOne({ ...options, ...behavior, isStream }, (each) => sent.push(each));
  };
  void one(0, true);
  await waitFor("the half of a stream", () =>
    sent.some(({ id }) => faults.upstream.accounts.get(id)?.tokenTimesMs.length === LONGEST / 2),
  );
  await Promise.all(Array.from({ length: EMPTYING - 1 }, (_, index) => one(index + 1, false)));
  return new Set(sent.map(({ id }) => id));
}

const routeOf = (index: number) => ROUTES[index % ROUTES.length] ?? ROUTES[0];

function createOptions({ key }: CreatedKey, index: number): SendOptions {
  const isStream = index % 2 === 0;
  return {
    baseUrl: faults.stack.baseUrl,
    key,
    model: MODEL,
    outputTokens: 40,
    tokenMs: 5,
    isStream,
    route: routeOf(index),
    ...(index % 7 === 3 ? ({ behavior: "no_usage" } as const) : { tokensPerGuess: TOKENS_PER_GUESS }),
    ...(index % 11 === 5 && { abortAfterMs: 60 }),
  };
}

/** The level that the gateway tells, once nothing is in flight, with what it must be between. */
async function readLevel({ key, run }: Flood) {
  await faults.waitUntilSettled([key], 100_000);
  const atMs = performance.now();
  const answer = await faults.stack.send({ method: "GET", path: "/v1/models", key: key.key });
  const left = Number(answer.headers["x-ratelimit-remaining-tokens"]);
  const highest = Math.max(0, highestLevel(run, performance.now()));
  return { left, lowest: Math.max(0, Math.floor(lowestLevel(run, atMs))), highest };
}

describe("a limit of tokens per minute", () => {
  it("holds, and refuses nothing falsely, when a worker is killed and replaced", async () => {
    const { configFile } = faults.stack;
    const { run } = await flood(async ({ refused, served, died }) => {
      await refused();
      await served(FEW);
      const pid = findWorkerPid(configFile, 0);
      died();
      process.kill(pid, "SIGKILL");
      await waitForNewWorker(configFile, pid, WORKERS);
      await served(FEW);
    });
    // Those of the dead worker are cut off beside those of the clients' next ones.
    expect(checkTokenBound(run, 2 * CLIENTS)).toEqual([]);
    expect(countFalseTokenRefusals(run)).toBe(0);
  });

  it("holds, and knows what was used, when Redis is killed and restarted", async () => {
    const flooded = await flood(async ({ refused, served, outage }) => {
      await refused();
      await served(FEW);
      await outage();
      await served(FEW);
    });
    const { run } = flooded;
    expect(checkTokenBound(run, CLIENTS)).toEqual([]);
    expect(countFalseTokenRefusals(run)).toBe(0);
    const { left, lowest, highest } = await readLevel(flooded);
    expect(left).toBeGreaterThanOrEqual(lowest);
    expect(left).toBeLessThanOrEqual(highest);
    // No worker knows what the others let through: there is no grace period.
    const [outage] = flooded.outages;
    const meanwhile = run.sent.filter(
      ({ sentMs, endedMs, isAborted }) =>
        outage !== undefined && sentMs > outage.goneMs && endedMs < outage.restartMs && !isAborted,
    );
    expect(new Set(meanwhile.map(({ errorCode }) => errorCode))).toEqual(new Set(["gateway_unavailable"]));
  });

  it("goes on from what Redis knows when it comes back from an older copy", async () => {
    let copiedMs = 0;
    const { run } = await flood(async ({ refused, served, outage }) => {
      await refused();
      await faults.redis.snapshot();
      copiedMs = performance.now();
      await served(FEW);
      await outage(() => faults.redis.restoreSnapshot());
      await served(FEW);
      await refused();
    });
    const [away] = run.outages;
    const isForgotten = ({ sentMs, endedMs }: Sent) =>
      endedMs >= copiedMs - LATE_MS && sentMs <= (away?.untilMs ?? 0);
    expect(checkTokenBound(run, CLIENTS, tokensOf(run, isForgotten))).toEqual([]);
    expect(countFalseTokenRefusals(run)).toBe(0);
  });
});
