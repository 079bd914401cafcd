/**
 * How many prompt tokens three servers find in their caches, with and without session affinity. Agents run at the same time;
 * each turn repeats the conversation and adds to it.
 *
 *   npx tsx test/bench/session-affinity.ts [--rounds 3] [--agents 24] [--turns 10]
 */
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { catalogEntry } from "../support/gateway-config.ts";
import type { HttpAnswer } from "../support/http.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { PrefixCacheServer, type PromptTokens } from "./prefix-cache-server.ts";

const SERVERS = 3;
const CACHE_TOKENS = 64_000;
const THINK_MS = 300;
/** About 1,000 tokens that all agents share, and as many of each. */
const TOOLS = "A tool that reads a file by its path. ".repeat(105);
const TASK = "Look at the module and find the cause of the failure. ".repeat(74);
/** About 500 tokens. */
const RESULT = "The tool has returned one more line of this file. ".repeat(40);

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
  readonly tokens: readonly PromptTokens[];
  /** Requests of each server. */
  readonly shares: readonly number[];
  readonly turnMs: readonly number[];
}

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    agents: { type: "string", default: "24" },
    turns: { type: "string", default: "10" },
  },
});
const servers = Array.from({ length: SERVERS }, () => new PrefixCacheServer(CACHE_TOKENS));
const urls = await Promise.all(servers.map((server) => server.start()));
const stack = await startStack({
  upstreams: [
    { name: "pinned", urls },
    { name: "spread", urls },
  ],
  catalog: [
    catalogEntry({ id: "acme/session", upstream: "pinned" }),
    catalogEntry({ id: "acme/off", upstream: "spread", affinity: "off" }),
  ],
});
try {
  const { key } = await stack.createKey();
  const rounds = new Map<Variant, Round[]>(VARIANTS.map((variant) => [variant, []]));
  for (let round = 0; round < Number(values.rounds); round += 1) {
    for (const variant of VARIANTS) rounds.get(variant)?.push(await runRound(stack, key, variant, round));
  }
  console.log("| model | cached prompt tokens | busiest server's requests | median turn, ms |");
  console.log("|---|---:|---:|---:|");
  for (const [{ name }, results] of rounds) console.log(formatRow(name, results));
} finally {
  await stack.stop();
  await Promise.all(servers.map((server) => server.close()));
}

async function runRound(on: Stack, key: string, variant: Variant, round: number): Promise<Round> {
  for (const server of servers) server.takeServed();
  const turnMs: number[] = [];
  const runAgent = async (agent: number): Promise<void> => {
    const name = `${variant.model} ${round} ${agent}`;
    const messages: object[] = [
      { role: "system", content: TOOLS },
      { role: "user", content: `${name}: ${TASK}` },
    ];
    const headers: Record<string, string> = variant.isNamed ? { "x-session-id": name } : {};
    // They don't begin in the same moment.
    await wait((agent * THINK_MS) / 4);
    for (let turn = 0; turn < Number(values.turns); turn += 1) {
      const startMs = performance.now();
      const body = { model: variant.model, messages };
      const answer = await sendUntilAnswered(on, { key, headers, body });
      turnMs.push(performance.now() - startMs);
      const { choices } = answer.json() as { choices: readonly { message: object }[] };
      messages.push(choices[0]?.message ?? {}, { role: "user", content: `${turn}: ${RESULT}` });
      await wait(THINK_MS);
    }
  };
  await Promise.all(Array.from({ length: Number(values.agents) }, (_, agent) => runAgent(agent)));
  const served = servers.map((server) => server.takeServed());
  return { tokens: served.flat(), shares: served.map(({ length }) => length), turnMs };
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
  const cached = rounds.map(({ tokens }) => (100 * sum(tokens, "cached")) / sum(tokens, "prompt"));
  const busiest = rounds.map(({ shares, tokens }) => (100 * Math.max(...shares)) / tokens.length);
  const turns = rounds.map(({ turnMs }) => median(turnMs));
  return `| ${name} | ${formatRange(cached)} % | ${formatRange(busiest)} % | ${formatRange(turns)} |`;
}

function sum(tokens: readonly PromptTokens[], kind: keyof PromptTokens): number {
  return tokens.reduce((total, one) => total + one[kind], 0);
}

function median(figures: readonly number[]): number {
  return figures.toSorted((one, other) => one - other)[Math.floor(figures.length / 2)] ?? 0;
}

function formatRange(figures: readonly number[]): string {
  const [low, high] = [Math.min(...figures), Math.max(...figures)].map((figure) => figure.toFixed(0));
  return `${median(figures).toFixed(0)} (${low} to ${high})`;
}
