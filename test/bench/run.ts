/** `npm run bench`: the gateway beside plain Envoy, in one run on one machine. What it shows: docs/benchmarks.md. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Command, InvalidArgumentError } from "commander";
import { runAgainst } from "./against/run-against.ts";
import { type BenchStack, startBenchStack } from "./bench-stack.ts";
import { measureCurves } from "./curves/measure-curves.ts";
import { writeCurves } from "./curves/write-curves.ts";
import { formatReport } from "./format-report.ts";
import { measureHeldStreams } from "./held-streams.ts";
import { createLoadGenerator, type LoadGenerator } from "./load.ts";
import { measureWorkload, SIDECAR_WARM_UP_SECONDS } from "./measure.ts";
import { PROCESS_KINDS, readRssMegabytes } from "./processes.ts";
import { describeMachine, type Report, type ReportRow, summarizeWorkload } from "./report.ts";
import { formatSteps } from "./wait-steps.ts";
import { formatWaits, measureWaits } from "./waits.ts";
import { selectWorkloads, type Workload, WORKLOADS } from "./workloads.ts";

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
  readonly aiGateway?: string;
  readonly json?: string;
  readonly keep: boolean;
  readonly curves: boolean;
  readonly waits: boolean;
  readonly against?: string;
  readonly turns?: number;
  readonly warmUp?: number;
  readonly cold: number;
  readonly rate: number;
}

const RESULTS = fileURLToPath(new URL("results/", import.meta.url));
/** What a run that is kept is measured with beside the rest. */
const KEPT_HELD_STREAMS = 1_000;

const program = new Command("bench")
  .description("Measures the gateway against plain Envoy and against a sidecar that decides nothing.")
  .option("--quick", "all workloads, two rounds of a second", false)
  .option(
    "--against <commit>",
    "another commit and this tree in turns instead: ratios of CPU time, calls to Redis, latency",
  )
  .option(
    "--workload <names>",
    `${WORKLOADS.map(({ name }) => name).join(", ")}; with --against also idle; several with commas`,
    splitNames,
    [],
  )
  .option("--transport <name>", "sidecar.transport of the gateway")
  .option("--workers <n>", "sidecar.workers of the gateway", parseCount, 1)
  .option("--rounds <n>", "rounds per workload and side (5, --against 10; quick: 2)", parseCount)
  .option(
    "--seconds <n>",
    "seconds per round, with --against per turn (4, --against 1; quick: 1)",
    parseCount,
  )
  .option("--connections <n>", "concurrent requests", parseCount, 32)
  .option("--held <n>", "also: memory with so many open streams, kept for 20 s", parseCount)
  .option("--noop", "with the yardstick, the same Envoy with a sidecar that decides nothing", true)
  .option("--no-noop", "without it")
  .option(
    "--ai-gateway <program>",
    "also: Envoy AI Gateway's ext_proc server, a program that you have (docs/benchmarks.md)",
  )
  .option("--json <file>", "writes every figure there")
  .option("--keep", "writes every figure to test/bench/results/, with 1,000 open streams", false)
  .option("--curves", "scaling curves instead: tables, and pictures to docs/", false)
  .option("--waits", "how long one large body keeps others waiting instead, on every route", false)
  .option("--turns <n>", "--against: turns of each side in a round (8; quick: 2)", parseCount)
  .option("--warm-up <n>", "--against: seconds before the warm turns (15; quick: 2)", parseCount)
  .option("--cold <n>", "--against: first requests of a worker that count as cold", parseCount, 1_000)
  .option("--rate <n>", "--against: requests per second of the row idle", parseCount, 2);
program.parse();
const options = program.opts<Options>();
const generator = createLoadGenerator();
try {
  if (options.against !== undefined) await compareWith(options.against, options);
  else if (options.waits) await printWaits();
  else if (options.curves) writeCurves(await measureCurves(generator, { quick: options.quick }));
  else await main(options, generator);
} catch (thrown) {
  console.error(`bench: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  process.exitCode = 1;
} finally {
  generator.close();
}

async function main(given: Options, load: LoadGenerator): Promise<void> {
  const workloads = selectWorkloads(given.workload);
  const bench = await startBenchStack({
    transport: given.transport ?? null,
    workers: given.workers,
    noop: given.noop,
    aiGateway: given.aiGateway ?? null,
  });
  const stop = (): void => {
    void bench.close().finally(() => process.exit(130));
  };
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
  try {
    const report = await measureAll(bench, load, workloads, given);
    console.log(formatReport(report));
    if (given.json !== undefined) writeReport(given.json, report);
    if (given.keep) {
      mkdirSync(RESULTS, { recursive: true });
      writeReport(join(RESULTS, `${report.date}-${report.machine.cores}-cores.json`), report);
    }
    if (report.rows.some((row) => row.failures > 0)) process.exitCode = 1;
  } finally {
    process.off("SIGINT", stop);
    process.off("SIGTERM", stop);
    await bench.close();
  }
}

async function measureAll(
  bench: BenchStack,
  load: LoadGenerator,
  workloads: readonly Workload[],
  given: Options,
): Promise<Report> {
  const amount = {
    rounds: given.rounds ?? (given.quick ? 2 : 5),
    seconds: given.seconds ?? (given.quick ? 1 : 4),
    warmUpSeconds: given.quick ? 2 : SIDECAR_WARM_UP_SECONDS,
    connections: given.connections,
  };
  const rows: ReportRow[] = [];
  for (const workload of workloads) {
    console.error(`${workload.name} …`);
    rows.push(summarizeWorkload(await measureWorkload(bench, load, workload, amount)));
  }
  const held = given.held ?? (given.keep ? KEPT_HELD_STREAMS : null);
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: describeMachine(bench.versions),
    options: {
      ...amount,
      generator: load.name,
      mock: bench.mockName,
      workers: given.workers,
      transport: given.transport ?? "default",
    },
    rows,
    heldStreams: held === null ? null : await measureHeldStreams(bench, held, 20),
    memoryMegabytes: Object.fromEntries(
      PROCESS_KINDS.map((kind) => [kind, readRssMegabytes(bench.processes("gateway", kind))]),
    ) as Report["memoryMegabytes"],
  };
}

async function compareWith(ref: string, given: Options): Promise<void> {
  const { quick } = given;
  // Ends the programs it has started, too (test/support/child.ts).
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));
  const isPassed = await runAgainst(
    {
      ref,
      rows: given.workload,
      rounds: given.rounds ?? (quick ? 2 : 10),
      amount: {
        workers: given.workers,
        connections: given.connections,
        coldRequests: given.cold,
        warmUpSeconds: given.warmUp ?? (quick ? 2 : 15),
        turns: given.turns ?? (quick ? 2 : 8),
        turnSeconds: given.seconds ?? 1,
        idleSeconds: quick ? 10 : 60,
        idlePerSecond: given.rate,
      },
      json: given.json ?? null,
    },
    generator,
  );
  if (!isPassed) process.exitCode = 1;
}

async function printWaits(): Promise<void> {
  console.log(`${await formatSteps()}\n`);
  const results = await measureWaits(({ route, shape, longestMs }) =>
    console.error(`${route}, ${shape}: ${longestMs.toFixed(0)} ms`),
  );
  console.log(formatWaits(results));
}

function writeReport(file: string, report: Report): void {
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
}

function splitNames(value: string): string[] {
  return value.split(",").map((name) => name.trim());
}

function parseCount(value: string): number {
  const count = Number(value);
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError("expected a count from 1 on");
  return count;
}
