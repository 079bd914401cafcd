/** IPC messages between processes of a host. Plain JSON; unknown messages are ignored. */
import * as z from "zod";

const failed = z.object({ type: z.literal("failed"), message: z.string() });
const application = z.object({ type: z.literal("application"), body: z.unknown() });

/** `url`: set by processes that serve pages. */
const ready = z.object({ type: z.literal("ready"), url: z.string().optional() });
export type ReadyReport = z.output<typeof ready>;

/**
 * From a worker or the admin process to its supervisor. `configuration_wanted` is the first, and is answered
 * by `configuration`.
 */
const workerReport = z.discriminatedUnion("type", [
  z.object({ type: z.literal("configuration_wanted") }),
  ready,
  failed,
  application,
]);
export type WorkerReport = z.output<typeof workerReport>;

/** From the supervisor to a worker or the admin process. `configuration` is the result of `transferConfig`. */
const workerOrder = z.discriminatedUnion("type", [
  z.object({ type: z.literal("drain"), boundMs: z.number() }),
  z.object({ type: z.literal("configuration"), config: z.unknown() }),
  z.object({ type: z.literal("catalog"), catalog: z.unknown() }),
  application,
]);
export type WorkerOrder = z.output<typeof workerOrder>;

/**
 * From `serve` to the launcher that started it. `redis_awaited`: it has waited for two seconds, and continues
 * waiting.
 */
const serveReport = z.discriminatedUnion("type", [
  z.object({ type: z.literal("ready"), adminUrl: z.string().nullable(), demoKey: z.string().nullable() }),
  z.object({ type: z.literal("redis_awaited"), address: z.string() }),
  failed,
]);
export type ServeReport = z.output<typeof serveReport>;

/** Returns the message if it is from a worker, otherwise null. */
export function parseWorkerReport(value: unknown): WorkerReport | null {
  return workerReport.safeParse(value).data ?? null;
}

/** Returns the message if it is from the supervisor, otherwise null. */
export function parseWorkerOrder(value: unknown): WorkerOrder | null {
  return workerOrder.safeParse(value).data ?? null;
}

/** Returns the message if it is from `serve`, otherwise null. */
export function parseServeReport(value: unknown): ServeReport | null {
  return serveReport.safeParse(value).data ?? null;
}
