/**
 * An upstream that keeps its own account: which request it answered, how many tokens it wrote and when. What the gateway
 * charges is held against this and nothing else.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { createGate } from "../support/wait.ts";
import { type Place, placeOf } from "./places.ts";

/** What a request asks of the upstream; it travels as JSON in the user message. */
export interface Order {
  /** Of the test's own making. */
  readonly id: string;
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** Between two tokens of a stream, or before an answer as a whole for each of them. */
  readonly tokenMs: number;
  readonly behavior?: Behavior;
  /** Where the text goes; to the content when left out. */
  readonly place?: Place;
  /** In the place of the first token's, so that nobody else's answer looks like it. */
  readonly text?: string;
}

export type Behavior =
  /** After half of the tokens. */
  | "reset"
  /** Half of the tokens, then nothing more. */
  | "hang"
  | "no_usage"
  /** Text in the place of the counts. */
  | "wrong_usage"
  | "status_500"
  /** After work for longer than a stale connection lasts its connection ends, without a byte in answer. */
  | "lost"
  /** Waits for `release`. */
  | "gated"
  /** A stream that waits for it behind half of its tokens. */
  | "paused";

/** What became of an order. */
export interface Account {
  readonly order: Order;
  /** `x-request-id` */
  readonly requestId: string;
  /** Of the body. */
  readonly bytes: number;
  /** When each token left, `performance.now()`. Of an answer as a whole: all at once. */
  readonly tokenTimesMs: number[];
  readonly isStream: boolean;
  /** It was asked in Anthropic's protocol, and answers so. */
  readonly isMessage: boolean;
  /** The answer left whole. */
  isComplete: boolean;
  /** The other side closed the connection first. */
  isAborted: boolean;
}

export interface CountingUpstream {
  readonly url: string;
  readonly accounts: ReadonlyMap<string, Account>;
  /** Lets gated answers go. */
  release(): void;
  close(): Promise<void>;
}

/** That it says it has served, whatever was asked for. */
const SERVICE_TIER = "flex";

/** Longer than the gateway takes a lost connection for a stale one. */
const LOST_AFTER_MS = 1_500;

/** Four bytes and one token each, in every vocabulary that the gateway counts with. */
export const TOKEN_TEXT = " the";

export async function startCountingUpstream(): Promise<CountingUpstream> {
  const accounts = new Map<string, Account>();
  let gate = createGate();
  const server = createServer((request, response) => {
    answer(request, response, accounts, () => gate.opened).catch((error: unknown) => {
      process.stderr.write(`counting upstream: ${String(error)}\n`);
      response.destroy();
    });
  });
  server.keepAliveTimeout = 600_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    accounts,
    release() {
      gate.release();
      gate = createGate();
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  accounts: Map<string, Account>,
  gate: () => Promise<void>,
): Promise<void> {
  const read = await readBody(request);
  if (read === null) return;
  const { body, bytes } = read;
  const order = readOrder(body);
  if (order === null) {
    response.writeHead(400, { "content-type": "application/json" }).end('{"error":{"message":"no order"}}');
    return;
  }
  const account: Account = {
    order,
    requestId: String(request.headers["x-request-id"]),
    bytes,
    tokenTimesMs: [],
    isStream: body.stream === true,
    isMessage: request.url?.endsWith("/messages") === true,
    isComplete: false,
    isAborted: false,
  };
  accounts.set(order.id, account);
  response.on("close", () => {
    account.isComplete = response.writableFinished;
    account.isAborted = !response.writableFinished;
  });
  if (order.behavior === "gated") await gate();
  if (order.behavior === "lost") {
    await wait(LOST_AFTER_MS);
    response.socket?.destroy();
  } else if (order.behavior === "status_500") {
    response.writeHead(500, { "content-type": "application/json" }).end('{"error":{"message":"broken"}}');
  } else if (account.isStream) await stream(account, response, gate);
  else await whole(account, response);
}

async function stream(account: Account, response: ServerResponse, gate: () => Promise<void>): Promise<void> {
  const { order } = account;
  const { behavior } = order;
  const isCut = behavior === "reset" || behavior === "hang";
  const half = Math.floor(order.outputTokens / 2);
  const count = isCut ? half : order.outputTokens;
  response.writeHead(200, { "content-type": "text/event-stream" });
  const words = account.isMessage ? createMessageWords(order) : createChatWords(order);
  if (order.outputTokens > 0) response.write(words.start);
  for (let index = 0; index < count; index += 1) {
    if (order.tokenMs > 0) await wait(order.tokenMs);
    if (behavior === "paused" && index === half) await gate();
    if (response.destroyed) return;
    account.tokenTimesMs.push(performance.now());
    const isTaken = response.write(words.token((index === 0 ? order.text : undefined) ?? TOKEN_TEXT));
    if (!isTaken) await untilTaken(response);
  }
  // A reset takes with it what has not been read yet.
  if (isCut) await wait(200);
  if (behavior === "hang") return;
  if (behavior === "reset") {
    response.socket?.resetAndDestroy();
    return;
  }
  response.end(words.end);
}

/** Nobody reads, or slowly: an answer is not written into this process's memory. */
function untilTaken(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
    if (response.destroyed || !response.writableNeedDrain) done();
  });
}

/** What a stream is made of. */
interface Words {
  readonly start: string;
  readonly token: (text: string) => string;
  readonly end: string;
}

