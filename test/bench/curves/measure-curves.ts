/** Scaling: the same load under one condition after the other. Each curve varies one thing and leaves the rest as it is. */
import { join } from "node:path";
import { type BenchStack, startBenchStack } from "../bench-stack.ts";
import { createOrganizations, fillKeys, KeyTable } from "../key-table.ts";
import { measureHeldStreams } from "../held-streams.ts";
import { KEY_MARK, type LoadGenerator } from "../load.ts";
import { PROCESS_KINDS, type ProcessKind, readCpuMs, readEndedChildrenCpuMs } from "../processes.ts";
import { SIDECAR_WARM_UP_SECONDS } from "../measure.ts";
import { describeMachine } from "../report.ts";
import { CHAT_PATH, chatBody } from "../workloads.ts";
import type { Curve, CurvePoint, Curves, StreamPoint } from "./curve.ts";

export interface CurveOptions {
  /** Shorter and with less of everything: to see that it works. */
  readonly quick: boolean;
}

interface Amounts {
  readonly seconds: number;
  readonly warmUpSeconds: number;
  readonly workers: readonly number[];
  readonly connections: readonly number[];
  readonly bodyBytes: readonly number[];
  readonly streams: readonly number[];
  readonly heldSeconds: number;
  readonly keys: readonly number[];
  readonly organizations: readonly number[];
}

const WHOLE: Amounts = {
  seconds: 8,
  warmUpSeconds: SIDECAR_WARM_UP_SECONDS,
  workers: [1, 2, 4],
  connections: [1, 32, 256, 1_024],
  bodyBytes: [1_024, 102_400, 10_485_760],
  streams: [1, 100, 1_000, 5_000],
  heldSeconds: 20,
  keys: [10, 1_000_000],
  organizations: [1, 10_000],
};
const QUICK: Amounts = {
  ...WHOLE,
  seconds: 1,
  warmUpSeconds: 1,
  workers: [1, 2],
  connections: [1, 32],
  streams: [1, 100],
  heldSeconds: 3,
  keys: [10, 10_000],
  organizations: [1, 100],
};
const CONNECTIONS = 32;
/** As many bodies at a time as fit into `limits.max_buffered_bytes`. */
const BODY_CONNECTIONS = 8;
const SMALL = 1_024;
/** Keys of the curve over organizations: one hot organization has them all, or they are spread. */
const SPREAD_KEYS = 10_000;

interface Load {
  readonly label: string;
  readonly connections?: number;
  readonly bodyBytes?: number;
  readonly keys?: readonly string[];
}

export async function measureCurves(generator: LoadGenerator, options: CurveOptions): Promise<Curves> {
  const amounts = options.quick ? QUICK : WHOLE;
  const curves = [await measureWorkers(generator, amounts)];
  let machine: Curves["machine"] = {};
  await withStack(1, async (bench) => {
    machine = describeMachine(bench.versions);
    const measure = async (load: Load): Promise<CurvePoint> =>
      await measurePoint(bench, generator, amounts, load);
    curves.push(
      {
        name: "connections",
        title: "Connections, requests of 1 kB, one worker",
        condition: "connections",
        points: await eachOf(amounts.connections, async (count) =>
          measure({ label: format(count), connections: count }),
        ),
      },
      {
        name: "bodies",
        title: `Size of the request, ${BODY_CONNECTIONS} connections, one worker`,
        condition: "bytes of the body",
        points: await eachOf(amounts.bodyBytes, async (bytes) =>
          measure({ label: format(bytes), bodyBytes: bytes, connections: BODY_CONNECTIONS }),
        ),
      },
    );
  });
  const streams = await measureStreams(amounts);
  curves.push(await measureKeys(generator, amounts), await measureOrganizations(generator, amounts));
  return { date: new Date().toISOString().slice(0, 10), machine, curves, streams };
}

async function measureWorkers(generator: LoadGenerator, amounts: Amounts): Promise<Curve> {
  const points = await eachOf(amounts.workers, async (count) =>
    withStack(count, async (bench) => measurePoint(bench, generator, amounts, { label: format(count) })),
  );
  return {
    name: "workers",
    title: `Workers, requests of 1 kB, ${CONNECTIONS} connections`,
    condition: "workers",
    points,
  };
}

