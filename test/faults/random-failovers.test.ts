/**
 * Failovers of Sentinel's while the replica is behind, then at random moments with a replica that lags at random: one after
 * the other on the same deployment, each node in its turn. On each push there is none at a random moment, at night one. The
 * long form (`FAULTS=long`) has three seeds of six;
 * FAULTS_SEEDS and FAULTS_FAILOVERS take a part of it.
 */
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { type SentinelNode, type SentinelRedis, startRedisWithSentinels } from "../support/redis-sentinel.ts";
import { byExtent } from "../support/extent.ts";
import { runFailover } from "./failover-run.ts";
import { type Faults, IN_TRANSIT_MS } from "./fault-accounts.ts";
import { IS_LONG, type RunningScenario } from "./fault-scenario.ts";
import { type FaultStackOn, startFaultStackOn } from "./fault-stack.ts";
import { restartStackAtNight } from "./restart.ts";
import { createDraw, type Draw, readSeeds } from "./seeded-draw.ts";

const FAILOVERS = Number(
  process.env["FAULTS_FAILOVERS"] ?? (IS_LONG ? 6 : byExtent({ push: 0, nightly: 1 })),
);
/** Within the grace period, with what the Sentinels take. */
const MAX_LAG_MS = 1_500;
const RUN_MS = 3_600_000;

const stacks: FaultStackOn[] = [];
afterAll(async () => {
  await Promise.all(stacks.map((faults) => faults.stop()));
}, 90_000);

/** How far the replica is behind when its master dies. */
interface Lag {
  /** Requests on each key before it begins to lag, and while it does. */
  readonly before: number;
  readonly answers: number;
  /** Beside the answers, which can take less than no time. */
  readonly lagMs: number;
  /** What is on its way to it is lost, too; else it is only late. */
  readonly isCut: boolean;
  /** It goes on before its master dies: so long before, else so long afterwards. */
  readonly catchesUp: boolean;
  readonly goesOnMs: number;
}

/** While the replica has nothing of so many answers on each key, its master dies. */
const REPLICA_BEHIND: Lag = {
  before: 0,
  answers: 5,
  lagMs: 0,
  isCut: true,
  catchesUp: false,
  goesOnMs: 0,
};

function drawLag(draw: Draw): Lag {
  return {
    before: draw.below(20),
    answers: draw.below(8),
    lagMs: draw.below(MAX_LAG_MS),
    isCut: draw.fraction() >= 0.3,
    catchesUp: draw.fraction() < 0.3,
    goesOnMs: draw.below(MAX_LAG_MS),
  };
}

interface Pair {
  readonly master: SentinelNode;
  readonly replica: SentinelNode;
}

async function failOver(
  redis: SentinelRedis,
  { master, replica }: Pair,
  { answered }: RunningScenario,
  lag: Lag,
): Promise<Faults> {
  await answered(lag.before);
  const fromMs = performance.now() - IN_TRANSIT_MS;
  replica.freeze();
  let untilMs: number;
  try {
    if (lag.isCut) await master.command("CLIENT", "KILL", "TYPE", "REPLICA");
    await answered(lag.answers);
    await wait(lag.lagMs);
    if (lag.catchesUp) {
      replica.thaw();
      await wait(lag.goesOnMs);
    }
  } finally {
    master.kill();
    untilMs = performance.now() + IN_TRANSIT_MS;
    if (!lag.catchesUp) await wait(lag.goesOnMs);
    replica.thaw();
  }
  await redis.waitForFailover(replica);
  return { unreplicated: { fromMs, untilMs } };
}

describe("charged and used agree, but for what no replica had, which the request log brings back", () => {
  it.each(readSeeds())(
    `after failovers of Sentinel's with a replica that is behind, then with one that lags at random moments (${FAILOVERS} times): seed %i`,
    async (seed) => {
      const draw = createDraw(seed);
      const redis = await startRedisWithSentinels();
      const { sentinels, name } = redis;
      const faults = await startFaultStackOn({
        address: { sentinels, name },
        settings: { sentinels, name },
        stop: () => redis.stop(),
      });
      stacks.push(faults);
      const problems: string[] = [];
      let pair: Pair = redis;
      const lags = [REPLICA_BEHIND, ...Array.from({ length: FAILOVERS }, () => drawLag(draw))];
      for (const [count, lag] of lags.entries()) {
        const title =
          count === 0
            ? "Sentinel failover, replica behind"
            : `failover ${count}, seed ${seed}, ${JSON.stringify(lag)}`;
        const named = { name: title, turn: count + seed - 1 };
        const found = await runFailover(faults, named, (running) => failOver(redis, pair, running, lag));
        problems.push(...found.map((problem) => `${title}: ${problem}`));
        await redis.restartAsReplica(pair.master);
        pair = { master: pair.replica, replica: pair.master };
      }
      problems.push(...(await restartStackAtNight(faults, { isLogShort: false })));
      expect(problems).toEqual([]);
    },
    RUN_MS,
  );
});
