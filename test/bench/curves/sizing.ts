/**
 * How many cores a rate of requests takes, by calculation from the CPU time of one request: of one among so many keys that
 * no two requests of a turn share a command to Redis.
 */
import type { CurvePoint } from "./curve.ts";
import { formatTable } from "../table.ts";

const RATES = [10, 1_000, 100_000];
/** Of each core: the rest is for peaks, garbage collection and a neighbour that is down. */
const USABLE = 0.5;

/** One Redis runs its scripts on one core; where half of that is not enough, organizations are spread over a cluster. */
export function formatSizing({ label, cpuMsPerRequest: cpu }: CurvePoint): string {
  const coresOf = (ms: number, rate: number): number => (ms * rate) / 1000 / USABLE;
  const rows = RATES.map((rate) => {
    const redis = Math.ceil(coresOf(cpu.redis, rate));
    return [
      rate.toLocaleString("en"),
      Math.max(2, Math.ceil(coresOf(cpu.sidecar, rate))).toLocaleString("en"),
      Math.max(2, Math.ceil(coresOf(cpu.envoy, rate))).toLocaleString("en"),
      redis <= 1 ? "one server" : `cluster of ${redis} primaries`,
    ];
  });
  const headings = ["requests per second", "workers (cores)", "Envoy threads (cores)", "Redis"];
  return [
    `From the requests of 1 kB of ${label} keys in turn: ${cpu.sidecar.toFixed(2)} ms of worker, ${cpu.envoy.toFixed(2)} ms of Envoy ` +
      `and ${cpu.redis.toFixed(2)} ms of Redis each, every core used by half, at least two workers.`,
    "",
    formatTable(headings, rows),
  ].join("\n");
}
