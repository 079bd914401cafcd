/** Findings about workers and Envoy: the real ones of a running gateway, and further real Envoys. */
import { readFile, writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { loadConfig } from "../../../src/shared/config/load.ts";
import { checkWorkers } from "../../../src/operation/doctor/check-workers.ts";
import { ensureEnvoy } from "../../../src/operation/setup/envoy.ts";
import { createToolContext } from "../../../src/operation/setup/tool-context.ts";
import { startServeAlone } from "../../envoy/access/serve-alone.ts";
import { findWorker, readEnvoyAdmin } from "../../envoy/access/worker-processes.ts";
import { CHAT_PATH, chatBody } from "../../support/chat-stack.ts";
import { startChild } from "../../support/child.ts";
import { textCompletion } from "../../support/scripted-answer.ts";
import { catalogEntry } from "../../support/gateway-config.ts";
import { type EditableBootstrap, startSideEnvoy } from "../../support/side-envoy.ts";
import { type Stack, startStack } from "../../support/stack.ts";
import { type ScriptedUpstream, startUpstream } from "../../support/upstream.ts";
import { waitFor } from "../../support/wait.ts";
import type { DoctorWorld, Provocation, Report } from "./provocation.ts";

type Filter = Record<string, unknown> & { name: string; typed_config: Record<string, unknown> };
const AUTHZ = "envoy.filters.http.ext_authz";
const PROC = "envoy.filters.http.ext_proc";

interface Running {
  readonly stack: Stack;
  /** Server of the upstream `local`. */
  readonly upstream: ScriptedUpstream;
  /** Answers health checks. */
  readonly healthy: ScriptedUpstream;
}

let running: Running | null = null;
/** Its refusals are counted by themselves. */
export const OTHER_MODEL = "acme/other";

/** One gateway and its upstreams for all findings of processes and upstreams, started when the first wants them. */
export async function getRunning({ closedPort }: DoctorWorld): Promise<Running> {
  if (running === null) {
    const [upstream, healthy] = [await startUpstream(), await startUpstream()];
    healthy.answer({ kind: "json", body: {} });
    const gone = (host: string) => ({ url: `http://${host}:${closedPort}` });
    const checked = { path_prefix: "/v1", health_check: { path: "/health", interval_seconds: 1 } };
    const upstreams = [
      { name: "local", url: upstream.url, path_prefix: "/v1" },
      { name: "half", endpoints: [{ url: healthy.url }, gone("127.0.0.2")], ...checked },
      { name: "gone", endpoints: [gone("127.0.0.1"), gone("127.0.0.2")], ...checked },
    ];
    const catalog = [catalogEntry(), catalogEntry({ id: OTHER_MODEL })];
    running = { stack: await startStack({ upstreams, catalog }), upstream, healthy };
  }
  return running;
}

const getStack = async (world: DoctorWorld): Promise<Stack> => (await getRunning(world)).stack;

export async function stopProcesses(): Promise<void> {
  await running?.stack.stop();
  await running?.upstream.close();
  await running?.healthy.close();
}

/** Another Envoy, whose bootstrap is the rendered one but for this change. */
async function examineEdited(
  world: DoctorWorld,
  edit: (bootstrap: EditableBootstrap) => void,
): Promise<Report> {
  const stack = await getStack(world);
  const dir = await world.createFolder();
  const bootstrap = await readFile(join(stack.dir, "run/envoy.yaml"), "utf8");
  const envoy = await startSideEnvoy({ bootstrap, edit, dir, name: "envoy-admin" });
  try {
    return await world.examine({ sidecar: { sockets: dir } });
  } finally {
    await envoy.stop();
  }
}

const editFilters = (world: DoctorWorld, change: (filters: Filter[]) => Filter[]): Promise<Report> =>
  examineEdited(world, ({ manager }) => {
    manager["http_filters"] = change(manager["http_filters"] as Filter[]);
  });

const without = (name: string) => (filters: Filter[]) => filters.filter((filter) => filter.name !== name);

const letPass = (filters: Filter[]): Filter[] =>
  filters.map((filter) =>
    filter.name === AUTHZ
      ? { ...filter, typed_config: { ...filter.typed_config, failure_mode_allow: true } }
      : filter,
  );

const swap = (filters: Filter[]): Filter[] => {
  const others = filters.filter(({ name }) => name !== PROC);
  const proc = filters.filter(({ name }) => name === PROC);
  const place = others.findIndex(({ name }) => name === AUTHZ);
  return others.toSpliced(place, 0, ...proc);
};

/** An Envoy that has nothing but its admin interface. */
async function examineEmptyEnvoy(world: DoctorWorld): Promise<Report> {
  const dir = await world.createFolder();
  const file = join(dir, "empty.yaml");
  const admin = { address: { pipe: { path: join(dir, "envoy-admin.sock"), mode: 0o600 } } };
  await writeFile(file, stringify({ admin }));
  const { path } = await ensureEnvoy(createToolContext());
  const child = startChild(path, ["-c", file, "--disable-hot-restart", "--log-level", "warning"]);
  try {
    await waitFor("Envoy", async () => (await readEnvoyAdmin(dir, "/ready")).includes("LIVE"));
    return await world.examine({ sidecar: { sockets: dir } });
  } finally {
    await child.stop(10_000);
  }
}

function orderEnvoy(socketPath: string, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const call = request({ socketPath, path, method: "POST" }, (answer) => {
      answer.resume().once("end", resolve);
    });
    call.once("error", reject);
    call.end();
  });
}

