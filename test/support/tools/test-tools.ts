import { ensureCompiler } from "./c-compiler.ts";
import { findChromium } from "./chromium.ts";
import { ensureClientPython } from "./client-python.ts";
import { ensureEnvoy } from "../../../src/setup/envoy.ts";
import { findHelm } from "./helm.ts";
import { findPrometheus } from "./prometheus.ts";
import { prepareShells } from "./shells.ts";
import { ensureRedisServer } from "../../../src/setup/redis.ts";
import { createToolContext, type Tool, type ToolContext } from "../../../src/setup/tool-context.ts";

/** Environment variables by which tests find what they start. */
type Variables = Readonly<Record<string, string>>;
type Lines = Pick<ToolContext, "notice" | "progress">;

/**
 * What tests of units and of the store start besides Node.
 *
 * @throws {SetupError} one sentence that says what to install
 */
export async function prepareStoreTools(lines: Lines): Promise<Variables> {
  const context = createToolContext(lines);
  // One after the other: the first of them may have to make the pip that all others then find.
  const redis = await ensureRedisServer(context);
  return { REDIS_SERVER_BIN: redis.path, ...(await nameTool("CC", ensureCompiler(context))) };
}

/**
 * What tests of whole stacks start besides that. What comes from different places is fetched at the same time: pip, apt
 * (which works alone) and Go wait for different things. Called once `prepareStoreTools` is through.
 *
 * @throws {SetupError} one sentence that says what to install
 */
export async function prepareStackTools(lines: Lines, requirementsFile: string): Promise<Variables> {
  const context = createToolContext(lines);
  const variables = await Promise.allSettled([
    nameTool("ENVOY_BIN", ensureEnvoy(context)),
    ensureClientPython(context, requirementsFile).then((python) => ({ IGW_PYTHON: python })),
    prepareDebianTools(context),
    nameTool("HELM_BIN", findHelm(context)),
  ]);
  // Not before the last has ended: whoever waits for this set-up would begin beside it.
  const failed = variables.find((each) => each.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  const found = variables.flatMap((each) => (each.status === "fulfilled" ? Object.entries(each.value) : []));
  return Object.fromEntries(found);
}

/** One after the other, since apt holds a lock. */
async function prepareDebianTools(context: ToolContext): Promise<Variables> {
  const browser = await nameTool("CHROMIUM_BIN", findChromium(context));
  await prepareShells(context);
  const found = await findPrometheus(context);
  if (found === null) return browser;
  return { ...browser, PROMETHEUS_BIN: found.prometheus, PROMTOOL_BIN: found.promtool };
}

async function nameTool(variable: string, search: Promise<Tool | null>): Promise<Variables> {
  const tool = await search;
  return tool === null ? {} : { [variable]: tool.path };
}
