import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { onTestFinished } from "vitest";
import { stringify } from "yaml";
import { BUNDLE } from "../../../src/operation/setup/build.js";
import { isRunning } from "../../../src/operation/setup/process-identity.js";
import { type Child, startChild } from "../../support/child.ts";
import { findFreePort } from "../../support/free-port.ts";
import { catalogEntry, mergeConfig } from "../../support/gateway-config.ts";
import { waitFor } from "../../support/wait.ts";

const SUPPORT = fileURLToPath(new URL(".", import.meta.url));
const REPOSITORY = fileURLToPath(new URL("../../../", import.meta.url));
/** One level below the repository, as `src` and `dist` are: see package-files.ts. */
const BUNDLES = join(REPOSITORY, ".cache");

/** A folder that goes with the test. */
export function createTestFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "igw-"));
  // A stack that is still ending may put a file there meanwhile.
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }));
  return folder;
}

/** Ends a program with the test, before its folder goes; by force when it takes too long. */
export function endWithTest(child: Child): void {
  onTestFinished(async () => {
    await child.stop(15_000).catch(() => undefined);
  });
}

/** Writes a `gateway.yaml` on free ports with one upstream and one model. */
export async function writeTestConfig(folder: string, overrides: object = {}): Promise<string> {
  const path = join(folder, "gateway.yaml");
  const base = {
    listen: { port: await findFreePort() },
    admin: { port: await findFreePort() },
    sidecar: { workers: 2, sockets: "run" },
    upstreams: [{ name: "local", url: "http://127.0.0.1:9" }],
    catalog: [catalogEntry()],
  };
  writeFileSync(path, stringify(mergeConfig(base, overrides)));
  return path;
}

/** A program of this name that runs one of the stand-ins. */
export function writeProgram(path: string, script: string): string {
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

export interface NotedProcess {
  readonly name: string;
  readonly pid: number;
  readonly startTime: string | null;
}

export interface StandInStack {
  readonly child: Child;
  readonly folder: string;
  /** Redis, the gateway and Envoy, as the launcher noted them, and the gateway's workers. */
  processes(): readonly NotedProcess[];
}

let bundled: Promise<StandIns> | null = null;

interface StandIns {
  readonly launcher: string;
  readonly gateway: string;
}

/** Once for all tests of a file: run from their sources, each of a stack's four processes would translate them anew. */
function bundleStandIns(): Promise<StandIns> {
  bundled ??= buildStandIns();
  return bundled;
}

async function buildStandIns(): Promise<StandIns> {
  const program = (name: string) => join(SUPPORT, `${name}.ts`);
  const entryPoints = [program("run-launch"), program("gateway-stand-in")];
  await build({ ...BUNDLE, entryPoints, outdir: BUNDLES });
  return { launcher: join(BUNDLES, "run-launch.js"), gateway: join(BUNDLES, "gateway-stand-in.js") };
}

/** Starts the launcher with stand-ins for Envoy and the gateway and a real Redis; does not wait for anything. */
export async function startStandInStack(
  options: { overrides?: object; env?: Record<string, string> } = {},
): Promise<StandInStack> {
  const folder = createTestFolder();
  const configFile = await writeTestConfig(folder, options.overrides);
  const script = `exec '${process.execPath}' '${join(SUPPORT, "envoy-stand-in.mjs")}' "$@"`;
  const envoy = writeProgram(join(folder, "envoy"), script);
  const { launcher, gateway } = await bundleStandIns();
  const child = startChild(process.execPath, [launcher, configFile, gateway], {
    cwd: REPOSITORY,
    env: { ...process.env, ENVOY_BIN: envoy, ...options.env },
  });
  endWithTest(child);
  return stackIn(folder, child);
}

/** A stack whose data lie in `data` in this folder. */
export function stackIn(folder: string, child: Child): StandInStack {
  return { child, folder, processes: () => listProcesses(folder) };
}

/** The stack's one line, when the launcher says that it is ready. */
export async function waitForReadyLine(stack: StandInStack): Promise<Record<string, unknown>> {
  return stack.child.waitForLine("the ready line", (line) =>
    line.startsWith("{") ? (JSON.parse(line) as Record<string, unknown>) : null,
  );
}

/** Names of those that still run after ten seconds: none, where all is well. */
export async function listSurvivors(processes: readonly NotedProcess[]): Promise<readonly string[]> {
  const left = (): readonly string[] => processes.filter((one) => isRunning(one)).map(({ name }) => name);
  await waitFor("the end of all processes", () => left().length === 0).catch(() => undefined);
  return left();
}

function listProcesses(folder: string): readonly NotedProcess[] {
  const lock = join(folder, "data", "up.lock");
  if (!existsSync(lock)) return [];
  const { note = [] } = JSON.parse(readFileSync(lock, "utf8")) as { note?: readonly NotedProcess[] };
  const workers = note.flatMap(({ pid }) => childrenOf(pid));
  return [...note, ...workers.map((pid) => ({ name: `child ${pid}`, pid, startTime: null }))];
}

/** Linux keeps them per thread; these programs start their children from the first. */
function childrenOf(pid: number): readonly number[] {
  const path = `/proc/${pid}/task/${pid}/children`;
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8").split(" ").filter(Boolean).map(Number);
}
