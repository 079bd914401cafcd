/**
 * What limits cost a request through the whole stack: keys with them and one without take turns of a second each, so that all
 * meet the same machine. The ratio of the rates is that of each round, and then the median of the rounds; CPU time is that of all
 * rounds together, since the system counts it in hundredths of a second.
 *
 *   npx tsx test/bench/limits-in-turn.ts [--rounds 20] [--seconds 1] [--connections 32]
 */
import { parseArgs } from "node:util";
import type { KeySettings } from "../../src/settings/key.ts";
import type { OrganizationSettings } from "../../src/settings/organization.ts";
import { startBenchStack } from "./bench-stack.ts";
import { createLoadGenerator, type LoadResult } from "./load.ts";
import { median } from "./measure.ts";
import { readCpuMs } from "./processes.ts";
import { formatTable } from "./table.ts";
import { CHAT_PATH, chatBody } from "./workloads.ts";

const FAR = { hardCapCents: 9_000_000_000, budgetCents: 9_000_000_000 };
const FAR_TOKENS = { tokensPerMinute: 1_000_000_000 };
const NONE = "month caps alone";
const STRICT = "strict caps";
const WARM_UP_SECONDS = 4;
const BODY = chatBody(1_024, { max_tokens: 1_024 });

interface Kind {
  readonly name: string;
  /** What it is compared with. */
  readonly base: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly rounds: Round[];
}

interface Round extends LoadResult {
  readonly redisMs: number;
  readonly sidecarMs: number;
}

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "20" },
    seconds: { type: "string", default: "1" },
    connections: { type: "string", default: "32" },
  },
});

const bench = await startBenchStack({ workers: 1, noop: false, aiGateway: null, transport: null });
const generator = createLoadGenerator();
try {
  const kinds = await createKinds();
  for (const kind of kinds) await run(kind, WARM_UP_SECONDS);
  for (let round = 0; round < Number(values.rounds); round += 1) {
    for (const kind of round % 2 === 0 ? kinds : kinds.toReversed()) {
      kind.rounds.push(await run(kind, Number(values.seconds)));
    }
  }
  console.log(report(kinds));
} finally {
  generator.close();
  await bench.close();
}

async function createKinds(): Promise<Kind[]> {
  const create = (key: Partial<KeySettings>, organization: Partial<OrganizationSettings>) =>
    bench.stack.createKey(key, organization);
  const strict = { ...FAR, strictCaps: true };
  const keys = {
    [NONE]: { base: NONE, made: await create(FAR, FAR) },
    "tokens per minute on the key": { base: NONE, made: await create({ ...FAR, ...FAR_TOKENS }, FAR) },
    "tokens per minute on key and organization": {
      base: NONE,
      made: await create({ ...FAR, ...FAR_TOKENS }, { ...FAR, ...FAR_TOKENS }),
    },
    "a cap of its session": {
      base: NONE,
      made: await create({ ...FAR, sessionCapCents: 9_000_000_000 }, FAR),
    },
    [STRICT]: { base: STRICT, made: await create(FAR, strict) },
    "strict caps that shrink": { base: STRICT, made: await create({ ...FAR, onCap: "shrink" }, strict) },
  };
  return Object.entries(keys).map(([name, { base, made }]) => ({
    name,
    base,
    headers: { authorization: `Bearer ${made.key}`, "x-session-id": "run" },
    rounds: [],
  }));
}

async function run({ headers }: Kind, seconds: number): Promise<Round> {
  const [redis, sidecar] = [bench.processes("gateway", "redis"), bench.processes("gateway", "sidecar")];
  const [redisMs, sidecarMs] = [readCpuMs(redis), readCpuMs(sidecar)];
  const result = await generator.run({
    url: `${bench.baseUrls.gateway}${CHAT_PATH}`,
    body: BODY,
    headers: { "content-type": "application/json", ...headers },
    connections: Number(values.connections),
    seconds,
    expectedStatus: 200,
  });
  bench.requireRunning("gateway");
  if (result.failures > 0) throw new Error(`${result.failures} requests failed`);
  return { ...result, redisMs: readCpuMs(redis) - redisMs, sidecarMs: readCpuMs(sidecar) - sidecarMs };
}

/** Microseconds of a request. */
function cpuUs(rounds: readonly Round[], of: (round: Round) => number): number {
  const sum = (all: readonly number[]) => all.reduce((total, one) => total + one, 0);
  return (1_000 * sum(rounds.map(of))) / sum(rounds.map(({ requests }) => requests));
}

function report(kinds: readonly Kind[]): string {
  const rows = kinds.map(({ name, base, rounds }) => {
    const compared = kinds.find((kind) => kind.name === base)?.rounds ?? [];
    const ratio = median(
      rounds.map((own, at) => own.requestsPerSecond / (compared[at]?.requestsPerSecond ?? Number.NaN)),
    );
    const [redis, sidecar] = [({ redisMs }: Round) => redisMs, ({ sidecarMs }: Round) => sidecarMs];
    const more = (of: (round: Round) => number) => cpuUs(rounds, of) - cpuUs(compared, of);
    return [
      name,
      median(rounds.map(({ requestsPerSecond }) => requestsPerSecond)).toFixed(0),
      name === base ? "" : ratio.toFixed(3),
      cpuUs(rounds, redis).toFixed(1),
      ...(name === base ? ["", ""] : [more(redis).toFixed(1), more(sidecar).toFixed(1)]),
    ];
  });
  return formatTable(["limits", "req/s", "÷ without", "Redis µs", "Redis µs more", "sidecar µs more"], rows);
}
