/** JSON of millions of values, from clients and from upstreams: refused before it is parsed, and others go on meanwhile. */
import { describe, expect, it } from "vitest";
import { describeAnswer, summarizeError } from "../support/answer-checks.ts";
import { CHAT_PATH, chatBody, withChatStack } from "../support/chat-stack.ts";
import { byExtent } from "../support/extent.ts";
import { CHAT_MODEL, catalogEntry } from "../support/gateway-config.ts";
import type { HttpAnswer } from "../support/http.ts";
import { finishChunk, textChunk } from "../support/scripted-answer.ts";
import { createGate } from "../support/wait.ts";

const NATIVE_MODEL = "acme/native";
/** 32 MiB, or all but. */
const MOST_OBJECTS = Math.floor((32 * 1024 * 1024 - 200) / 3);
/** Not many more than may be. */
const FEWER_OBJECTS = byExtent({ push: 300_000, nightly: MOST_OBJECTS });
/** Values of an answer: more than the million that it may have. Numbers and text do not count. */
const MANY_VALUES = byExtent({ push: 1_200_000, nightly: 5_000_000 });

const chat = withChatStack((upstream) => ({
  upstreams: [
    { name: "local", url: upstream.url, path_prefix: "/v1" },
    { name: "native", url: upstream.url, path_prefix: "/v1", protocols: ["messages", "responses"] },
  ],
  catalog: [
    catalogEntry({ capabilities: ["chat", "embeddings", "completions"] }),
    catalogEntry({ id: NATIVE_MODEL, upstream: "native" }),
  ],
}));

/** `[{},{},…]` of so many. */
const listObjects = (count: number): string => `[${"{},".repeat(count - 1)}{}]`;

interface Others {
  /** Ends the stream; resolves with it. */
  end(): Promise<HttpAnswer>;
}

/** The stream of another organization, in the middle of its answer. */
async function beginStreamOfOthers(): Promise<Others> {
  const { key } = await chat.stack.createKey();
  const gate = createGate();
  const events = [textChunk("begun "), gate, textChunk("and whole"), finishChunk()];
  chat.upstream.answerNext({ kind: "events", events });
  const begun = createGate();
  const answer = chat.send({ key, body: chatBody({ stream: true }), onData: () => begun.release() });
  await begun.opened;
  return {
    end: () => {
      gate.release();
      return answer;
    },
  };
}

describe("a body of too many empty objects, 32 MiB of them on the first route", () => {
  it.each([
    { path: CHAT_PATH, field: "messages", objects: MOST_OBJECTS },
    { path: "/v1/messages", field: "messages" },
    { path: "/v1/messages", field: "messages", model: NATIVE_MODEL },
    { path: "/v1/messages/count_tokens", field: "messages" },
    { path: "/v1/responses", field: "input" },
    { path: "/v1/responses", field: "input", model: NATIVE_MODEL },
    { path: "/v1/responses/input_tokens", field: "input" },
    { path: "/v1/completions", field: "prompt" },
    { path: "/v1/embeddings", field: "input" },
  ])(
    "is a 400 that names the bound at $path, and cuts no stream",
    async ({ path, field, model, objects = FEWER_OBJECTS }) => {
      const others = await beginStreamOfOthers();
      const body = `{"model":"${model ?? CHAT_MODEL}","max_tokens":9,"${field}":${listObjects(objects)}}`;
      const answer = await chat.send({ path, body, headers: { "content-type": "application/json" } });
      expect(summarizeError(answer)).toMatchObject({ status: 400, code: "invalid_json", breaches: [] });
      expect(answer.text).toContain("more than 250,000 objects, lists, strings and names of fields");
      const stream = await others.end();
      expect(describeAnswer(stream)).toBe("200");
      expect(stream.text).toContain("[DONE]");
    },
  );
});

describe("an upstream's answer of millions of values", () => {
  const json = { "content-type": "application/json" };
  const values = listObjects(MANY_VALUES);

  it("is 502 where it is whole, and cuts no stream", async () => {
    const others = await beginStreamOfOthers();
    const pieces = [`{"choices":[{"index":0,"message":{"content":"x"},"more":${values}}]}`];
    chat.upstream.answerNext({ kind: "bytes", headers: json, pieces });
    const answer = await chat.send({ body: chatBody() });
    expect(summarizeError(answer)).toMatchObject({ status: 502, code: "upstream_error", breaches: [] });
    expect((await others.end()).text).toContain("[DONE]");
  });

  it("is an error event in a stream, and cuts no other", async () => {
    const others = await beginStreamOfOthers();
    const event = textChunk("x", { more: JSON.parse(listObjects(1_200_000)) as unknown });
    chat.upstream.answerNext({ kind: "events", events: [event] });
    const answer = await chat.send({ body: chatBody({ stream: true }) });
    expect(answer.text).toContain('"code":"upstream_error"');
    expect((await others.end()).text).toContain("[DONE]");
  });
});

it("a large body of few values passes, and embeddings of millions of numbers do", async () => {
  chat.upstream.answerNext({
    kind: "bytes",
    headers: { "content-type": "application/json" },
    pieces: [
      `{"object":"list","data":[{"index":0,"embedding":[${"0.5,".repeat(MANY_VALUES)}1]}],"usage":{"prompt_tokens":1}}`,
    ],
  });
  const embedded = await chat.send({ path: "/v1/embeddings", body: { model: CHAT_MODEL, input: "x" } });
  expect(describeAnswer(embedded)).toBe("200");
  const large = await chat.send({ body: chatBody({}, "{,[".repeat(MANY_VALUES)) });
  expect(describeAnswer(large)).toBe("200");
});
