/**
 * The work on one body, step by step, in processor time: what keeps others waiting on an idle machine, and does not depend
 * on what else a machine does. The same code as a worker's, without Envoy and Redis.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { UpstreamDraft } from "../../src/data-path/exchange/upstream/upstream-draft.ts";
import { oneStep, type Steps } from "../../src/shared/event-loop/steps.ts";
import type { ProtocolName } from "../../src/data-path/translation/client-protocol.ts";
import type { UpstreamProtocol } from "../../src/shared/contract/model-profile.ts";
import { PROTOCOLS } from "../../src/data-path/translation/protocols.ts";
import { createModel } from "../support/messages-exchange.ts";
import { formatTable } from "./table.ts";
import { formatWaitBody, WAIT_ROUTES, WAIT_SHAPES, type WaitRoute, type WaitShape } from "./wait-bodies.ts";

interface Way {
  readonly protocol: ProtocolName;
  readonly upstream: UpstreamProtocol;
  readonly isCount?: boolean;
}

const WAYS: Readonly<Record<string, Way>> = {
  chat: { protocol: "chat", upstream: "chat" },
  messages: { protocol: "messages", upstream: "chat" },
  "messages, native": { protocol: "messages", upstream: "messages" },
  count_tokens: { protocol: "messages", upstream: "chat", isCount: true },
  responses: { protocol: "responses", upstream: "chat" },
  "responses, native": { protocol: "responses", upstream: "responses" },
  input_tokens: { protocol: "responses", upstream: "chat", isCount: true },
  completions: { protocol: "completions", upstream: "completions" },
  embeddings: { protocol: "embeddings", upstream: "embeddings" },
};

interface Work {
  readonly longestMs: number;
  readonly totalMs: number;
}

/** A row for each kind of body: of all routes, the longest step and the most of all steps together. */
export async function formatSteps(): Promise<string> {
  const rows: string[][] = [];
  for (const shape of WAIT_SHAPES) {
    const works: (Work & { readonly name: string })[] = [];
    for (const route of WAIT_ROUTES) works.push({ name: route.name, ...(await measureWork(route, shape)) });
    const longest = works.reduce((most, each) => (each.longestMs > most.longestMs ? each : most));
    const most = works.reduce((all, each) => (each.totalMs > all.totalMs ? each : all));
    rows.push([shape.name, longest.longestMs.toFixed(0), longest.name, most.totalMs.toFixed(0), most.name]);
  }
  return formatTable(["body", "longest step, CPU ms", "at", "all steps, CPU ms", "at"], rows);
}

async function measureWork(route: WaitRoute, shape: WaitShape): Promise<Work> {
  const body = formatWaitBody(route, shape);
  const way = WAYS[route.name];
  if (way === undefined) throw new Error(`${route.name} has no way`);
  const times: number[] = [];
  try {
    await takeSteps(work(way, body), times);
  } catch {
    // Refused: what was done until then counts.
  }
  return { longestMs: Math.max(...times), totalMs: times.reduce((sum, each) => sum + each, 0) };
}

/** As `Exchange` and `CountExchange` do it. */
function* work({ protocol, upstream, isCount = false }: Way, body: Buffer): Steps<void> {
  const read = yield* PROTOCOLS[protocol].readBody(body);
  const translation = PROTOCOLS[protocol].translations[upstream];
  const model = createModel();
  yield;
  if (isCount) yield* translation?.counting?.readPrompt(read, model) ?? [];
  else if (translation !== undefined) {
    const request = translation.parseRequest(read);
    yield* oneStep(() => new UpstreamDraft(request, model, false, read.value));
  }
}

/** Each step in a turn of its own, as a worker takes them: V8 puts compiled code in place between turns. */
async function takeSteps(steps: Steps<void>, times: number[]): Promise<void> {
  for (;;) {
    await nextTurn();
    const before = process.cpuUsage();
    try {
      if (steps.next().done === true) return;
    } finally {
      const { user, system } = process.cpuUsage(before);
      times.push((user + system) / 1_000);
    }
  }
}
