import { mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { findOnPath } from "../../../src/operation/setup/find-executable.ts";
import { findTool } from "../../../src/operation/setup/find-tool.ts";
import { withProgress } from "../../../src/operation/setup/progress.js";
import { lastLine } from "../../../src/operation/setup/run-command.js";
import type { ToolContext } from "../../../src/operation/setup/tool-context.ts";
import { APT_OPTIONS } from "./debian-packages.ts";

/** The server and the program that checks rules; both come together. */
export interface Prometheus {
  readonly prometheus: string;
  readonly promtool: string;
}

const FOLDER = "prometheus-debian";
const VARIABLES = { prometheus: "PROMETHEUS_BIN", promtool: "PROMTOOL_BIN" } as const;

/**
 * Prometheus and promtool for the tests of alarms: PROMETHEUS_BIN and PROMTOOL_BIN, else PATH, else what an earlier
 * run unpacked, else Debian's package, unpacked into this clone's `.tools` and not installed: its service would start
 * with the machine. Null: there is none, and those tests are skipped; everything else is tested without it.
 *
 * @throws {SetupError} when a variable names something that does not run
 */
export async function findPrometheus(context: ToolContext): Promise<Prometheus | null> {
  let unpacking: Promise<string | null> | null = null;
  const find = (program: keyof Prometheus) =>
    findTool(context, {
      variable: VARIABLES[program],
      programs: [program],
      check: async (path) => ((await runsHere(context, path)) ? null : "does not run"),
      installed: [
        {
          source: "debian",
          path: () => join(context.toolsDir, FOLDER, "usr", "bin", program),
          install: () => (unpacking ??= unpackDebian(context)),
        },
      ],
    });
  const prometheus = await find("prometheus");
  const promtool = await find("promtool");
  if (typeof prometheus !== "string" && typeof promtool !== "string") {
    return { prometheus: prometheus.path, promtool: promtool.path };
  }
  const reason = [prometheus, promtool].find((one) => typeof one === "string");
  context.notice(
    `There is no Prometheus (${reason}): the tests of alarms with it are skipped. ` +
      "Install prometheus and promtool, or set PROMETHEUS_BIN and PROMTOOL_BIN.",
  );
  return null;
}

/** Downloads the package and takes it apart; nothing of it is set up. Null, or why it did not work. */
async function unpackDebian(context: ToolContext): Promise<string | null> {
  const apt = findOnPath("apt-get", context.env);
  const dpkg = findOnPath("dpkg", context.env);
  if (apt === null || dpkg === null) return "this is no Debian, and it is not on PATH";
  const target = join(context.toolsDir, FOLDER);
  const draft = `${target}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  try {
    const unpack = async () => {
      // Lists may be missing or old, and only root may renew them.
      if (context.isRoot) await context.run(apt, ["update", "-qq", ...APT_OPTIONS], { timeoutMs: 120_000 });
      const download = ["download", "-qq", ...APT_OPTIONS, "prometheus"];
      const downloaded = await context.run(apt, download, { cwd: draft, timeoutMs: 180_000 });
      const archive = readdirSync(draft).find((name) => name.endsWith(".deb"));
      if (downloaded.code !== 0 || archive === undefined) return lastLine(downloaded);
      const unpacked = await context.run(dpkg, ["-x", join(draft, archive), draft], { timeoutMs: 60_000 });
      if (unpacked.code !== 0) return lastLine(unpacked);
      rmSync(join(draft, archive));
      rmSync(target, { recursive: true, force: true });
      renameSync(draft, target);
      return null;
    };
    return await withProgress("Unpacking Debian's prometheus", unpack, { write: context.progress });
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Both say `prometheus, version 2.42.0 …` or `promtool, version …`; on stderr in old versions. */
async function runsHere(context: ToolContext, path: string): Promise<boolean> {
  const { code, stdout, stderr } = await context.run(path, ["--version"], { timeoutMs: 20_000 });
  return code === 0 && /(?:prometheus|promtool), version/.test(stdout + stderr);
}
