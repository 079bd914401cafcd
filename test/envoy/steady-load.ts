/** What goes on while a part of the gateway is replaced: streams that are open, and clients that ask again and again. */
import { setTimeout as wait } from "node:timers/promises";
import { summarizeError } from "../support/answer-checks.ts";
import { CHAT_PATH, chatBody } from "../support/chat-stack.ts";
import { type HttpAnswer, readEvents, send } from "../support/http.ts";
import { finishChunk, textChunk } from "../support/scripted-answer.ts";
import type { ScriptedUpstream } from "../support/upstream.ts";
import { createGate, waitFor } from "../support/wait.ts";

/** Between the requests of a client: without one they would have both cores for themselves. */
const PAUSE_MS = 40;

export interface SteadyLoad {
  /** Answers of the clients so far. */
  count(): number;
  /** Lets the streams run out; how many of them came whole. */
  finishStreams(): Promise<number>;
  /** Ends the clients; what they were answered, each kind once: "200", "503 gateway_unavailable". */
  stopClients(): Promise<readonly string[]>;
}

export interface SteadyLoadOptions {
  readonly baseUrl: string;
  readonly key: string;
  readonly upstream: ScriptedUpstream;
  readonly streams: number;
  readonly clients: number;
  /** Called once every stream has its first piece, before the clients begin. */
  readonly onStreamsOpen?: () => Promise<void>;
}

/** Resolves when all streams are open and the clients are asking. */
export async function startSteadyLoad(options: SteadyLoadOptions): Promise<SteadyLoad> {
  const { baseUrl, key, upstream } = options;
  const post = (body: object, onData?: (chunk: Buffer) => void): Promise<HttpAnswer> => {
    const headers = { authorization: `Bearer ${key}` };
    return send(baseUrl, { path: CHAT_PATH, headers, body, ...(onData === undefined ? {} : { onData }) });
  };
  const gate = createGate();
  upstream.answer({ kind: "events", events: [textChunk("one"), gate, textChunk(" two"), finishChunk()] });
  const begun = new Set<number>();
  const streams = Array.from({ length: options.streams }, (_, index) =>
    post(chatBody({ stream: true }), () => void begun.add(index)),
  );
  await waitFor("the first piece of each stream", () => begun.size === options.streams);
  await options.onStreamsOpen?.();
  upstream.answer({ kind: "echo" });

  const outcomes = new Map<string, number>();
  const state = { isOver: false };
  const clients = Array.from({ length: options.clients }, async () => {
    while (!state.isOver) {
      await wait(PAUSE_MS);
      const answer = await post(chatBody());
      const outcome = answer.status === 200 ? "200" : `${answer.status} ${summarizeError(answer).code}`;
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
  });
  return {
    count: () => [...outcomes.values()].reduce((sum, one) => sum + one, 0),
    async finishStreams() {
      gate.release();
      return (await Promise.all(streams)).filter(isDone).length;
    },
    async stopClients() {
      state.isOver = true;
      await Promise.all(clients);
      return [...outcomes.keys()];
    },
  };
}

function isDone(answer: HttpAnswer): boolean {
  return answer.complete && readEvents(answer.text).at(-1) === "[DONE]";
}
