/** `npm run bench`: the gateway beside plain Envoy, in one run on one machine. What it shows: docs/benchmarks.md. */
import { readFileSync, writeFileSync } from "node:fs";
import { Command, InvalidArgumentError } from "commander";
import { type BenchStack, startBenchStack } from "./bench-stack.ts";
import { formatComparison } from "./compare.ts";
import { type HeldStreamsResult, measureHeldStreams } from "./held-streams.ts";
import { createLoadGenerator, type LoadGenerator } from "./load.ts";
import { measureLatency, measureWorkload } from "./measure.ts";
import { PROCESS_KINDS, readRssMegabytes } from "./processes.ts";
import { addedLatencyMs, describeMachine, formatReport, type Report, type ReportRow } from "./report.ts";
import { summarizeWorkload } from "./report.ts";
import { selectWorkloads, type Workload } from "./workloads.ts";

interface Options {
  readonly quick: boolean;
  readonly workload: readonly string[];
  readonly transport?: string;
  readonly workers: number;
  readonly rounds?: number;
  readonly seconds?: number;
  readonly connections: number;
  readonly held?: number;
  readonly noop: boolean;
  readonly json?: string;
  readonly compare?: string;
}

const program = new Command("bench")
  .description("Measures the gateway against plain Envoy.")
  .option("--quick", "all workloads in under a minute", false)
  .option(
    "--workload <names>",
    "1k, 100k, stream, messages, responses, refused; several with commas",
    splitNames,
    [],
  )
  .option("--transport <name>", "sidecar.transport of the gateway")
  .option("--workers <n>", "sidecar.workers of the gateway", parseCount, 1)
  .option("--rounds <n>", "rounds per workload and side (5; quick: 2)", parseCount)
  .option("--seconds <n>", "seconds per round (4; quick: 1)", parseCount)
  .option("--connections <n>", "concurrent requests", parseCount, 32)
  .option("--held <n>", "also: memory with so many open streams, kept for 20 s", parseCount)
  .option(
    "--noop",
    "also: the same Envoy with a sidecar that decides nothing, the floor under the gateway",
    false,
  )
  .option("--json <file>", "writes every figure there")
  .option("--compare <file>", "prints what differs from the figures of an earlier run");
program.parse();
await main(program.opts<Options>());

async function main(options: Options): Promise<void> {
  const workloads = selectWorkloads(options.workload);
  // Read first: a wrong name shows at once, and not after the measurement.
  const before =
    options.compare === undefined ? null : (JSON.parse(readFileSync(options.compare, "utf8")) as Report);
  const generator = createLoadGenerator();
  const bench = await startBenchStack({
    transport: options.transport ?? null,
    workers: options.workers,
    noop: options.noop,
  });
  const stop = (): void => {
    void bench.close().finally(() => process.exit(130));
  };
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
  try {
    const report = await measureAll(bench, generator, workloads, options);
    console.log(formatReport(report));
    if (before !== null) {
      console.log(`\nCompared with ${options.compare}:\n${formatComparison(before, report)}`);
    }
    if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`);
    if (report.rows.some((row) => row.failures > 0)) process.exitCode = 1;
  } finally {
    await bench.close();
    generator.close();
  }
}

async function measureAll(
  bench: BenchStack,
  generator: LoadGenerator,
  workloads: readonly Workload[],
  options: Options,
): Promise<Report> {
  const amount = {
    rounds: options.rounds ?? (options.quick ? 2 : 5),
    seconds: options.seconds ?? (options.quick ? 1 : 4),
    // Less leaves the sidecar with code that is not yet optimized.
    warmUpSeconds: options.quick ? 2 : 4,
    connections: options.connections,
  };
  const rows: ReportRow[] = [];
  let latencyMs: number | null = null;
  for (const workload of workloads) {
    console.error(`${workload.name} …`);
    rows.push(summarizeWorkload(await measureWorkload(bench, generator, workload, amount)));
    if (workload.name === "1k") {
      latencyMs = addedLatencyMs(await measureLatency(bench, generator, workload, amount));
    }
  }
  const heldStreams: HeldStreamsResult | null =
    options.held === undefined ? null : await measureHeldStreams(bench, options.held, 20);
  return {
    machine: describeMachine(bench.envoyVersion),
    options: {
      ...amount,
      generator: generator.name,
      workers: options.workers,
      transport: options.transport ?? "default",
    },
    rows,
    addedLatencyMs: latencyMs,
    heldStreams,
    memoryMegabytes: Object.fromEntries(
      PROCESS_KINDS.map((kind) => [kind, readRssMegabytes(bench.processes("gateway", kind))]),
    ) as Report["memoryMegabytes"],
  };
}

function splitNames(value: string): string[] {
  return value.split(",").map((name) => name.trim());
}

function parseCount(value: string): number {
  const count = Number(value);
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError("expected a count from 1 on");
  return count;
}
