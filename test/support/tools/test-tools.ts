import { ensureCompiler } from "./c-compiler.ts";
import { findChromium } from "./chromium.ts";
import { ensureClientPython } from "./client-python.ts";
import { ensureEnvoy } from "../../../src/setup/envoy.ts";
import { findHelm } from "./helm.ts";
import { findPrometheus } from "./prometheus.ts";
import { prepareShells } from "./shells.ts";
import { ensureRedisServer } from "../../../src/setup/redis.ts";
import { createToolContext, type Tool, type ToolContext } from "../../../src/setup/tool-context.ts";

/**
 * Everything that the tests start besides Node, as the environment variables by which they find it. What comes from
 * different places is fetched at the same time: pip, apt (which works alone) and Go wait for different things.
 *
 * @throws {SetupError} one sentence that says what to install
 */
export async function prepareTestTools(requirementsFile: string): Promise<Record<string, string>> {
  const context = createToolContext();
  // Alone: the first of them may have to make the pip that all others then find.
  const envoy = await ensureEnvoy(context);
  const redis = await ensureRedisServer(context);
  const variables = await Promise.allSettled([
    ensureClientPython(context, requirementsFile).then((python) => ({ IGW_PYTHON: python })),
    prepareDebianTools(context),
    nameTool("CC", ensureCompiler(context)),
    nameTool("HELM_BIN", findHelm(context)),
  ]);
  // Not before the last has ended: whoever waits for this set-up would begin beside it.
  const failed = variables.find((each) => each.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  const found = variables.flatMap((each) => (each.status === "fulfilled" ? Object.entries(each.value) : []));
  return { ENVOY_BIN: envoy.path, REDIS_SERVER_BIN: redis.path, ...Object.fromEntries(found) };
}

/** One after the other, since apt holds a lock. */
async function prepareDebianTools(context: ToolContext): Promise<Record<string, string>> {
  const browser = await nameTool("CHROMIUM_BIN", findChromium(context));
  await prepareShells(context);
  const found = await findPrometheus(context);
  if (found === null) return browser;
  return { ...browser, PROMETHEUS_BIN: found.prometheus, PROMTOOL_BIN: found.promtool };
}

async function nameTool(variable: string, search: Promise<Tool | null>): Promise<Record<string, string>> {
  const tool = await search;
  return tool === null ? {} : { [variable]: tool.path };
}
