/** `npm run bench -- --against REF`: this tree and another commit in turns. How to read it: docs/benchmarks.md. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { ensureEnvoy } from "../../../src/operation/setup/envoy.ts";
import { prepareClone } from "../../../src/operation/setup/prepare.js";
import { ensureRedisServer } from "../../../src/operation/setup/redis.ts";
import { runCommand } from "../../../src/operation/setup/run-command.js";
import { createToolContext } from "../../../src/operation/setup/tool-context.ts";
import type { LoadGenerator } from "../load.ts";
import { startMock } from "../mock.ts";
import { readMachineTicks } from "../processes.ts";
import { describeMachine } from "../report.ts";
import { buildCommit } from "./other-commit.ts";
import { formatFailures, formatResults, summarizeRounds } from "./report.ts";
import { type Amount, type Contest, measureRound, type Round, ROWS } from "./rounds.ts";

const REPOSITORY = fileURLToPath(new URL("../../../", import.meta.url));
const USUAL_ROWS = ["1k", "100k", "stream", "idle"];

export interface AgainstOptions {
  readonly ref: string;
  /** Empty: the usual ones. */
  readonly rows: readonly string[];
  readonly rounds: number;
  readonly amount: Amount;
  /** File for every figure; null: none. */
  readonly json: string | null;
}

/** Prints the table. Resolves with whether every round could be measured and every request succeeded. */
export async function runAgainst(options: AgainstOptions, load: LoadGenerator): Promise<boolean> {
  const rows = selectRows(options.rows);
  const builds = join(REPOSITORY, ".cache/bench");
  const other = await buildCommit(options.ref, { repository: REPOSITORY, builds });
  console.error(`${other.id} (${other.subject}): ${other.isReused ? "built before" : "built"}`);
  await prepareClone();
  const machine = describeMachine(await shareTools());
  const busyBefore = await measureBusy();
  const mock = await startMock();
  try {
    const programs = [join(REPOSITORY, "dist/main.js"), other.program] as const;
    const contest = { programs, mockPort: mock.port, load, amount: options.amount };
    const before = readMachineTicks();
    const { rounds, missing } = await measureRounds(contest, rows, options.rounds);
    const after = readMachineTicks();
    const stolen = (after.stolen - before.stolen) / (after.all - before.all);
    const results = summarizeRounds(rounds);
    console.log(
      [
        `${machine.cores} cores of ${machine.cpu}, Node ${machine.node}, Envoy ${machine.envoy}, Redis ${machine.redis}.`,
        `Other programs kept ${percent(busyBefore)} of the cores busy before the run; the host took ${percent(stolen)} during it.`,
        `${options.rounds} rounds of each row: ${JSON.stringify(options.amount)}\n`,
        formatResults(results, other),
      ].join("\n"),
    );
    if (options.json !== null) {
      const all = { other, ...options, machine, busyBefore, stolen, results };
      writeFileSync(options.json, `${JSON.stringify(all, null, 2)}\n`);
    }
    const failures = formatFailures(rounds, other);
    for (const line of failures) console.error(line);
    if (missing > 0) console.error(`Not measured: ${missing} rows of a round.`);
    return failures.length + missing === 0;
  } finally {
    await mock.stop();
  }
}

function selectRows(names: readonly string[]): readonly string[] {
  const unknown = names.filter((name) => !ROWS.includes(name));
  if (unknown.length === 0) return names.length === 0 ? USUAL_ROWS : names;
  throw new Error(`--against has no row "${unknown.join(", ")}": expected ${ROWS.join(", ")}.`);
}

interface Measured {
  readonly rounds: readonly Round[];
  /** Rows of a round that could not be measured. */
  readonly missing: number;
}

/**
 * Measures all rows in each round, so that whatever the machine does for an hour meets all of them. What fails later than in
 * the first round is reported and left out: the rounds before it still count.
 */
async function measureRounds(contest: Contest, rows: readonly string[], count: number): Promise<Measured> {
  const rounds: Round[] = [];
  let missing = 0;
  for (let index = 0; index < count; index += 1) {
    for (const row of rows) {
      const name = `round ${index + 1} of ${count}, ${row}`;
      console.error(name);
      try {
        rounds.push(await measureRound(contest, row, index));
      } catch (thrown) {
        if (index === 0) throw thrown;
        missing += 1;
        console.error(
          `${name} failed and is left out: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
        );
      }
    }
  }
  return { rounds, missing };
}

/** Both builds get this tree's Envoy and Redis. Resolves with their versions. */
async function shareTools(): Promise<{ envoy: string; redis: string }> {
  const context = createToolContext();
  const [envoy, redis] = [await ensureEnvoy(context), await ensureRedisServer(context)];
  process.env["ENVOY_BIN"] = envoy.path;
  process.env["REDIS_SERVER_BIN"] = redis.path;
  const readVersion = async (program: string): Promise<string> =>
    /\d+\.\d+\.\d+/u.exec(
      (await runCommand(program, ["--version"])).stdout.replace(/^.*version: \w+\//u, ""),
    )?.[0] ?? "unknown";
  return { envoy: await readVersion(envoy.path), redis: await readVersion(redis.path) };
}

/** The part of the processors that is in use while nothing is measured, from 0 to 1. */
async function measureBusy(): Promise<number> {
  const before = readMachineTicks();
  await wait(3_000);
  const after = readMachineTicks();
  return 1 - (after.idle - before.idle) / (after.all - before.all);
}

function percent(part: number): string {
  return `${(part * 100).toFixed(0)} %`;
}
