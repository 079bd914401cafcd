import type { Metrics } from "./metrics.ts";

type Call = (...values: never[]) => unknown;

/** Operations whose latency says something of the path; others would wait for whole scans. */
const TIMED = ["admit", "lookUpKey", "hold", "charge", "renew", "close", "forget", "recordRequest", "timeMs"];

/** The same object, with the answers of its operations timed and its failures counted. */
export function meterCalls<Target extends object>(
  target: Target,
  metrics: Pick<Metrics, "redisLatency" | "redisErrors">,
): Target {
  // Getters must stay getters, so that what they show is never an old value.
  const metered = Object.create(null, Object.getOwnPropertyDescriptors(target)) as Record<string, unknown>;
  for (const operation of TIMED) {
    const call = metered[operation];
    if (typeof call !== "function") continue;
    const latency = metrics.redisLatency.labels({ operation });
    const errors = metrics.redisErrors.labels({ operation });
    errors.inc(0);
    const observed = async (...values: never[]): Promise<unknown> => {
      const startMs = performance.now();
      try {
        return await (call as Call)(...values);
      } catch (error) {
        errors.inc();
        throw error;
      } finally {
        latency.observe((performance.now() - startMs) / 1000);
      }
    };
    Object.defineProperty(metered, operation, { value: observed, enumerable: true });
  }
  return metered as Target;
}

/** The same object; what its `close` closed is counted. */
export function countClosed<Target extends { close(request: never): Promise<string> }>(
  target: Target,
  closed: { inc(): void },
): Target {
  const metered = Object.create(null, Object.getOwnPropertyDescriptors(target)) as Target;
  const close = async (request: never): Promise<string> => {
    const outcome = await target.close(request);
    if (outcome === "closed") closed.inc();
    return outcome;
  };
  Object.defineProperty(metered, "close", { value: close, enumerable: true });
  return metered;
}
