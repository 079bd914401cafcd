/** Clients of a fault scenario: each sends one request after the other and remembers what it was told. */
import { Agent, request as startRequest } from "node:http";
import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { Behavior, Order } from "./counting-upstream.ts";
import type { Place } from "./places.ts";

/** What a client saw of one request. */
export interface Sent {
  readonly id: string;
  readonly promptTokens: number;
  readonly isStream: boolean;
  /** As they are kept, in the form of `tags.ts`. */
  readonly tags: string;
  /** When it was sent, `performance.now()`. */
  readonly sentMs: number;
  endedMs: number;
  /** 0: no answer at all. */
  status: number;
  /** The whole answer came, with its last piece. */
  isWhole: boolean;
  /** The client itself closed the connection. */
  isAborted: boolean;
  /** Of an error; the socket's where there was no answer. */
  errorCode: string | null;
}

/**
 * What only a stream that is whole has in it, by route. Chat and messages go to the upstream as they are, which speaks
 * both; responses are translated to chat.
 */
const LAST_EVENT = {
  "/v1/chat/completions": "[DONE]",
  "/v1/messages": "event: message_stop",
  "/v1/responses": "[DONE]",
} as const;
export type FaultRoute = keyof typeof LAST_EVENT;

/** The requests of every scenario take them in turn: all, or the one that `FAULTS_ROUTE` names. */
export const ROUTES = chooseRoutes(process.env["FAULTS_ROUTE"]);

function chooseRoutes(name: string | undefined): readonly [FaultRoute, ...FaultRoute[]] {
  if (name === undefined) return ["/v1/chat/completions", "/v1/messages", "/v1/responses"];
  if (name in LAST_EVENT) return [name as FaultRoute];
  throw new Error(`FAULTS_ROUTE: expected ${Object.keys(LAST_EVENT).join(" or ")}, found ${name}`);
}

export interface SendOptions {
  readonly baseUrl: string;
  readonly key: string;
  readonly model: string;
  readonly outputTokens: number;
  readonly tokenMs: number;
  readonly isStream: boolean;
  readonly route: FaultRoute;
  /** As the client writes them; none when left out. */
  readonly tags?: string;
  readonly behavior?: Behavior;
  /** Where the upstream writes its text. */
  readonly place?: Place;
  /** Of the prompt, as the gateway first guesses them: four bytes each. As few as the order takes when left out. */
  readonly guessedTokens?: number;
  /** The upstream counts so many prompt tokens for each that the gateway first guesses; 1 when left out. */
  readonly tokensPerGuess?: number;
  /** The client closes the connection after so many milliseconds. */
  readonly abortAfterMs?: number;
  /** Waits for it between the headers and the body. */
  readonly beforeBody?: Promise<void>;
}

/** What is refused at once would be sent again at once, and refusals would be most of the load. */
const REFUSED_PAUSE_MS = 200;
const agent = new Agent({ keepAlive: true });
const BYTES_PER_TOKEN = 4;

/** One request; never rejects. `onSent` gets its record at once. */
export function sendOne(options: SendOptions, onSent: (sent: Sent) => void): Promise<Sent> {
  const { body, order } = createBody(options);
  const sent: Sent = {
    id: order.id,
    promptTokens: order.promptTokens,
    isStream: options.isStream,
    tags: options.tags?.split(", ").sort().join(",") ?? "",
    sentMs: performance.now(),
    endedMs: 0,
    status: 0,
    isWhole: false,
    isAborted: false,
    errorCode: null,
  };
  onSent(sent);
  const { hostname, port } = new URL(options.baseUrl);
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(abort);
      sent.endedMs = performance.now();
      resolve(sent);
    };
    const request = startRequest(
      {
        hostname,
        port,
        method: "POST",
        path: options.route,
        headers: {
          authorization: `Bearer ${options.key}`,
          "content-type": "application/json",
          "content-length": Buffer.byteLength(body),
          ...(options.tags !== undefined && { "x-tags": options.tags }),
        },
        agent,
        timeout: 90_000,
      },
      (response) => {
        sent.status = response.statusCode ?? 0;
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", () => undefined);
        response.on("close", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          sent.isWhole =
            sent.status === 200 &&
            response.complete &&
            (!options.isStream ||
              (text.includes(LAST_EVENT[options.route]) && !text.includes("event: response.failed")));
          if (sent.status !== 200) sent.errorCode = readCode(text);
          end();
        });
      },
    );
    const abort = setTimeout(() => {
      sent.isAborted = true;
      request.destroy();
    }, options.abortAfterMs ?? 120_000);
    request.on("timeout", () => request.destroy());
    request.on("error", (error: NodeJS.ErrnoException) => {
      if (sent.status === 0) sent.errorCode = error.code ?? null;
      if (sent.endedMs === 0 && sent.status === 0) end();
    });
    if (options.beforeBody === undefined) request.end(body);
    else {
      request.flushHeaders();
      void options.beforeBody.then(() => request.end(body));
    }
  });
}

/** A body of whole tokens by the gateway's first estimate, four bytes each, so that estimates come out even. */
function createBody(options: SendOptions): { body: string; order: Order } {
  const {
    outputTokens,
    tokenMs,
    behavior,
    place,
    model,
    isStream,
    guessedTokens = 50,
    tokensPerGuess = 1,
  } = options;
  const id = randomUUID();
  const format = (guess: number, padding: number): { body: string; order: Order } => {
    const order = {
      id,
      promptTokens: Math.round(guess * tokensPerGuess),
      outputTokens,
      tokenMs,
      ...(behavior === undefined ? {} : { behavior }),
      ...(place === undefined ? {} : { place }),
    };
    const content = JSON.stringify(order) + " ".repeat(padding);
    const messages = [{ role: "user", content }];
    const asked =
      options.route !== "/v1/responses"
        ? { messages, max_tokens: outputTokens }
        : { input: messages, max_output_tokens: outputTokens };
    const body = JSON.stringify({ model, stream: isStream, ...asked });
    return { body, order };
  };
  for (let guess = guessedTokens; ; guess += 1) {
    const missing = guess * BYTES_PER_TOKEN - Buffer.byteLength(format(guess, 0).body);
    if (missing >= 0) return format(guess, missing);
  }
}

function readCode(text: string): string | null {
  try {
    return (JSON.parse(text) as { error?: { code?: string } }).error?.code ?? null;
  } catch {
    return null;
  }
}

/** Clients that send until they are stopped. `next` says what. */
export function startClients(
  count: number,
  next: () => SendOptions,
  onSent: (sent: Sent) => void,
): { stop(): Promise<void> } {
  const state = { isStopped: false };
  const run = async (): Promise<void> => {
    while (!state.isStopped) {
      const sent = await sendOne(next(), onSent);
      if (sent.status !== 200) await wait(REFUSED_PAUSE_MS);
    }
  };
  const running = Array.from({ length: count }, run);
  return {
    async stop() {
      state.isStopped = true;
      await Promise.all(running);
    },
  };
}
