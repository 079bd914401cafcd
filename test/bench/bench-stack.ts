/** Everything that a benchmark runs against: mock, gateway, and plain Envoy in front of the same mock. */
import { readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { type Child, startChild } from "../support/child.ts";
import { catalogEntry } from "../support/gateway-config.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { startAiGatewayPair } from "./ai-gateway-pair.ts";
import { startNoopPair } from "./noop-pair.ts";
import { startPlainEnvoy } from "./plain-envoy.ts";
import type { GatewayEnvoy } from "./processor-pair.ts";
import { findProcesses, type Process, type ProcessKind } from "./processes.ts";
import type { Side } from "./measure.ts";
import { type Mock, startMock } from "./mock.ts";
import { BENCH_MODEL } from "./workloads.ts";
import { monthLimits } from "../support/month-limits.ts";

const UPSTREAM = "mock";
/** Never used up. */
const FAR_TOKENS = 1_000_000_000;
/** Caps that are checked on every request and never reached. */
const FAR_CAP_CENTS = 9_000_000_000;

/** Characters of what a program that has ended wrote last. */
const SHOWN_STDERR = 16_000;

export interface BenchOptions {
  /** `sidecar.transport` of the configuration; its default when null. */
  readonly transport: string | null;
  readonly workers: number;
  /** Also a sidecar that decides nothing, behind an Envoy of its own. */
  readonly noop: boolean;
  /** Also Envoy AI Gateway's ext_proc server, this program, behind an Envoy of its own; null: not. */
  readonly aiGateway: string | null;
}

export interface BenchStack {
  readonly stack: Stack;
  /** Null: a side that was not asked for. */
  readonly baseUrls: Readonly<Record<Side, string | null>>;
  readonly mockName: Mock["name"];
  /** A key that is never refused, with both caps. */
  readonly key: string;
  /** The same with a cap of a day and of a week on the key and on its group, too. */
  readonly limitedKey: string;
  /** Of the workload `tokens`: limits of tokens per minute on it and on its organization. */
  readonly tokensKey: string;
  /** A key whose bucket is empty but for one request a minute. */
  readonly refusedKey: string;
  readonly versions: { readonly envoy: string; readonly redis: string };
  processes(side: Side, kind: ProcessKind): Process[];
  /** Throws when a program of that side has ended, with what it wrote last. */
  requireRunning(side: Side): void;
  close(): Promise<void>;
}

/** Starts all of it; what was started is stopped again when a later part fails. */
export async function startBenchStack(options: BenchOptions): Promise<BenchStack> {
  const stops: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const stop of stops.splice(0).toReversed()) await stop();
  };
  try {
    const mock = await startMock();
    stops.push(() => mock.stop());
    const { port } = mock;
    const sidecar = options.transport === null ? {} : { transport: options.transport };
    const stack = await startStack({
      upstreams: [{ name: UPSTREAM, url: `http://127.0.0.1:${port}`, path_prefix: "/v1" }],
      catalog: [catalogEntry({ id: BENCH_MODEL, upstream: UPSTREAM, upstream_model: "mock" })],
      workers: options.workers,
      overrides: { sidecar },
      isLauncherOwnProcess: true,
    });
    stops.push(() => stack.stop());
    const processes = findProcesses(stack.child.pid);
    const gatewayEnvoy: GatewayEnvoy = { ...readEnvoy(processes), upstream: UPSTREAM, dir: stack.dir };
    const plain = await startPlainEnvoy(gatewayEnvoy);
    stops.push(() => plain.stop());
    const noop = options.noop ? await startNoopPair(gatewayEnvoy) : null;
    stops.push(async () => noop?.stop());
    const { aiGateway: program } = options;
    const aiGateway = program === null ? null : await startAiGatewayPair(program, gatewayEnvoy);
    stops.push(async () => aiGateway?.stop());
    const bySide: Record<Side, readonly Process[]> = {
      mock: [],
      plain: findProcesses(plain.child.pid),
      noop: noop?.processes ?? [],
      aiGateway: aiGateway?.processes ?? [],
      gateway: processes,
    };
    const childrenBySide: Record<Side, readonly Child[]> = {
      mock: [mock.child],
      plain: [plain.child],
      noop: noop?.children ?? [],
      aiGateway: aiGateway?.children ?? [],
      gateway: [stack.child],
    };
    return {
      stack,
      baseUrls: {
        mock: `http://127.0.0.1:${port}`,
        plain: plain.baseUrl,
        noop: noop?.baseUrl ?? null,
        aiGateway: aiGateway?.baseUrl ?? null,
        gateway: stack.baseUrl,
      },
      mockName: mock.name,
      ...(await createKeys(stack)),
      versions: {
        envoy: await readEnvoyVersion(processes),
        redis: await readRedisVersion(stack),
      },
      processes: (side, kind) => [mock.process, ...bySide[side]].filter((process) => process.kind === kind),
      requireRunning: (side) => {
        for (const { ended, stderr } of childrenBySide[side]) {
          if (ended === null) continue;
          throw new Error(`a program of "${side}" ended (${ended}):\n${stderr.slice(-SHOWN_STDERR)}`);
        }
      },
      close,
    };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

/** What the gateway's Envoy was started with. */
function readEnvoy(processes: readonly Process[]): { bootstrap: string; concurrency: string | null } {
  const { args } = requireEnvoy(processes);
  const configFile = readOption(args, ["-c", "--config-path"]);
  if (configFile === null) throw new Error(`no bootstrap in: ${args.join(" ")}`);
  return {
    bootstrap: readFileSync(configFile, "utf8"),
    concurrency: readOption(args, ["--concurrency"]),
  };
}

function requireEnvoy(processes: readonly Process[]): Process {
  const envoy = processes.find((process) => process.kind === "envoy");
  if (envoy === undefined) throw new Error("the stack has no Envoy");
  return envoy;
}

function readOption(args: readonly string[], names: readonly string[]): string | null {
  const at = args.findIndex((arg) => names.includes(arg));
  return at === -1 ? null : (args[at + 1] ?? null);
}

type BenchKeys = Pick<BenchStack, "key" | "limitedKey" | "tokensKey" | "refusedKey">;

async function createKeys(stack: Stack): Promise<BenchKeys> {
  const caps = { limits: monthLimits({ cap: FAR_CAP_CENTS, budget: FAR_CAP_CENTS }) };
  const key = await stack.createKey({ ...caps }, caps);
  const refused = await stack.createKey({ requestsPerMinute: 1, ...caps }, caps);
  const limits = (["day", "week"] as const).map(
    (period) => ({ period, kind: "cap", cents: FAR_CAP_CENTS }) as const,
  );
  const limited = await stack.createKey({ ...caps, limits }, caps);
  const path = `/api/organizations/${limited.organizationId}`;
  const group = await stack.admin("POST", `${path}/groups`, { name: "Bench", limits });
  await stack.admin("PATCH", `${path}/keys/${limited.id}`, { group_id: group["id"] });
  const far = { tokensPerMinute: FAR_TOKENS };
  const tokens = await stack.createKey({ ...caps, ...far }, { ...caps, ...far });
  return { key: key.key, limitedKey: limited.key, tokensKey: tokens.key, refusedKey: refused.key };
}

async function readEnvoyVersion(processes: readonly Process[]): Promise<string> {
  const program = startChild(readlinkSync(`/proc/${requireEnvoy(processes).pid}/exe`), ["--version"]);
  return program.waitForLine(
    "Envoy's version",
    (line) => /\/(\d+\.\d+\.\d+)\//u.exec(line)?.[1] ?? null,
    10_000,
  );
}

/** Redis itself is asked: its program goes by several names. */
async function readRedisVersion({ dir }: Stack): Promise<string> {
  const redis = new Redis(join(dir, "run/redis.sock"), { protocol: 2 });
  try {
    return /redis_version:(\S+)/u.exec(await redis.info("server"))?.[1] ?? "unknown";
  } finally {
    redis.disconnect();
  }
}
