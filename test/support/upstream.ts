/**
 * The scripted upstream: a chat completions server that answers as the test says and remembers what it was asked.
 * Without a script it repeats the last user message with exact usage, so that charges can be held against it.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import {
  createDemoCompletion,
  type DemoCompletion,
  DemoRequestError,
} from "../../src/operation/demo/completion.ts";
import { type ReportedUsage, type ScriptedAnswer, textChunk } from "./scripted-answer.ts";
import { finishChunk, openaiError, textCompletion, usageChunk } from "./scripted-answer.ts";
import { sendAnswer } from "./scripted-sender.ts";
import { waitFor } from "./wait.ts";

/** One request as the upstream saw it. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  /** Names and values as they came, one after the other. */
  readonly rawHeaders: readonly string[];
  readonly bodyBytes: Buffer;
  /** The body as JSON; undefined when it is none. */
  readonly body: Record<string, unknown> | undefined;
  /** Usage that was really sent, or null. */
  reported: ReportedUsage | null;
  /** "aborted": the other side closed the connection before the answer was whole. */
  state: "open" | "finished" | "aborted" | "cut";
}

export type AnswerScript = ScriptedAnswer | ((request: RecordedRequest) => ScriptedAnswer);

export interface UpstreamOptions {
  readonly host?: string;
  readonly port?: number;
  /** PEM; makes it an HTTPS server. `clientCa`: ask for and check client certificates. */
  readonly tls?: { readonly key: string; readonly cert: string; readonly clientCa?: string };
}

export interface ScriptedUpstream {
  /** "http://127.0.0.1:9000". */
  readonly url: string;
  readonly port: number;
  /** Every request since the last `reset`, in the order of their arrival. */
  readonly requests: readonly RecordedRequest[];
  /** The last request; throws when there is none. */
  readonly lastRequest: RecordedRequest;
  /** From now on every request is answered so. */
  answer(script: AnswerScript): void;
  /** The next requests are answered so, one each; later ones as `answer` said. */
  answerNext(...scripts: readonly AnswerScript[]): void;
  /** Forgets requests and scripts. */
  reset(): void;
  /** What was reported over all requests since the last `reset`. */
  totalReported(): ReportedUsage;
  waitForRequests(count: number): Promise<readonly RecordedRequest[]>;
  /** Stops listening and cuts what is open: connections are refused from now on. */
  close(): Promise<void>;
}

class Script {
  requests: RecordedRequest[] = [];
  #always: AnswerScript = { kind: "echo" };
  #next: AnswerScript[] = [];

  answer(script: AnswerScript): void {
    this.#always = script;
  }

  answerNext(scripts: readonly AnswerScript[]): void {
    this.#next.push(...scripts);
  }

  reset(): void {
    this.requests = [];
    this.#next = [];
    this.#always = { kind: "echo" };
  }

  take(request: RecordedRequest): ScriptedAnswer {
    this.requests.push(request);
    const script = this.#next.shift() ?? this.#always;
    const answer = typeof script === "function" ? script(request) : script;
    return answer.kind === "echo" ? createEcho(request) : answer;
  }
}

/** Starts a scripted upstream on loopback, on a free port unless one is given. */
export async function startUpstream(options: UpstreamOptions = {}): Promise<ScriptedUpstream> {
  const script = new Script();
  const { server, protocol } = createAnyServer(options, (request, response) => {
    respond(script, request, response).catch((thrown: unknown) => {
      // A script that cannot be carried out must not look like an upstream's answer.
      process.stderr.write(`scripted upstream: ${String(thrown)}\n`);
      response.destroy();
    });
  });
  server.keepAliveTimeout = 600_000;
  const host = options.host ?? "127.0.0.1";
  server.listen(options.port ?? 0, host);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `${protocol}://${host}:${port}`,
    port,
    get requests() {
      return script.requests;
    },
    get lastRequest() {
      const last = script.requests.at(-1);
      if (last === undefined) throw new Error("the upstream has seen no request");
      return last;
    },
    answer: (answer) => script.answer(answer),
    answerNext: (...answers) => script.answerNext(answers),
    reset: () => script.reset(),
    totalReported: () => sumReported(script.requests),
    waitForRequests: (count) =>
      waitFor(`${count} requests at the upstream`, () => script.requests.length >= count && script.requests),
    close: async () => {
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function createAnyServer(
  options: UpstreamOptions,
  listener: RequestListener,
): {
  server: ReturnType<typeof createServer>;
  protocol: "http" | "https";
} {
  const { tls } = options;
  if (tls === undefined) return { server: createServer(listener), protocol: "http" };
  const client = tls.clientCa === undefined ? {} : { ca: tls.clientCa, requestCert: true };
  const server = createTlsServer({ key: tls.key, cert: tls.cert, ...client }, listener);
  return { server, protocol: "https" };
}

async function respond(script: Script, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  } catch {
    // The other side went away while it sent; there is nobody to answer and no request to record.
    response.destroy();
    return;
  }
  const bodyBytes = Buffer.concat(chunks);
  const recorded: RecordedRequest = {
    method: request.method ?? "",
    path: request.url ?? "",
    headers: request.headers,
    rawHeaders: request.rawHeaders,
    bodyBytes,
    body: parseObject(bodyBytes),
    reported: null,
    state: "open",
  };
  response.on("close", () => {
    if (recorded.state === "open") recorded.state = response.writableFinished ? "finished" : "aborted";
  });
  await sendAnswer(script.take(recorded), recorded, response);
}

function parseObject(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    return JSON.parse(bytes.toString("utf8")) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

function readCompletion(body: unknown): DemoCompletion | DemoRequestError {
  try {
    return createDemoCompletion(body);
  } catch (thrown) {
    if (thrown instanceof DemoRequestError) return thrown;
    throw thrown;
  }
}

function createEcho(request: RecordedRequest): ScriptedAnswer {
  const completion = readCompletion(request.body);
  if (completion instanceof DemoRequestError) {
    const { message, param } = completion;
    return { kind: "json", status: 400, body: openaiError(message, { param }) };
  }
  const usage: ReportedUsage = {
    promptTokens: completion.usage.prompt_tokens,
    cachedTokens: 0,
    completionTokens: completion.usage.completion_tokens,
  };
  const { model } = completion;
  if (!completion.stream) {
    return { kind: "json", body: textCompletion(completion.tokens.join(""), usage, { model }) };
  }
  return {
    kind: "events",
    events: [
      textChunk("", { model, choices: [{ index: 0, delta: { role: "assistant", content: "" } }] }),
      ...completion.tokens.map((token) => textChunk(token, { model })),
      finishChunk(completion.finishReason, { model }),
      ...(completion.includeUsage ? [{ ...usageChunk(usage), model }] : []),
    ],
  };
}

function sumReported(requests: readonly RecordedRequest[]): ReportedUsage {
  const total = { promptTokens: 0, cachedTokens: 0, completionTokens: 0 };
  for (const { reported } of requests) {
    total.promptTokens += reported?.promptTokens ?? 0;
    total.cachedTokens += reported?.cachedTokens ?? 0;
    total.completionTokens += reported?.completionTokens ?? 0;
  }
  return total;
}
