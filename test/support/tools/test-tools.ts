import { ensureEnvoy } from "../../../src/operation/setup/envoy.ts";
import { ensureRedisServer } from "../../../src/operation/setup/redis.ts";
import { createToolContext, type Tool, type ToolContext } from "../../../src/operation/setup/tool-context.ts";
import { ensureCompiler } from "./c-compiler.ts";
import { findChromium } from "./chromium.ts";
import { ensureClientPython } from "./client-python.ts";
import { findHelm } from "./helm.ts";
import type { Need } from "./needs.ts";
import { findPrometheus } from "./prometheus.ts";
import { prepareShells } from "./shells.ts";

/** Environment variables by which tests find what they start. */
type Variables = Readonly<Record<string, string>>;

/** What prepares the clone itself, and the file that names the Python packages. */
export interface CloneSetup {
  readonly build: () => Promise<void>;
  readonly checkTypes: () => Promise<void>;
  readonly installNodeSdks: (progress: ToolContext["progress"]) => Promise<void>;
  readonly requirementsFile: string;
}

const PREPARE: Readonly<Record<Need, (context: ToolContext, clone: CloneSetup) => Promise<Variables>>> = {
  build: (_context, { build }) => build().then(() => ({})),
  types: (_context, { checkTypes }) => checkTypes().then(() => ({})),
  redis: (context) => nameTool("REDIS_SERVER_BIN", ensureRedisServer(context)),
  compiler: (context) => nameTool("CC", ensureCompiler(context)),
  envoy: (context) => nameTool("ENVOY_BIN", ensureEnvoy(context)),
  "node-sdks": ({ progress }, { installNodeSdks }) => installNodeSdks(progress).then(() => ({})),
  python: async (context, { requirementsFile }) => ({
    IGW_PYTHON: await ensureClientPython(context, requirementsFile),
  }),
  chromium: (context) => nameTool("CHROMIUM_BIN", findChromium(context)),
  shells: (context) => prepareShells(context).then(() => ({})),
  prometheus: async (context) => {
    const found = await findPrometheus(context);
    return found === null ? {} : { PROMETHEUS_BIN: found.prometheus, PROMTOOL_BIN: found.promtool };
  },
  helm: (context) => nameTool("HELM_BIN", findHelm(context)),
};

/** Prepared at the same time as everything else: they wait for npm packages. */
const OF_THE_CLONE: readonly Need[] = ["types", "build"];
/** Prepared before the others: it may use apt, and may have to make the pip that the others then find. */
const FIRST: readonly Need[] = ["redis", "compiler"];
/** Prepared at the same time, since npm, pip, apt and Go wait for different things; in a row one by one, since apt has a lock. */
const REST: readonly (readonly Need[])[] = [
  ["envoy"],
  ["node-sdks"],
  ["python"],
  ["helm"],
  ["chromium", "shells", "prometheus"],
];

/**
 * Finds, makes or installs what tests need, and nothing else.
 *
 * @returns Variables for their environment.
 * @throws {SetupError} one sentence that says what to install
 */
export async function prepareTools(
  needs: readonly Need[],
  lines: Pick<ToolContext, "notice" | "progress">,
  clone: CloneSetup,
): Promise<Variables> {
  const context = createToolContext(lines);
  const prepareRow = async (row: readonly Need[]): Promise<Variables> => {
    let variables: Variables = {};
    for (const need of row.filter((one) => needs.includes(one))) {
      variables = { ...variables, ...(await PREPARE[need](context, clone)) };
    }
    return variables;
  };
  const programs = async (): Promise<Variables> => ({
    ...(await prepareRow(FIRST)),
    ...(await mergeSettled(REST.map(prepareRow))),
  });
  return mergeSettled([prepareRow(OF_THE_CLONE), programs()]);
}

/** @throws the first failure, but not before the last has ended: whoever waits for this set-up would begin beside it. */
async function mergeSettled(preparations: readonly Promise<Variables>[]): Promise<Variables> {
  const ended = await Promise.allSettled(preparations);
  const failed = ended.find((each) => each.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return Object.assign(
    {},
    ...ended.map((each) => (each.status === "fulfilled" ? each.value : {})),
  ) as Variables;
}

async function nameTool(variable: string, search: Promise<Tool | null>): Promise<Variables> {
  const tool = await search;
  return tool === null ? {} : { [variable]: tool.path };
}
