/**
 * Demo upstream of `npm start`, used if no real model server is configured. A real chat completions server:
 * JSON and SSE with one delta per word, exact usage, legacy completions and embeddings, `GET /v1/models`,
 * errors in the OpenAI format. Ignores tools and all other unknown fields, stores nothing, and is not part of
 * the gateway: requests only reach it through Envoy, like any other upstream.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pause } from "../../shared/event-loop/wait.ts";
import { createDemoCompletion, type DemoCompletion, DemoRequestError } from "./completion.ts";
import { createDemoEmbeddings } from "./embedding.ts";
import { createDemoLegacyCompletion, type DemoLegacyCompletion } from "./legacy-completion.ts";

export interface DemoUpstreamOptions {
  readonly host: string;
  /** Port; 0 picks a free one. */
  readonly port: number;
  /** Pause before each word of a stream, to make streaming visible. Default: 15. */
  readonly wordDelayMs?: number;
}

export interface DemoUpstream {
  /** "http://127.0.0.1:9000", without a path. */
  readonly url: string;
  /** Also ends open responses. */
  close(): Promise<void>;
}

/** The gateway's default limit, and space for its additions. */
const MAX_BODY_BYTES = 33 * 1024 * 1024;
const DEFAULT_WORD_DELAY_MS = 15;
/** A client that reads nothing for this long is disconnected. */
const WRITE_TIMEOUT_MS = 30_000;
/** Models of the built-in configuration; any other name is served as well. */
const MODEL_IDS = ["echo", "echo-mini", "embed"];

class DemoHttpError extends Error {
  override readonly name = "DemoHttpError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Starts the demo upstream and resolves once it listens.
 * @throws the system's error if the port is taken.
 */
export async function startDemoUpstream(options: DemoUpstreamOptions): Promise<DemoUpstream> {
  const wordDelayMs = options.wordDelayMs ?? DEFAULT_WORD_DELAY_MS;
  const server = createServer((request, response) => {
    handle(request, response, wordDelayMs).catch((thrown: unknown) => sendError(request, response, thrown));
  });
  server.requestTimeout = 60_000;
  // Longer than Envoy's idle timeout for upstream connections, so that Envoy never meets closed ones.
  server.keepAliveTimeout = 3_600_000;
  server.listen(options.port, options.host);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(":") ? `[${options.host}]` : options.host;
  return { url: `http://${host}:${port}`, close: () => closeServer(server) };
}

async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  wordDelayMs: number,
): Promise<void> {
  const path = (request.url ?? "/").split("?", 1)[0] ?? "/";
  if (path === "/v1/chat/completions") {
    requireMethod(request, "POST");
    const completion = createDemoCompletion(parseJson(await readBody(request)));
    if (completion.stream) await sendStream(response, completion, wordDelayMs);
    else sendJson(response, 200, formatCompletion(completion));
  } else if (path === "/v1/completions") {
    requireMethod(request, "POST");
    const completion = createDemoLegacyCompletion(parseJson(await readBody(request)));
    if (completion.stream) await sendLegacyStream(response, completion, wordDelayMs);
    else sendJson(response, 200, formatLegacyCompletion(completion));
  } else if (path === "/v1/embeddings") {
    requireMethod(request, "POST");
    sendJson(response, 200, createDemoEmbeddings(parseJson(await readBody(request))));
  } else if (path === "/v1/models") {
    requireMethod(request, "GET");
    const data = MODEL_IDS.map((id) => ({ id, object: "model", owned_by: "demo" }));
    sendJson(response, 200, { object: "list", data });
  } else {
    const served = "POST /v1/chat/completions, /v1/completions and /v1/embeddings";
    throw new DemoHttpError(404, `The demo model has no ${path}: it serves ${served}.`);
  }
}

function requireMethod(request: IncomingMessage, method: string): void {
  if (request.method !== method) throw new DemoHttpError(405, `Use ${method} here.`);
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) {
      throw new DemoHttpError(413, `The request body is over ${MAX_BODY_BYTES} bytes.`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8")) as unknown;
  } catch (thrown) {
    throw new DemoRequestError(`The request body is not valid JSON: ${String(thrown)}`, null);
  }
}