/** Envoy's admin interface by a proxy that changes the version. */
async function examineOlderEnvoy(world: DoctorWorld): Promise<Report> {
  const stack = await getStack(world);
  const dir = await world.createFolder();
  const proxy = createServer((call, answer) => {
    void readEnvoyAdmin(join(stack.dir, "run"), call.url ?? "/").then((text) =>
      answer.end(text.replace(/\/1\.\d+\.\d+\/(?=\w+\/RELEASE)/, "/1.38.2/")),
    );
  });
  await new Promise<void>((resolve) => proxy.listen(join(dir, "envoy-admin.sock"), resolve));
  try {
    return await world.examine({ sidecar: { sockets: dir } });
  } finally {
    proxy.close();
  }
}

async function examineDrainingEnvoy(world: DoctorWorld): Promise<Report> {
  const stack = await getStack(world);
  const socket = join(stack.dir, "run/envoy-admin.sock");
  await orderEnvoy(socket, "/healthcheck/fail");
  try {
    return await world.examineFile(stack.configFile);
  } finally {
    await orderEnvoy(socket, "/healthcheck/ok");
  }
}

/** The running gateway's configuration with one upstream more than its Envoy was started with. */
async function examineNewUpstream(world: DoctorWorld): Promise<Report> {
  const stack = await getStack(world);
  const config = parse(await readFile(stack.configFile, "utf8")) as { upstreams: object[] };
  config.upstreams.push({ name: "added", url: "http://127.0.0.1:9" });
  const file = join(stack.dir, "added.yaml");
  await writeFile(file, stringify(config));
  return world.examineFile(file);
}

async function examineStoppedWorker(world: DoctorWorld): Promise<Report> {
  const stack = await getStack(world);
  const pid = findWorker(stack.configFile, 0);
  process.kill(pid, "SIGSTOP");
  try {
    const report = await world.examineFile(stack.configFile);
    // It hangs, which is not the same.
    const codes = report.findings.map(({ code }) => code);
    if (codes.includes("gateway_not_running")) throw new Error("said not to run");
    return report;
  } finally {
    process.kill(pid, "SIGCONT");
  }
}

/**
 * A gateway that was told to end. It says so for a second and a half before it takes no connections any more, which is
 * less than the command may need to start: so its check is called by itself.
 */