function createChatWords(order: Order): Words {
  const usage = order.behavior === "no_usage" ? "" : formatEvent({ choices: [], usage: usageOf(order) });
  return {
    start: "",
    token: (text) =>
      formatEvent({ choices: [{ index: 0, delta: placeOf(order).chat(text), finish_reason: null }] }),
    end: `${formatEvent({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}${usage}data: [DONE]\n\n`,
  };
}

/** As vLLM's: the prompt at once, before there is any output, which is told at the end. */
function createMessageWords(order: Order): Words {
  const { output_tokens, ...prompt } = messageUsageOf(order);
  const usage = output_tokens === undefined ? {} : { ...prompt, output_tokens: 0 };
  const message = { ...MESSAGE, content: [], stop_reason: null, usage };
  const delta = { stop_reason: "end_turn", stop_sequence: null };
  const { block } = placeOf(order);
  return {
    start:
      formatNamed("message_start", { message }) +
      formatNamed("content_block_start", { index: 0, content_block: block("") }),
    token: (text) =>
      formatNamed("content_block_delta", {
        index: 0,
        delta: { ...block(text), type: `${block(text).type}_delta` },
      }),
    end:
      formatNamed("content_block_stop", { index: 0 }) +
      formatNamed("message_delta", { delta, usage: output_tokens === undefined ? {} : { output_tokens } }) +
      formatNamed("message_stop", {}),
  };
}

const MESSAGE = { id: "msg_1", type: "message", role: "assistant", model: "counting" };

/**
 * Of the half that is not from the cache, a part was written for an hour, and half as much as that was not written at
 * all, which is cheaper by as much.
 */
function messageUsageOf({
  promptTokens,
  outputTokens,
  behavior,
}: Order): Readonly<Record<string, unknown>> & { readonly output_tokens?: unknown } {
  if (behavior === "no_usage") return {};
  if (behavior === "wrong_usage") return { input_tokens: "many", output_tokens: -1 };
  const half = Math.floor(promptTokens / 2);
  const plain = Math.floor(half / 4);
  const written = half - plain;
  return {
    input_tokens: promptTokens - half - written,
    cache_read_input_tokens: half,
    cache_creation_input_tokens: written,
    cache_creation: {
      ephemeral_5m_input_tokens: written - 2 * plain,
      ephemeral_1h_input_tokens: 2 * plain,
    },
    output_tokens: outputTokens,
    service_tier: SERVICE_TIER,
  };
}

function formatNamed(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

/** What an answer to it says, whole. */
export function textOf({ outputTokens, text = TOKEN_TEXT }: Pick<Order, "outputTokens" | "text">): string {
  return outputTokens === 0 ? "" : text + TOKEN_TEXT.repeat(outputTokens - 1);
}

async function whole(account: Account, response: ServerResponse): Promise<void> {
  const { order } = account;
  const { behavior, outputTokens } = order;
  if (order.tokenMs > 0) await wait(order.tokenMs * outputTokens);
  if (behavior === "hang" || response.destroyed) return;
  if (behavior === "reset") {
    // Within its head: a connection that was kept and ends without a byte costs nothing.
    response.socket?.end("HTTP/1.1 ");
    return;
  }
  const place = placeOf(order);
  const message = { role: "assistant", content: "", ...place.chat(textOf(order)) };
  const usage = behavior === "no_usage" ? {} : { usage: usageOf(order) };
  account.tokenTimesMs.push(...Array.from({ length: outputTokens }, () => performance.now()));
  response.writeHead(200, { "content-type": "application/json" });
  if (account.isMessage) {
    const content = [place.block(textOf(order))];
    const usage = messageUsageOf(order);
    response.end(
      JSON.stringify({ ...MESSAGE, content, stop_reason: "end_turn", stop_sequence: null, usage }),
    );
    return;
  }
  response.end(
    JSON.stringify({
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1_790_000_000,
      model: "counting",
      choices: [{ index: 0, message, finish_reason: "stop" }],
      ...usage,
    }),
  );
}

function usageOf({ promptTokens, outputTokens, behavior }: Order): object {
  if (behavior === "wrong_usage") return { prompt_tokens: "many", completion_tokens: -1 };
  const total = promptTokens + outputTokens;
  const half = Math.floor(promptTokens / 2);
  return {
    prompt_tokens: promptTokens,
    prompt_tokens_details: { cached_tokens: half, cache_write_tokens: half },
    completion_tokens: outputTokens,
    total_tokens: total,
    service_tier: SERVICE_TIER,
  };
}

function formatEvent(fields: object): string {
  const chunk = {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_790_000_000,
    model: "counting",
  };
  return `data: ${JSON.stringify({ ...chunk, ...fields })}\n\n`;
}

interface Body {
  readonly stream?: boolean;
  readonly messages: readonly { readonly content: string }[];
}

/** Null where there is none. */
function readOrder({ messages }: Body): Order | null {
  try {
    return JSON.parse(messages.at(-1)?.content.trim() ?? "") as Order;
  } catch {
    return null;
  }
}

/** Null when the other side went away while it sent. */
async function readBody(request: IncomingMessage): Promise<{ body: Body; bytes: number } | null> {
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const whole = Buffer.concat(chunks);
    return { body: JSON.parse(whole.toString("utf8")) as Body, bytes: whole.length };
  } catch {
    return null;
  }
}
