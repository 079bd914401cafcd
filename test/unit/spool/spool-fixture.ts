/** What tests of the spool put into it, and a Redis that takes charges or does not. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { SpoolEntry } from "../../../src/data-path/spool/entry.ts";
import { Spool, type SpoolOptions } from "../../../src/data-path/spool/spool.ts";
import type { ChargeInput } from "../../../src/shared/stored/settlement.ts";
import { NO_TOKENS } from "../../../src/shared/usage/token-usage.ts";

export const IDENTITY = {
  organizationId: "org_1",
  keyId: "key_1",
  month: "2026-11",
  day: "2026-11-21",
  model: "acme/echo-small",
  route: "POST /v1/chat/completions",
};
export const NOW_MS = Date.UTC(2026, 10, 21);

export function chargeEntry(
  requestId: string,
  changes: Partial<ChargeInput> = {},
  atMs = NOW_MS,
): SpoolEntry {
  return {
    kind: "charge",
    atMs,
    charge: {
      ...IDENTITY,
      requestId,
      totalMicrocents: 5n,
      sequence: 2,
      tokens: { ...NO_TOKENS, inputTokens: 1, cachedInputTokens: 2, outputTokens: 3 },
      requests: 1,
      estimated: false,
      estimate: null,
      final: {
        status: 200,
        errorCode: null,
        checks: [{ name: "price", passed: true, figures: { currency: "USD" } }],
      },
      ...changes,
    },
  };
}

export interface FakeRedis {
  isAway: boolean;
  readonly charges: ChargeInput[];
  /** Answers these requests so. */
  readonly errors: Map<string, Error>;
}

export interface SpoolTest {
  readonly dir: string;
  readonly redis: FakeRedis;
  readonly errors: readonly { readonly fields: object; readonly message: string }[];
  readonly open: (changes?: Partial<SpoolOptions>) => Spool;
}

/** A folder of its own; it goes with the test. */
export async function createSpoolTest(): Promise<SpoolTest> {
  const parent = await mkdtemp(join(tmpdir(), "igw-spool-"));
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  const dir = join(parent, "spool");
  const redis: FakeRedis = { isAway: true, charges: [], errors: new Map() };
  const errors: { fields: object; message: string }[] = [];
  const open: SpoolTest["open"] = (changes = {}) => {
    const spool = new Spool({
      dir,
      maxBytes: 1_000_000,
      index: 0,
      workers: 1,
      generation: "000000000000001-1",
      store: {
        async charge(charge) {
          const error = redis.errors.get(charge.requestId);
          if (redis.isAway) throw new Error("Command timed out");
          if (error !== undefined) throw error;
          redis.charges.push(charge);
          return { outcome: "applied" };
        },
      },
      clock: { nowMs: () => NOW_MS, monotonicMs: () => performance.now() },
      logger: {
        info: () => undefined,
        warn: () => undefined,
        error: (fields, message) => void errors.push({ fields, message }),
      },
      ...changes,
    });
    onTestFinished(async () => {
      await spool.stop(0);
    });
    return spool;
  };
  return { dir, redis, errors, open };
}
