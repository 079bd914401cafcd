/**
 * Kinds of requests that take turns of a second or so each, so that all meet the same machine. The ratio of the rates is that
 * of each round, and then the median of the rounds; CPU time is that of all rounds together, since the system counts it in
 * hundredths of a second.
 */
import type { LoadGenerator, LoadResult } from "./load.ts";
import { median } from "./measure.ts";
import { type Process, readCpuMs } from "./processes.ts";
import { formatTable } from "./table.ts";
import { CHAT_PATH } from "./workloads.ts";

const WARM_UP_SECONDS = 4;
const KINDS = ["redis", "sidecar", "envoy"] as const;

export interface Turn {
  readonly name: string;
  /** The name of what it is compared with; its own where it is none. */
  readonly base: string;
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Of its gateway. */
  readonly processes: readonly Process[];
}

export interface TurnOptions {
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
}

type CpuMs = Record<(typeof KINDS)[number], number>;
type Round = LoadResult & { readonly cpuMs: CpuMs };

/** The table of what each took. @throws Error when a request fails. */
export async function runInTurn(
  generator: LoadGenerator,
  turns: readonly Turn[],
  options: TurnOptions,
): Promise<string> {
  const rounds = new Map<Turn, Round[]>(turns.map((turn) => [turn, []]));
  for (const turn of turns) await run(generator, turn, { ...options, seconds: WARM_UP_SECONDS });
  for (let round = 0; round < options.rounds; round += 1) {
    for (const turn of round % 2 === 0 ? turns : turns.toReversed()) {
      rounds.get(turn)?.push(await run(generator, turn, options));
    }
  }
  return report(turns, rounds);
}

async function run(
  generator: LoadGenerator,
  { name, baseUrl, headers, body, processes }: Turn,
  { connections, seconds }: TurnOptions,
): Promise<Round> {
  const before = readAllCpuMs(processes);
  const result = await generator.run({
    url: `${baseUrl}${CHAT_PATH}`,
    body,
    headers: { "content-type": "application/json", ...headers },
    connections,
    seconds,
    expectedStatus: 200,
  });
  if (result.failures > 0) throw new Error(`${name}: ${result.failures} requests failed`);
  const after = readAllCpuMs(processes);
  const cpuMs = Object.fromEntries(KINDS.map((kind) => [kind, after[kind] - before[kind]])) as CpuMs;
  return { ...result, cpuMs };
}

function readAllCpuMs(processes: readonly Process[]): CpuMs {
  const of = (kind: string): number => readCpuMs(processes.filter((process) => process.kind === kind));
  return Object.fromEntries(KINDS.map((kind) => [kind, of(kind)])) as CpuMs;
}

/** Microseconds of a request. */
function cpuUs(rounds: readonly Round[], kind: keyof CpuMs): number {
  const sum = (all: readonly number[]) => all.reduce((total, one) => total + one, 0);
  return (1_000 * sum(rounds.map(({ cpuMs }) => cpuMs[kind]))) / sum(rounds.map(({ requests }) => requests));
}

function report(turns: readonly Turn[], measured: ReadonlyMap<Turn, readonly Round[]>): string {
  const roundsOf = (name: string): readonly Round[] => {
    const turn = turns.find((each) => each.name === name);
    return (turn && measured.get(turn)) ?? [];
  };
  const rows = turns.map(({ name, base }) => {
    const [own, compared] = [roundsOf(name), roundsOf(base)];
    const ratio = (of: (round: Round) => number): string =>
      median(own.map((round, at) => of(round) / (compared[at] ? of(compared[at]) : Number.NaN))).toFixed(3);
    const isBase = name === base;
    return [
      name,
      median(own.map(({ requestsPerSecond }) => requestsPerSecond)).toFixed(0),
      isBase ? "" : ratio(({ requestsPerSecond }) => requestsPerSecond),
      median(own.map(({ p50Ms }) => p50Ms)).toFixed(2),
      isBase ? "" : ratio(({ p50Ms }) => p50Ms),
      ...KINDS.map((kind) =>
        isBase ? cpuUs(own, kind).toFixed(0) : `+${(cpuUs(own, kind) - cpuUs(compared, kind)).toFixed(1)}`,
      ),
    ];
  });
  return formatTable(
    ["", "req/s", "÷", "p50 ms", "÷", "Redis µs", "sidecar µs", "Envoy µs"],
    rows.map((row) => row.map((cell) => cell.replace("+-", "−"))),
  );
}
