/** What processes of one host tell each other over IPC. Plain JSON; what is not known is passed over. */

/** From a worker to its supervisor. `configuration_wanted` is the first, and is answered by `configuration`. */
export type WorkerReport =
  | { readonly type: "configuration_wanted" }
  | { readonly type: "ready" }
  | { readonly type: "failed"; readonly message: string }
  | { readonly type: "application"; readonly body: unknown };

/** From the supervisor to a worker. */
export type WorkerOrder =
  | { readonly type: "drain"; readonly boundMs: number }
  /** As `transferConfig` writes it. */
  | { readonly type: "configuration"; readonly config: unknown }
  | { readonly type: "catalog"; readonly catalog: unknown }
  | { readonly type: "application"; readonly body: unknown };

/** From `serve` to the launcher that started it. */
export type ServeReport =
  | { readonly type: "ready"; readonly adminUrl: string | null; readonly demoKey: string | null }
  /** It has waited for Redis for two seconds, and goes on waiting. */
  | { readonly type: "redis_awaited"; readonly address: string }
  | { readonly type: "failed"; readonly message: string };

/** The message when it is one of a worker, else null. */
export function parseWorkerReport(value: unknown): WorkerReport | null {
  const record = asRecord(value);
  const type = record["type"];
  if (type === "ready" || type === "configuration_wanted") return { type };
  if (record["type"] === "failed") return { type: "failed", message: String(record["message"]) };
  if (record["type"] === "application") return { type: "application", body: record["body"] };
  return null;
}

/** The message when it is one of the supervisor, else null. */
export function parseWorkerOrder(value: unknown): WorkerOrder | null {
  const record = asRecord(value);
  const boundMs = record["boundMs"];
  if (record["type"] === "drain" && typeof boundMs === "number") return { type: "drain", boundMs };
  if (record["type"] === "configuration") return { type: "configuration", config: record["config"] };
  if (record["type"] === "catalog") return { type: "catalog", catalog: record["catalog"] };
  if (record["type"] === "application") return { type: "application", body: record["body"] };
  return null;
}

/** The message when it is one of `serve`, else null. */
export function parseServeReport(value: unknown): ServeReport | null {
  const record = asRecord(value);
  if (record["type"] === "failed") return { type: "failed", message: String(record["message"]) };
  if (record["type"] === "redis_awaited") {
    return { type: "redis_awaited", address: String(record["address"]) };
  }
  if (record["type"] !== "ready") return null;
  return { type: "ready", adminUrl: textOrNull(record["adminUrl"]), demoKey: textOrNull(record["demoKey"]) };
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
