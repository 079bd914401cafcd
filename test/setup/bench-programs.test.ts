/** The benchmark's programs in C do what those in Node do, so that a figure means the same with and without a compiler. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compileProgram } from "../bench/compiled.ts";
import { createLoadGenerator, KEY_MARK, type LoadGenerator } from "../bench/load.ts";
import { type Mock, startMock } from "../bench/mock.ts";
import { createMockAnswers } from "../bench/mock-answers.ts";
import { CHAT_PATH, chatBody, TEXT_CHUNKS } from "../bench/workloads.ts";
import { send } from "../support/http.ts";
import { startUpstream } from "../support/upstream.ts";

const probe = compileProgram("mock-upstream");
probe?.remove();
const needs = probe === null ? " (skipped: takes Linux and a C compiler)" : "";
const PROGRAMS = probe === null ? (["node"] as const) : (["node", "compiled"] as const);

describe.each(PROGRAMS)(`the mock upstream, %s${needs}`, (name) => {
  let mock: Mock;
  beforeAll(async () => {
    mock = await startMock(name);
  });
  afterAll(() => mock.stop());
  const post = (body: string) =>
    send(`http://127.0.0.1:${mock.port}`, {
      method: "POST",
      path: CHAT_PATH,
      body: JSON.parse(body) as object,
    });

  it("answers a request with one JSON document", async () => {
    const { json } = createMockAnswers(TEXT_CHUNKS);
    const answer = await post(chatBody(1_024));
    expect(answer.status).toBe(200);
    expect(json.toString().endsWith(answer.text)).toBe(true);
  });

  it("answers a stream with the events of a model server, and large bodies as small ones", async () => {
    const { stream } = createMockAnswers(TEXT_CHUNKS);
    const answer = await post(chatBody(2_000_000, { stream: true }));
    expect(answer.complete).toBe(true);
    expect(answer.text.split("\n\n").filter((event) => event !== "")).toHaveLength(stream.length);
    expect(answer.text.endsWith("data: [DONE]\n\n")).toBe(true);
  });
});

describe.each(PROGRAMS)(`the load generator, %s${needs}`, (name) => {
  let generator: LoadGenerator;
  beforeAll(() => {
    generator = createLoadGenerator(name);
  });
  afterAll(() => generator.close());

  it("sends the request that it is told, with keys in turn, and counts every answer", async () => {
    const upstream = await startUpstream();
    const keys = ["a", "b", "c"].map((letter) => letter.repeat(KEY_MARK.length));
    try {
      const result = await generator.run({
        url: `${upstream.url}${CHAT_PATH}`,
        body: chatBody(1_024),
        headers: { "content-type": "application/json", authorization: `Bearer ${KEY_MARK}` },
        connections: 3,
        seconds: 1,
        expectedStatus: 200,
        keys,
      });
      expect(result.failures).toBe(0);
      expect(upstream.requests).toHaveLength(result.requests);
      const seen = upstream.requests.map(({ headers }) => headers.authorization?.replace("Bearer ", ""));
      expect(new Set(seen)).toEqual(new Set(keys));
      expect(upstream.requests[0]?.body).toEqual(JSON.parse(chatBody(1_024)));
    } finally {
      await upstream.close();
    }
  });

  it("counts answers of another status than the one that is expected as failures", async () => {
    const upstream = await startUpstream();
    upstream.answer({ kind: "json", status: 503, body: {} });
    try {
      const result = await generator.run({
        url: `${upstream.url}${CHAT_PATH}`,
        body: "{}",
        headers: { "content-type": "application/json" },
        connections: 2,
        seconds: 1,
        expectedStatus: 200,
      });
      expect(result.requests).toBeGreaterThan(0);
      expect(result.failures).toBe(result.requests);
    } finally {
      await upstream.close();
    }
  });
});