async function measureStreams(amounts: Amounts): Promise<StreamPoint[]> {
  return withStack(1, async (bench) =>
    eachOf(amounts.streams, async (streams) => {
      const cpuOf = (kind: ProcessKind): number => readCpuMs(bench.processes("gateway", kind));
      const cpu = { sidecar: 0, envoy: 0, redis: 0 };
      const held = await measureHeldStreams(bench, streams, amounts.heldSeconds, async (hold) => {
        const kinds = ["sidecar", "envoy", "redis"] as const;
        for (const kind of kinds) cpu[kind] -= cpuOf(kind);
        await hold();
        for (const kind of kinds) cpu[kind] += cpuOf(kind);
      });
      const cores = (ms: number): number => ms / (amounts.heldSeconds * 1000);
      return {
        streams,
        sidecarMegabytes: held.sidecarOpenMegabytes,
        laterSidecarMegabytes: held.sidecarLaterMegabytes,
        envoyMegabytes: held.envoyLaterMegabytes,
        sidecarCores: cores(cpu.sidecar),
        envoyCores: cores(cpu.envoy),
        redisCores: cores(cpu.redis),
        failures: Object.values(held.failures).reduce((sum, count) => sum + count, 0),
      };
    }),
  );
}

async function measureKeys(generator: LoadGenerator, amounts: Amounts): Promise<Curve> {
  const points = await withStack(1, async (bench) => {
    const organizations = await createOrganizations(await bench.stack.store(), 10);
    const table = new KeyTable(organizations, Math.max(...amounts.keys));
    const keys: string[] = [];
    return eachOf(amounts.keys, async (count) => {
      await fillKeys(redisSocket(bench), organizations, table, count - keys.length, (key) => keys.push(key));
      return measurePoint(bench, generator, amounts, { label: format(count), keys });
    });
  });
  return { name: "keys", title: "Keys in turn, requests of 1 kB, one worker", condition: "keys", points };
}

async function measureOrganizations(generator: LoadGenerator, amounts: Amounts): Promise<Curve> {
  const points = await eachOf(amounts.organizations, async (count) =>
    withStack(1, async (bench) => {
      const organizations = await createOrganizations(await bench.stack.store(), count);
      const keys: string[] = [];
      const table = new KeyTable(organizations, SPREAD_KEYS);
      await fillKeys(redisSocket(bench), organizations, table, SPREAD_KEYS, (key) => keys.push(key));
      return measurePoint(bench, generator, amounts, { label: format(count), keys });
    }),
  );
  const title = `One hot organization or many, ${format(SPREAD_KEYS)} keys in turn, requests of 1 kB, one worker`;
  return { name: "organizations", title, condition: "organizations", points };
}

function redisSocket({ stack }: BenchStack): string {
  return join(stack.dir, "run/redis.sock");
}

async function measurePoint(
  bench: BenchStack,
  generator: LoadGenerator,
  { seconds, warmUpSeconds }: Amounts,
  { label, connections = CONNECTIONS, bodyBytes = SMALL, keys }: Load,
): Promise<CurvePoint> {
  console.error(`${label} …`);
  const run = async (forSeconds: number) =>
    await generator.run({
      url: `${bench.stack.baseUrl}${CHAT_PATH}`,
      body: chatBody(bodyBytes),
      headers: {
        "content-type": "application/json",
        authorization: `Bearer ${keys === undefined ? bench.key : KEY_MARK}`,
      },
      connections,
      seconds: forSeconds,
      expectedStatus: 200,
      ...(keys === undefined ? {} : { keys }),
    });
  const readCpu = (kind: ProcessKind): number =>
    kind === "generator" ? readEndedChildrenCpuMs() : readCpuMs(bench.processes("gateway", kind));
  await run(warmUpSeconds);
  const before = new Map(PROCESS_KINDS.map((kind) => [kind, readCpu(kind)]));
  const { requests, requestsPerSecond, p50Ms, p99Ms, failures } = await run(seconds);
  const cpuMsPerRequest = Object.fromEntries(
    PROCESS_KINDS.map((kind) => [kind, (readCpu(kind) - (before.get(kind) ?? 0)) / Math.max(1, requests)]),
  ) as Record<ProcessKind, number>;
  return { label, requestsPerSecond, p50Ms, p99Ms, cpuMsPerRequest, failures };
}

async function withStack<Value>(
  workers: number,
  measure: (bench: BenchStack) => Promise<Value>,
): Promise<Value> {
  const bench = await startBenchStack({ transport: null, workers, noop: false, aiGateway: null });
  try {
    return await measure(bench);
  } finally {
    await bench.close();
  }
}

/** One after the other: each is to have the machine. */
async function eachOf<Item, Value>(
  items: readonly Item[],
  measure: (item: Item) => Promise<Value>,
): Promise<Value[]> {
  const values: Value[] = [];
  for (const item of items) values.push(await measure(item));
  return values;
}

function format(count: number): string {
  return count.toLocaleString("en");
}
