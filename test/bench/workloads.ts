/** What is measured. Bodies and answers as in docs/benchmarks.md. */

export const BENCH_MODEL = "bench/mock";
/** Text deltas of a streamed answer. */
export const TEXT_CHUNKS = 100;
/** With role, finish, usage and `[DONE]`: what goes through the sidecar. */
export const STREAM_EVENTS = TEXT_CHUNKS + 4;

export interface Workload {
  readonly name: string;
  readonly path: string;
  readonly body: string;
  /** Status of every answer through the gateway. */
  readonly status: 200 | 429;
  /** SSE events of one answer, or 0. */
  readonly events: number;
  /** Goal for the ratio to the no-op pair; null where there is none. */
  readonly target: number | null;
  /** Left out: as many as the run is told. */
  readonly connections?: number;
  /** Through the gateway; left out: the one that has caps and a budget of the month alone. */
  readonly key?: "limitedKey" | "tokensKey" | "refusedKey";
}

export const CHAT_PATH = "/v1/chat/completions";

export function chatBody(bytes: number, fields: object = {}): string {
  const empty = JSON.stringify({ model: BENCH_MODEL, ...fields, messages: [{ role: "user", content: "" }] });
  const content = "hello world ".repeat(Math.ceil(bytes / 12)).slice(0, bytes - empty.length);
  return JSON.stringify({ model: BENCH_MODEL, ...fields, messages: [{ role: "user", content }] });
}

/** The same in the words of the other protocol; the messages are there for plain Envoy, behind which is a chat server. */
function responsesBody(bytes: number, fields: object): string {
  const { messages, ...others } = JSON.parse(chatBody(bytes / 2, fields)) as { messages: unknown };
  return JSON.stringify({ ...others, input: messages, messages });
}

export const WORKLOADS: readonly Workload[] = [
  {
    name: "1k",
    path: CHAT_PATH,
    body: chatBody(1_024),
    status: 200,
    events: 0,
    target: 0.95,
  },
  {
    name: "limits",
    path: CHAT_PATH,
    body: chatBody(1_024),
    status: 200,
    events: 0,
    target: null,
    key: "limitedKey",
  },
  {
    name: "tokens",
    path: CHAT_PATH,
    body: chatBody(1_024),
    status: 200,
    events: 0,
    target: null,
    key: "tokensKey",
  },
  {
    name: "latency",
    path: CHAT_PATH,
    body: chatBody(1_024),
    status: 200,
    events: 0,
    target: null,
    connections: 1,
  },
  {
    name: "100k",
    path: CHAT_PATH,
    body: chatBody(102_400),
    status: 200,
    events: 0,
    target: 1.6,
  },
  {
    name: "stream",
    path: CHAT_PATH,
    body: chatBody(1_024, { stream: true }),
    status: 200,
    events: STREAM_EVENTS,
    target: 1,
  },
  {
    name: "messages",
    path: "/v1/messages",
    body: chatBody(1_024, { stream: true, max_tokens: 1_024 }),
    status: 200,
    events: STREAM_EVENTS,
    target: 1,
  },
  {
    name: "responses",
    path: "/v1/responses",
    body: responsesBody(1_024, { stream: true }),
    status: 200,
    events: STREAM_EVENTS,
    target: null,
  },
  {
    name: "refused",
    path: CHAT_PATH,
    body: chatBody(1_024),
    status: 429,
    events: 0,
    target: 2.5,
    key: "refusedKey",
  },
];

/** @throws Error naming the workloads there are. */
export function selectWorkloads(names: readonly string[]): readonly Workload[] {
  const unknown = names.filter((name) => !WORKLOADS.some((workload) => workload.name === name));
  if (unknown.length > 0) {
    const known = WORKLOADS.map((workload) => workload.name).join(", ");
    throw new Error(`no workload ${unknown.join(", ")}; there are: ${known}`);
  }
  return names.length === 0 ? WORKLOADS : WORKLOADS.filter((workload) => names.includes(workload.name));
}
