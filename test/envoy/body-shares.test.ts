/**
 * What a worker holds of bodies: one organization's part of it is its own, however much it begins, and others have their
 * answers meanwhile, small ones and large ones.
 */
import { describe, expect, it } from "vitest";
import { describeAnswer, summarizeError } from "../support/answer-checks.ts";
import { CHAT_PATH, chatBody, withChatStack } from "../support/chat-stack.ts";
import { byExtent } from "../support/extent.ts";
import { CHAT_MODEL } from "../support/gateway-config.ts";
import type { HttpAnswer } from "../support/http.ts";
import { finishChunk, textChunk, textCompletion } from "../support/scripted-answer.ts";
import { createGate } from "../support/wait.ts";

const MEBIBYTE = 1024 ** 2;
/** Share of the usual limits and sizes: at full size a test takes a core for seconds. */
const SCALE = byExtent({ push: 1 / 4, nightly: 1 });
const LIMITS = { max_body_bytes: 32 * MEBIBYTE * SCALE, max_buffered_bytes: 256 * MEBIBYTE * SCALE };
const OTHERS_REQUESTS = 42;
const HOSTILE_REQUESTS = 12;
const LARGE_BYTES = 30 * MEBIBYTE * SCALE;

describe("of a worker's budget", () => {
  const chat = withChatStack(() => ({ overrides: { limits: LIMITS } }));

  /** Small ones at once, then a large body and a large answer. */
  async function askAsAnother(): Promise<string[]> {
    const { key } = await chat.stack.createKey();
    const small = Array.from({ length: OTHERS_REQUESTS }, () => chat.send({ key, body: chatBody() }));
    const told = (await Promise.all(small)).map(describeAnswer);
    const largeBody = await chat.send({ key, body: chatBody({}, "x".repeat(LARGE_BYTES)) });
    chat.upstream.answerNext({ kind: "json", body: textCompletion("x".repeat(LARGE_BYTES), null) });
    const largeAnswer = await chat.send({ key, body: chatBody() });
    return [...told, describeAnswer(largeBody), describeAnswer(largeAnswer)];
  }

  const ALL_WELL = Array.from({ length: OTHERS_REQUESTS + 2 }, () => "200");

  it("large answers that do not end take their own part: the rest are refused, and others are not", async () => {
    const hostile = await chat.stack.createKey({ name: "hostile" });
    const gate = createGate();
    const head = `{"choices":[{"index":0,"message":{"role":"assistant","content":"${"x".repeat(LARGE_BYTES)}`;
    const pieces = [head, gate, '"},"finish_reason":"stop"}],"usage":null}'];
    const answers: Promise<HttpAnswer>[] = [];
    const refused: HttpAnswer[] = [];
    for (let sent = 1; sent <= HOSTILE_REQUESTS; sent += 1) {
      chat.upstream.answerNext({ kind: "bytes", headers: { "content-type": "application/json" }, pieces });
      const answer = chat.send({ key: hostile.key, body: chatBody() });
      answers.push(answer);
      void answer.then((one) => one.status === 429 && refused.push(one));
      // Those that are refused before they go upstream reach nobody.
      await Promise.race([chat.upstream.waitForRequests(sent), answer]);
    }
    expect(await askAsAnother()).toEqual(ALL_WELL);
    gate.release();
    const ended = await Promise.all(answers);
    expect(new Set(ended.map(({ status }) => status))).toEqual(new Set([200, 429]));
    for (const answer of refused) {
      expect(summarizeError(answer)).toMatchObject({ code: "buffer_limit_exceeded", breaches: [] });
      // What comes at once may be more than the organization's share, of which its key has a part.
      expect(answer.text).toMatch(
        /(?:API key \\"hostile\\"|The organization of this API key) has reached its share of the gateway's memory/,
      );
    }
  });

  it(
    "tools that answers repeat take their own part: the rest are refused, and others are not",
    { timeout: 300_000 },
    async () => {
      const hostile = await chat.stack.createKey();
      const gate = createGate();
      const events = [textChunk("begun"), gate, finishChunk()];
      const tools = [
        { type: "function", name: "f", description: "x".repeat(12 * MEBIBYTE * SCALE), parameters: {} },
      ];
      const body = { model: CHAT_MODEL, stream: true, input: "hi", tools };
      chat.upstream.answer({ kind: "events", events });
      // At once: each body that finds no room waits for twenty seconds before it is refused.
      const sent = Array.from({ length: HOSTILE_REQUESTS }, () => {
        const begun = createGate();
        const path = "/v1/responses";
        const answer = chat.send({ key: hostile.key, path, body, onData: () => begun.release() });
        return { answer, settled: Promise.race([begun.opened, answer]) };
      });
      await Promise.all(sent.map(({ settled }) => settled));
      chat.upstream.reset();
      expect(await askAsAnother()).toEqual(ALL_WELL);
      gate.release();
      const ended = await Promise.all(sent.map(({ answer }) => answer));
      expect(new Set(ended.map(({ status }) => status))).toEqual(new Set([200, 429]));
      for (const answer of ended.filter(({ status }) => status === 429)) {
        expect(summarizeError(answer)).toMatchObject({ code: "buffer_limit_exceeded", breaches: [] });
      }
    },
  );

  it("large bodies of many at once wait for one another, and none is refused", async () => {
    const keys = await Promise.all(Array.from({ length: 4 }, () => chat.stack.createKey()));
    const body = chatBody({}, "ü".repeat(LARGE_BYTES / 2));
    const answers = await Promise.all(keys.map(({ key }) => chat.send({ key, path: CHAT_PATH, body })));
    expect(answers.map(describeAnswer)).toEqual(["200", "200", "200", "200"]);
  });
});
