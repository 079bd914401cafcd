import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { GraceOutage } from "../../../src/data-path/grace/grace-outage.ts";
import { GraceWorkers } from "../../../src/data-path/grace/grace-workers.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Redis as the test plays it: how many workers it tells of, or null while it is away. */
function open(redis: { workers: number | null }) {
  const announced: [workerId: string, forMs: number][] = [];
  const outage = new GraceOutage({
    clock: { monotonicMs: () => 0 },
    graceMs: 60_000,
    logger: { warn: () => undefined },
  });
  const workers = new GraceWorkers({
    store: {
      announceWorker: (workerId, forMs) => {
        announced.push([workerId, forMs]);
        return redis.workers === null
          ? Promise.reject(new Error("Redis is unreachable"))
          : Promise.resolve(redis.workers);
      },
    },
    workerId: "worker-0",
    workersOfHost: 2,
    outage,
  });
  return { workers, outage, announced };
}

describe("the workers that share a key's rate in an outage", () => {
  it("are those of this host until Redis has told, and never fewer", async () => {
    const redis = { workers: 6 };
    const { workers } = open(redis);
    expect(workers.count).toBe(2);
    workers.start();
    await vi.advanceTimersByTimeAsync(0);
    expect(workers.count).toBe(6);
    redis.workers = 1;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(workers.count).toBe(2);
    await workers.stop();
  });

  it("are as last told while Redis is unreachable, which a worker without requests learns so", async () => {
    const redis: { workers: number | null } = { workers: 6 };
    const { workers, outage } = open(redis);
    workers.start();
    await vi.advanceTimersByTimeAsync(0);
    redis.workers = null;
    await vi.advanceTimersByTimeAsync(5_000);
    expect([workers.count, outage.isOut]).toEqual([6, true]);
    redis.workers = 7;
    await vi.advanceTimersByTimeAsync(5_000);
    expect([workers.count, outage.isOut]).toEqual([7, false]);
    await workers.stop();
  });

  it("stop counting one that stops, also when Redis is unreachable then", async () => {
    const redis: { workers: number | null } = { workers: 2 };
    const { workers, announced } = open(redis);
    workers.start();
    await vi.advanceTimersByTimeAsync(0);
    redis.workers = null;
    await workers.stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(announced).toEqual([
      ["worker-0", 20_000],
      ["worker-0", 0],
    ]);
  });
});