async function examineDrainingWorker(): Promise<Report> {
  const gateway = await startServeAlone({ upstreamUrl: "http://127.0.0.1:9", workers: 1, drainSeconds: 10 });
  try {
    const config = loadConfig(gateway.configFile, { secrets: "own" });
    gateway.serve.signal("SIGTERM");
    const findings = await waitFor("the worker to say that it drains", async () => {
      const seen = await checkWorkers(config);
      return seen.some(({ code }) => code === "worker_not_serving") && seen;
    });
    return { findings, isSound: true };
  } finally {
    await gateway.stop();
  }
}

/** The upstream counts far more tokens than the prompt has bytes: its template takes them. */
async function examineLargeTemplate(world: DoctorWorld, fields: object = {}): Promise<Report> {
  const { stack, upstream } = await getRunning(world);
  const usage = { promptTokens: 5_000, cachedTokens: 0, completionTokens: 1 };
  upstream.answer({ kind: "json", body: textCompletion("x", usage) });
  const { status } = await stack.send({ path: CHAT_PATH, body: chatBody(fields) });
  if (status !== 200) throw new Error(`the request for a large template: ${status}`);
  return world.examineFile(stack.configFile);
}

export const PROCESS_FAULTS = {
  gateway_not_running: [
    {
      name: "nothing runs",
      provoke: (world) => world.examine(),
      says: /^No gateway runs with this configuration/,
    },
  ],
  worker_silent: [
    { name: "nothing runs", provoke: (world) => world.examine(), says: /gateway-0\.sock doesn't respond/ },
    { name: "it hangs", provoke: examineStoppedWorker, says: /no response in 3 s/ },
  ],
  worker_not_serving: [
    { name: "it drains", provoke: examineDrainingWorker, says: /reports that it isn't serving/ },
  ],
  envoy_unreachable: [
    { name: "nothing runs", provoke: (world) => world.examine(), says: /envoy-admin\.sock doesn't respond/ },
  ],
  envoy_not_live: [{ name: "it drains", provoke: examineDrainingEnvoy, says: /Envoy reports DRAINING/ }],
  envoy_unproven: [
    {
      name: "it is too old",
      provoke: examineOlderEnvoy,
      says: /^Envoy 1\.38\.2 is not one of .*1\.39, 1\.40/,
    },
  ],
  envoy_no_listener: [
    { name: "it has a bootstrap without one", provoke: examineEmptyEnvoy, says: /no HTTP listener/ },
  ],
  envoy_filters_wrong: [
    {
      name: "ext_authz is gone",
      provoke: (world) => editFilters(world, without(AUTHZ)),
      says: /ext_authz is missing/,
    },
    {
      name: "ext_proc is gone",
      provoke: (world) => editFilters(world, without(PROC)),
      says: /ext_proc is missing/,
    },
    { name: "they are swapped", provoke: (world) => editFilters(world, swap), says: /before ext_authz/ },
    {
      name: "ext_authz fails open",
      provoke: (world) => editFilters(world, letPass),
      says: /ext_authz lets requests pass when it fails/,
    },
    {
      name: "ext_proc is switched off",
      provoke: (world) =>
        editFilters(world, (filters) =>
          filters.map((filter) => (filter.name === PROC ? { ...filter, disabled: true } : filter)),
        ),
      says: /ext_proc is disabled/,
    },
  ],
  envoy_cluster_missing: [
    {
      name: "an upstream came after Envoy's start",
      provoke: examineNewUpstream,
      says: /no cluster for the upstreams added/,
    },
  ],
  prompt_overhead_exceeded: [
    {
      name: "an upstream counts more than the prompt's bytes and `prompt_overhead_tokens`",
      provoke: (world) => examineLargeTemplate(world),
      says: /^acme\/echo-small: .* took 4\d{3} tokens in addition to the prompt, but `prompt_overhead_tokens` is 64\.$/m,
    },
    {
      name: "it does so with tools",
      provoke: (world) =>
        examineLargeTemplate(world, { tools: [{ type: "function", function: { name: "f" } }] }),
      says: /took 4\d{3} tokens .* `prompt_overhead_tokens_with_tools` is 512\.$/m,
    },
  ],
} as const satisfies Record<string, readonly Provocation[]>;