function describeAnswer(completion: { readonly model: unknown }, object: string): Record<string, unknown> {
  return {
    id: `chatcmpl-${Date.now().toString(36)}${Math.random().toString(36).slice(2, 10)}`,
    object,
    created: Math.floor(Date.now() / 1000),
    model: completion.model,
  };
}

function formatCompletion(completion: DemoCompletion): unknown {
  const message = { role: "assistant", content: completion.tokens.join("") };
  return {
    ...describeAnswer(completion, "chat.completion"),
    choices: [{ index: 0, message, finish_reason: completion.finishReason }],
    usage: completion.usage,
  };
}

async function sendStream(
  response: ServerResponse,
  completion: DemoCompletion,
  wordDelayMs: number,
): Promise<void> {
  const common = describeAnswer(completion, "chat.completion.chunk");
  const sendChunk = (delta: unknown, finishReason: string | null): Promise<void> =>
    sendEvent(response, { ...common, choices: [{ index: 0, delta, finish_reason: finishReason }] });
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  await sendChunk({ role: "assistant", content: "" }, null);
  for (const token of completion.tokens) {
    if (response.destroyed) return;
    if (wordDelayMs > 0) await pause(wordDelayMs);
    await sendChunk({ content: token }, null);
  }
  await sendChunk({}, completion.finishReason);
  if (completion.includeUsage) {
    await sendEvent(response, { ...common, choices: [], usage: completion.usage });
  }
  response.end("data: [DONE]\n\n");
}

function formatLegacyCompletion(completion: DemoLegacyCompletion): unknown {
  const choices = completion.choices.map(({ tokens, finishReason }, index) => ({
    index,
    text: tokens.join(""),
    logprobs: null,
    finish_reason: finishReason,
  }));
  return { ...describeAnswer(completion, "text_completion"), choices, usage: completion.usage };
}

async function sendLegacyStream(
  response: ServerResponse,
  completion: DemoLegacyCompletion,
  wordDelayMs: number,
): Promise<void> {
  const common = describeAnswer(completion, "text_completion");
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  for (const [index, { tokens, finishReason }] of completion.choices.entries()) {
    const sendText = (text: string, finish: string | null): Promise<void> =>
      sendEvent(response, { ...common, choices: [{ index, text, logprobs: null, finish_reason: finish }] });
    for (const token of tokens) {
      if (response.destroyed) return;
      if (wordDelayMs > 0) await pause(wordDelayMs);
      await sendText(token, null);
    }
    await sendText("", finishReason);
  }
  if (completion.includeUsage) {
    await sendEvent(response, { ...common, choices: [], usage: completion.usage });
  }
  response.end("data: [DONE]\n\n");
}

async function sendEvent(response: ServerResponse, event: unknown): Promise<void> {
  if (response.destroyed || response.write(`data: ${JSON.stringify(event)}\n\n`)) return;
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), WRITE_TIMEOUT_MS);
  const { signal } = controller;
  try {
    await Promise.race([once(response, "drain", { signal }), once(response, "close", { signal })]);
  } finally {
    clearTimeout(timer);
    // Removes the listener that lost the race.
    controller.abort();
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
  });
  response.end(text);
}

function sendError(request: IncomingMessage, response: ServerResponse, thrown: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  // Otherwise the rest of a rejected body would be read as the next request.
  if (!request.complete) response.setHeader("connection", "close");
  const { status, message, param } = describeError(thrown);
  const type = status >= 500 ? "server_error" : "invalid_request_error";
  sendJson(response, status, { error: { message, type, code: null, param } });
}

function describeError(thrown: unknown): { status: number; message: string; param: string | null } {
  if (thrown instanceof DemoRequestError) {
    return { status: 400, message: thrown.message, param: thrown.param };
  }
  if (thrown instanceof DemoHttpError) return { status: thrown.status, message: thrown.message, param: null };
  return { status: 500, message: "The demo model failed.", param: null };
}
