/**
 * Measures how many prompt tokens three llama.cpp servers find in their caches, with and without session affinity. Agents
 * run at the same time; each turn repeats the conversation and adds to it.
 *
 *   npx tsx test/bench/session-affinity.ts [--rounds 3] [--agents 12] [--turns 10]
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { catalogEntry } from "../support/gateway-config.ts";
import type { HttpAnswer } from "../support/http.ts";
import { ensureLlama, type ServerCounts, startLlama, subtractCounts } from "../support/llama/llama-server.ts";
import { type Stack, startStack } from "../support/stack.ts";

const SERVERS = 3;
/** The least: what counts is its cache. */
const LAYERS = 1;
const THINK_MS = 300;
const ANSWER_TOKENS = 32;
/** What all agents share, and as much of each. */
const TOOLS = "A tool that reads a file by its path. ".repeat(50);
const TASK = "Look at the module and find the cause of the failure. ".repeat(35);
const RESULT = "The tool has returned one more line of this file. ".repeat(20);

interface Variant {
  readonly name: string;
  readonly model: string;
  readonly isNamed: boolean;
}

const VARIANTS: readonly Variant[] = [
  { name: "`affinity: off`", model: "acme/off", isNamed: true },
  { name: "`session`, named by `X-Session-Id`", model: "acme/session", isNamed: true },
  { name: "`session`, by the prompt", model: "acme/session", isNamed: false },
];

interface Round {
  /** What each server has done. */
  readonly counts: readonly ServerCounts[];
  readonly turnMs: readonly number[];
}

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    agents: { type: "string", default: "12" },
    turns: { type: "string", default: "10" },
  },
});
const found = await ensureLlama();
const dir = await mkdtemp(join(tmpdir(), "igw-affinity-"));
const servers = await Promise.all(
  Array.from({ length: SERVERS }, () => startLlama(found, { dir, alias: "tiny", layers: LAYERS })),
);
const urls = servers.map(({ url }) => url);
const stack = await startStack({
  upstreams: [
    { name: "pinned", urls, path_prefix: "/v1" },
    { name: "spread", urls, path_prefix: "/v1" },
  ],
  catalog: [
    catalogEntry({ id: "acme/session", upstream: "pinned", upstream_model: "tiny" }),
    catalogEntry({ id: "acme/off", upstream: "spread", upstream_model: "tiny", affinity: "off" }),
  ],
});
try {
  const { key } = await stack.createKey();
  const rounds = new Map<Variant, Round[]>(VARIANTS.map((variant) => [variant, []]));
  for (let round = 0; round < Number(values.rounds); round += 1) {
    for (const variant of VARIANTS) rounds.get(variant)?.push(await runRound(stack, key, variant, round));
  }
  console.log("| model | cached prompt tokens | busiest server's answers | median turn, ms |");
  console.log("|---|---:|---:|---:|");
  for (const [{ name }, results] of rounds) console.log(formatRow(name, results));
} finally {
  await stack.stop();
  await Promise.all(servers.map(({ child }) => child.stop()));
  await rm(dir, { recursive: true });
}

async function runRound(on: Stack, key: string, variant: Variant, round: number): Promise<Round> {
  const before = await Promise.all(servers.map((server) => server.counts()));
  const turnMs: number[] = [];
  const runAgent = async (agent: number): Promise<void> => {
    // Nothing is found that an earlier round or variant has cached.
    const run = `${variant.name} ${round}`;
    const name = `${run} ${agent}`;
    const messages: object[] = [
      { role: "system", content: `${run}: ${TOOLS}` },
      { role: "user", content: `${name}: ${TASK}` },
    ];
    const headers: Record<string, string> = variant.isNamed ? { "x-session-id": name } : {};
    // They don't begin in the same moment.
    await wait((agent * THINK_MS) / 4);
    for (let turn = 0; turn < Number(values.turns); turn += 1) {
      const startMs = performance.now();
      const body = { model: variant.model, messages, max_tokens: ANSWER_TOKENS };
      const answer = await sendUntilAnswered(on, { key, headers, body });
      turnMs.push(performance.now() - startMs);
      const { choices } = answer.json() as { choices: readonly { message: object }[] };
      messages.push(choices[0]?.message ?? {}, { role: "user", content: `${turn}: ${RESULT}` });
      await wait(THINK_MS);
    }
  };
  await Promise.all(Array.from({ length: Number(values.agents) }, (_, agent) => runAgent(agent)));
  const counts = await Promise.all(
    servers.map(async (server, place) => subtractCounts(await server.counts(), before[place]!)),
  );
  return { counts, turnMs };
}

/** A busy machine may return 503. */
async function sendUntilAnswered(on: Stack, request: object): Promise<HttpAnswer> {
  const answer = await on.send({ path: "/v1/chat/completions", ...request });
  if (answer.status === 200) return answer;
  if (answer.status !== 503) throw new Error(`status ${answer.status}`);
  await wait(THINK_MS);
  return sendUntilAnswered(on, request);
}

function formatRow(name: string, rounds: readonly Round[]): string {
  const cached = rounds.map(({ counts }) => {
    const tokens = sum(counts, "cachedTokens");
    return (100 * tokens) / (tokens + sum(counts, "promptTokens"));
  });
  const busiest = rounds.map(({ counts }) => {
    const answers = counts.map(({ outputTokens }) => outputTokens);
    return (100 * Math.max(...answers)) / sum(counts, "outputTokens");
  });
  const turns = rounds.map(({ turnMs }) => median(turnMs));
  return `| ${name} | ${formatRange(cached)} % | ${formatRange(busiest)} % | ${formatRange(turns)} |`;
}

function sum(counts: readonly ServerCounts[], kind: keyof ServerCounts): number {
  return counts.reduce((total, one) => total + one[kind], 0);
}

function median(figures: readonly number[]): number {
  return figures.toSorted((one, other) => one - other)[Math.floor(figures.length / 2)] ?? 0;
}

function formatRange(figures: readonly number[]): string {
  const [low, high] = [Math.min(...figures), Math.max(...figures)].map((figure) => figure.toFixed(0));
  return `${median(figures).toFixed(0)} (${low} to ${high})`;
}
