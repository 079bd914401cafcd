/**
 * A program with the commands `serve`, `worker` and `admin` as the launcher and the supervisor start them: their real process
 * code, around a worker that only listens. What a worker does besides is told by STAND_IN:
 * `fail` (cannot start), `exit` (ends at once after it was ready), `hang` (never drains).
 */
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { loadConfig } from "../../../src/shared/config/load.ts";
import type { RunningProcess, WorkerOptions } from "../../../src/operation/supervisor/gateway-parts.ts";
import { runServe } from "../../../src/operation/supervisor/run-serve.ts";
import { runAdmin, runWorker } from "../../../src/operation/supervisor/run-child.ts";
import { createLogger } from "../../../src/shared/telemetry/logger.ts";

const text = { type: "string" } as const;
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    config: text,
    sockets: text,
    "private-redis": text,
    "drain-seconds": text,
    index: text,
    address: text,
    demo: { type: "boolean" },
  },
});
const overrides = { sockets: values.sockets, privateRedis: values["private-redis"] };
const configFile = values.config ?? "";
const behaviour = process.env["STAND_IN"];

async function startStandIn({ address }: WorkerOptions): Promise<RunningProcess> {
  if (behaviour === "fail") throw new Error("the stand-in cannot start");
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(address.replace(/^unix:/, ""), resolve));
  if (behaviour === "exit") process.exit(7);
  return {
    drain: () =>
      behaviour === "hang"
        ? new Promise(() => undefined)
        : new Promise((resolve) => server.close(() => resolve())),
    replaceCatalog: (catalog) => process.stderr.write(`replaced by ${catalog[0]?.id}\n`),
  };
}

if (positionals[0] === "serve") {
  await runServe({
    configFile,
    loadConfig: () => loadConfig(configFile, { secrets: "own" }),
    overrides,
    entry: { modulePath: fileURLToPath(import.meta.url), args: ["--config", configFile] },
    startServices: async ({ demo }) => ({
      demoKey: demo === null ? null : (demo.storedKey ?? "sk-igw-stand-in"),
      deliverAlerts: () => undefined,
      close: async () => undefined,
    }),
    demo: values.demo === true,
    drainBoundMs: Number(values["drain-seconds"] ?? "1") * 1000,
    log: createLogger("supervisor"),
  });
} else if (positionals[0] === "admin") {
  await runAdmin({
    start: async () => ({
      url: "http://127.0.0.1:9",
      drain: async () => undefined,
      replaceCatalog: () => undefined,
    }),
  });
} else {
  await runWorker({
    index: Number(values.index),
    address: values.address ?? "",
    start: startStandIn,
  });
}
