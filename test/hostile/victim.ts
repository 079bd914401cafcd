/**
 * The organization that nobody may hurt: clients that ask steadily, in every protocol, with streams and without. Each answer
 * is compared with what the upstream was told to say.
 */
import { setTimeout as wait } from "node:timers/promises";
import { textOf } from "../faults/counting-upstream.ts";
import { readEvents } from "../support/http.ts";
import type { CreatedKey } from "../support/test-key.ts";
import type { HttpVersion } from "./combinations.ts";
import { createBody, createOrder, type Route, ROUTES } from "./orders.ts";
import { createPlainClient, type PlainAnswer, type PlainClient } from "./plain-client.ts";

/** One request of it. */
export interface Asked {
  readonly sentMs: number;
  readonly endedMs: number;
  /** A quick one's duration is a latency; a stream that takes its time is there to be cut. */
  readonly isQuick: boolean;
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** Null: it was answered whole, and as it had to be. */
  readonly failure: string | null;
}

export interface VictimOptions {
  readonly baseUrl: string;
  readonly http: HttpVersion;
  readonly key: CreatedKey;
  /** Called with each that has ended. */
  readonly onAsked: (asked: Asked) => void;
}

export interface RunningVictim {
  stop(): Promise<void>;
}

/** Of each organization: so many that ask at once again, and so many whose streams take seconds. */
const QUICK_CLIENTS = 2;
const STREAM_CLIENTS = 2;
/** Between two requests of a quick client: steady, and no load that the machine cannot carry. */
const PACE_MS = 60;
const LONG_STREAM = { outputTokens: 40, tokenMs: 50 };

export function startVictim(options: VictimOptions): RunningVictim {
  const state = { isStopped: false };
  const run = async (isQuick: boolean, first: number): Promise<void> => {
    const client = createPlainClient(options.http, options.baseUrl);
    for (let turn = first; !state.isStopped; turn += 1) {
      await ask(options, client, isQuick, turn);
      if (isQuick) await wait(PACE_MS);
    }
    client.close();
  };
  const running = [
    ...Array.from({ length: QUICK_CLIENTS }, (_, index) => run(true, index)),
    ...Array.from({ length: STREAM_CLIENTS }, (_, index) => run(false, index)),
  ];
  return {
    async stop() {
      state.isStopped = true;
      await Promise.all(running);
    },
  };
}

async function ask(
  { key, onAsked }: VictimOptions,
  client: PlainClient,
  isQuick: boolean,
  turn: number,
): Promise<void> {
  const route = ROUTES[turn % ROUTES.length] ?? ROUTES[0];
  const stream = !isQuick || turn % 2 === 0;
  const order = createOrder(isQuick ? {} : LONG_STREAM);
  const own = { ...order, text: ` ${order.id}` };
  const headers = {
    authorization: `Bearer ${key.key}`,
    "content-type": "application/json",
    "x-tags": `team=victim,turn=${turn % 4}`,
  };
  const sentMs = performance.now();
  const answer = await client.post(route, headers, createBody(route, own, { stream }));
  const { promptTokens, outputTokens } = own;
  const failure = describeFailure(answer, route, stream, textOf(own));
  onAsked({ sentMs, endedMs: performance.now(), isQuick, promptTokens, outputTokens, failure });
}

const SHOWN_CHARACTERS = 300;

function describeFailure(
  answer: PlainAnswer,
  route: Route,
  stream: boolean,
  expected: string,
): string | null {
  const { status, text, isComplete } = answer;
  const found = status === 200 && isComplete ? readText(text, route, stream) : null;
  if (found === expected) return null;
  const shown = text.slice(-SHOWN_CHARACTERS);
  return `${route}, stream ${stream}: ${status} ${isComplete ? "whole" : "cut off"}: ${shown}`;
}

/** What the answer says; null where its end is not there. */
function readText(text: string, route: Route, stream: boolean): string | null {
  try {
    return stream
      ? READERS[route].stream(readEvents(text) as Event[])
      : (READERS[route].whole(JSON.parse(text) as Answer) ?? null);
  } catch {
    return null;
  }
}

/** Of all three protocols, what is read here. */
interface Answer {
  readonly choices?: readonly { readonly message?: Text; readonly delta?: Text }[];
  readonly content?: readonly { readonly text?: string }[];
  readonly output?: readonly { readonly content?: readonly { readonly text?: string }[] }[];
}

interface Text {
  readonly content?: string;
}

/** Of a stream; the last one of a chat is no object. */
type Event = Omit<Answer, "content"> & {
  readonly type?: string;
  readonly delta?: string | { readonly text?: string };
};

interface Reader {
  whole(answer: Answer): string | undefined;
  stream(events: readonly Event[]): string | null;
}

const READERS: Readonly<Record<Route, Reader>> = {
  "/v1/chat/completions": {
    whole: ({ choices }) => choices?.[0]?.message?.content,
    stream: (events) =>
      (events.at(-1) as unknown) === "[DONE]"
        ? events.map(({ choices }) => choices?.[0]?.delta?.content ?? "").join("")
        : null,
  },
  "/v1/messages": {
    whole: ({ content }) => content?.[0]?.text,
    stream: (events) =>
      events.at(-1)?.type === "message_stop"
        ? events.map(({ delta }) => (typeof delta === "object" ? (delta.text ?? "") : "")).join("")
        : null,
  },
  "/v1/responses": {
    whole: ({ output }) => output?.[0]?.content?.[0]?.text,
    stream: (events) =>
      events.some(({ type }) => type === "response.completed")
        ? events
            .filter(({ type }) => type === "response.output_text.delta")
            .map(({ delta }) => (typeof delta === "string" ? delta : ""))
            .join("")
        : null,
  },
};
