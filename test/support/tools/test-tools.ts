import { ensureCompiler } from "./c-compiler.ts";
import { findChromium } from "./chromium.ts";
import { ensureClientPython } from "./client-python.ts";
import { ensureEnvoy } from "../../../src/setup/envoy.ts";
import { findHelm } from "./helm.ts";
import { findPrometheus } from "./prometheus.ts";
import { ensureRedisServer } from "../../../src/setup/redis.ts";
import { createToolContext } from "../../../src/setup/tool-context.ts";

/**
 * Everything that the tests start besides Node, as the environment variables by which they find it.
 *
 * @throws {SetupError} one sentence that says what to install
 */
export async function prepareTestTools(requirementsFile: string): Promise<Record<string, string>> {
  const context = createToolContext();
  const envoy = await ensureEnvoy(context);
  const redis = await ensureRedisServer(context);
  const python = await ensureClientPython(context, requirementsFile);
  const chromium = await findChromium(context);
  const browser: Record<string, string> = chromium === null ? {} : { CHROMIUM_BIN: chromium.path };
  const prometheus = await findPrometheus(context);
  const alarms: Record<string, string> =
    prometheus === null ? {} : { PROMETHEUS_BIN: prometheus.prometheus, PROMTOOL_BIN: prometheus.promtool };
  const compiler = await ensureCompiler(context);
  const clock: Record<string, string> = compiler === null ? {} : { CC: compiler.path };
  const helm = await findHelm(context);
  const chart: Record<string, string> = helm === null ? {} : { HELM_BIN: helm.path };
  return {
    ...browser,
    ...alarms,
    ...chart,
    ...clock,
    ENVOY_BIN: envoy.path,
    REDIS_SERVER_BIN: redis.path,
    IGW_PYTHON: python,
  };
}
