/** A stack whose upstreams are llama.cpp's own servers, and what a request is held against: the server's own counters. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { catalogEntry } from "../gateway-config.ts";
import type { HttpAnswer, SendOptions } from "../http.ts";
import type { Stack } from "../stack.ts";
import type { CreatedKey } from "../test-key.ts";
import { waitFor } from "../wait.ts";
import { withStack } from "../with-stack.ts";
import {
  ensureLlama,
  type LlamaOptions,
  type LlamaServer,
  type ServerCounts,
  SLOT_TOKENS,
  startLlama,
  subtractCounts,
} from "./llama-server.ts";

export const llama = await ensureLlama();
/** For the name of what is skipped. */
export const LLAMA_NOTE = llama.missing === null ? "" : ` (skipped: ${llama.missing})`;

export const TINY_MODEL = "acme/tiny";
export const EMBED_MODEL = "acme/tiny-embed";
const ALIAS = "tiny";

/** What the gateway has on record of a request. */
export interface Row {
  readonly status: number;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly output_tokens: number;
  readonly estimated: boolean;
  readonly cost_microcents: number;
}

export interface LlamaStack {
  readonly stack: Stack;
  readonly key: CreatedKey;
  readonly chat: LlamaServer;
  readonly embed: LlamaServer;
  send(options: SendOptions): Promise<HttpAnswer>;
  readRow(answer: Pick<HttpAnswer, "headers">): Promise<Row>;
  /** What the server of chats has done meanwhile. */
  measure<T>(run: () => Promise<T>): Promise<{ readonly result: T; readonly counts: ServerCounts }>;
  /** Starts the server of chats again where it was. */
  restart(): Promise<void>;
}

/** One stack and both servers for all tests of a file. @param chats How the server of chats is started. */
export function withLlama(chats: Pick<LlamaOptions, "layers"> = {}): LlamaStack {
  const started: { dir?: string; chat?: LlamaServer; embed?: LlamaServer; key?: CreatedKey } = {};
  const start = (options: Omit<LlamaOptions, "dir" | "alias">) =>
    startLlama(llama, { dir: required(started.dir), alias: ALIAS, ...options });
  const getStack = withStack(async () => {
    started.dir = await mkdtemp(join(tmpdir(), "igw-llama-"));
    started.chat = await start(chats);
    started.embed = await start({ embeds: true });
    return createOptions(started.chat.url, started.embed.url);
  });
  beforeAll(async () => {
    started.key = await getStack().createKey();
  });
  afterAll(async () => {
    for (const server of [started.chat, started.embed]) await server?.child.stop();
    if (started.dir !== undefined) await rm(started.dir, { recursive: true, force: true });
  });
  const llamaStack: LlamaStack = {
    get stack() {
      return getStack();
    },
    get key() {
      return required(started.key);
    },
    get chat() {
      return required(started.chat);
    },
    get embed() {
      return required(started.embed);
    },
    send: (options) => getStack().send({ key: llamaStack.key.key, ...options }),
    readRow: (answer) => readRow(llamaStack, String(answer.headers["x-request-id"])),
    measure: async (run) => {
      const before = await llamaStack.chat.counts();
      const result = await run();
      await waitFor("the server to be idle", async () => !(await llamaStack.chat.isBusy()));
      return { result, counts: subtractCounts(await llamaStack.chat.counts(), before) };
    },
    restart: async () => {
      await llamaStack.chat.child.stop();
      started.chat = await start({ port: llamaStack.chat.port, ...chats });
    },
  };
  return llamaStack;
}

/** The charge is of the server's own count. */
export function expectCounted(rows: readonly Row[], counts: ServerCounts): void {
  const sum = (field: "input_tokens" | "cached_input_tokens" | "output_tokens") =>
    rows.reduce((total, row) => total + row[field], 0);
  expect(rows.map(({ estimated }) => estimated)).toEqual(rows.map(() => false));
  expect({
    promptTokens: sum("input_tokens"),
    cachedTokens: sum("cached_input_tokens"),
    outputTokens: sum("output_tokens"),
  }).toEqual(counts);
  for (const row of rows) expect(row.cost_microcents).toBe(costOf(row));
}

/** At `TEST_PRICES`. */
function costOf(row: Row): number {
  return row.input_tokens * 250 + row.cached_input_tokens * 25 + row.output_tokens * 1_000;
}

function readRow({ stack, key }: LlamaStack, requestId: string): Promise<Row> {
  return waitFor("the request's record", async () => {
    const answer = await stack.send({ path: `/v1/requests/${requestId}`, key: key.key });
    const row = answer.status === 200 ? (JSON.parse(answer.text) as Row) : null;
    return row !== null && row.status !== null ? row : null;
  });
}

function createOptions(chatUrl: string, embedUrl: string) {
  const model = { upstream_model: ALIAS, context_window: SLOT_TOKENS, max_output_tokens: 4_096 };
  const upstream = { path_prefix: "/v1", server: "llama.cpp" };
  return {
    upstreams: [
      { name: "chats", url: chatUrl, ...upstream },
      { name: "embeddings", url: embedUrl, ...upstream },
    ],
    catalog: [
      catalogEntry({
        id: TINY_MODEL,
        upstream: "chats",
        capabilities: ["chat", "tools", "json_schema", "completions"],
        ...model,
      }),
      catalogEntry({ id: EMBED_MODEL, upstream: "embeddings", capabilities: ["embeddings"], ...model }),
    ],
  };
}

function required<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Error("used before it was started");
  return value;
}
