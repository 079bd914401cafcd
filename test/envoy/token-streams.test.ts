/** Streams of minutes under a limit of tokens per minute, by Redis's clock: what they generate counts while they run. */
import { describe, expect, it } from "vitest";
import { CHAT_PATH, chatBody } from "../support/chat-stack.ts";
import type { HttpAnswer } from "../support/http.ts";
import { finishChunk, textChunk, textCompletion, usageChunk } from "../support/scripted-answer.ts";
import { createGate, type Gate, waitFor } from "../support/wait.ts";
import { canSetClock, CLOCK_NEEDS, withTimedStack } from "./timed-stack.ts";

const BEGIN_MS = Date.parse("2026-11-26T12:00:00Z");
const LIMIT = 1_000;
/** Over both workers. */
const STREAMS = 4;
const ROUNDS = 3;
/** Of each stream in each round: at least a token each, and at most a token and a half. */
const WORDS = 600;
/** What the upstream says at its end that a stream has come to: more than what was estimated meanwhile. */
const TOLD = 3_000;
/** Of a level; each millisecond adds as many as the limit says. */
const UNITS = 60_000;

describe.skipIf(!canSetClock)(`streams of minutes${CLOCK_NEEDS}`, () => {
  const timed = withTimedStack(new Date(BEGIN_MS).toISOString(), 2);

  const stream = (key: string, rounds: readonly Gate[], end: Gate): Promise<HttpAnswer> => {
    const events = rounds.flatMap((gate) => [gate, textChunk("word ".repeat(WORDS))]);
    const usage = usageChunk({ promptTokens: 10, cachedTokens: 0, completionTokens: TOLD });
    timed.upstream.answerNext({ kind: "events", events: [...events, end, finishChunk(), usage] });
    return timed.stack.send({ path: CHAT_PATH, key, body: chatBody({ stream: true }) });
  };

  const ask = (key: string): Promise<HttpAnswer> => {
    const usage = { promptTokens: 10, cachedTokens: 0, completionTokens: 0 };
    timed.upstream.answer({ kind: "json", body: textCompletion("", usage) });
    return timed.stack.send({ path: CHAT_PATH, key, body: chatBody() });
  };
  const waitOf = async (key: string): Promise<number> => Number((await ask(key)).headers["retry-after"] ?? 0);
  /** What a call that takes nothing is told. */
  const left = async (key: string): Promise<number> => {
    const answer = await timed.stack.send({ method: "GET", path: "/v1/models", key });
    return Number(answer.headers["x-ratelimit-remaining-output-tokens"]);
  };

  it("take of it while they run, over both workers, and others wait to the second until it is paid off", async () => {
    const { key } = await timed.stack.createKey({ outputTokensPerMinute: LIMIT });
    const rounds = Array.from({ length: ROUNDS }, () => createGate());
    const end = createGate();
    const running = Array.from({ length: STREAMS }, () => stream(key, rounds, end));
    await timed.upstream.waitForRequests(STREAMS);
    expect(await left(key)).toBe(LIMIT);
    let passedS = 0;
    const pass = (seconds: number): void => {
      passedS += seconds;
      timed.setClock(new Date(BEGIN_MS + passedS * 1000).toISOString());
    };
    for (const [round, gate] of rounds.entries()) {
      gate.release();
      // The bucket was full at first, and is just above 0 at each later round.
      const overdrawn = STREAMS * WORDS - (round === 0 ? LIMIT : 0);
      const waitS = await waitFor("the progress of all streams", async () => {
        const seconds = await waitOf(key);
        return seconds >= (overdrawn / LIMIT) * 60 && seconds;
      });
      expect(await left(key)).toBe(0);
      pass(waitS - 1);
      expect((await ask(key)).status).toBe(429);
      pass(1);
      expect((await ask(key)).status).toBe(200);
    }
    expect(passedS).toBeGreaterThan(5 * 60);
    end.release();
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual(running.map(() => 200));
    // Published: limit × (t + 1); each token that the upstream has counted is taken, and none twice.
    const level = () => LIMIT * (passedS * 1000 + 60_000) - STREAMS * TOLD * UNITS;
    const waitS = Math.ceil((1 - level()) / LIMIT / 1000);
    await waitFor("the upstream's own count", async () => (await waitOf(key)) === waitS);
    pass(waitS + 30);
    expect(await left(key)).toBe(Math.floor(level() / UNITS));
  });
});
