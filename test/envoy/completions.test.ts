import { describe, expect, it } from "vitest";
import { CHAT_PATH, chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import { catalogEntry, CHAT_MODEL, CHAT_UPSTREAM_MODEL } from "../support/gateway-config.ts";
import { type HttpAnswer, readError } from "../support/http.ts";
import { waitFor } from "../support/wait.ts";
import { readRequest, readSpend } from "./metering-figures.ts";
import { monthLimits } from "../support/month-limits.ts";

const PATH = "/v1/completions";
const TEXT_MODEL = "acme/text";
const BOTH_MODEL = "acme/text-and-chat";
const CENT = 1_000_000n;

/** A cent for a prompt token, two for a generated one. */
const chat = withSharedChatStack([
  catalogEntry({ capabilities: [] }),
  catalogEntry({
    id: TEXT_MODEL,
    max_output_tokens: 100,
    capabilities: ["completions"],
    prices: { USD: { input: "10000", cached_input: "1000", output: "20000" } },
  }),
  catalogEntry({ id: BOTH_MODEL, capabilities: ["completions", "chat"] }),
]);

const send = (fields: object = {}, options: object = {}): Promise<HttpAnswer> =>
  chat.send({ path: PATH, body: { model: TEXT_MODEL, prompt: "hello", ...fields }, ...options });

const choice = (text: string, finish: string | null = null, index = 0): object => ({
  index,
  text,
  logprobs: null,
  finish_reason: finish,
});
const answerOf = (choices: readonly object[], usage?: object): object => ({
  id: "cmpl-1",
  object: "text_completion",
  created: 1_790_000_000,
  model: "text",
  choices,
  ...(usage === undefined ? {} : { usage }),
});
const USAGE = { prompt_tokens: 4, completion_tokens: 3, total_tokens: 7 };

describe("POST /v1/completions", () => {
  it("passes a request and its answer through but for the model's name, charged by the upstream's usage", async () => {
    const key = await chat.stack.createKey();
    const body = answerOf([choice(" big world", "stop")], USAGE);
    chat.upstream.answer({ kind: "json", body });
    const fields = { max_tokens: 5, suffix: "!", logprobs: 2 };
    const answer = await send(fields, { key: key.key });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toEqual({ ...body, model: TEXT_MODEL });
    expect(chat.upstream.lastRequest.path).toBe("/v1/completions");
    expect(chat.upstream.lastRequest.body).toEqual({
      model: CHAT_UPSTREAM_MODEL,
      prompt: "hello",
      ...fields,
    });
    expect((await readSpend(chat.stack, key)).key).toBe(10n * CENT);
    expect(await readRequest(chat.stack, key, answer)).toMatchObject({
      route: "POST /v1/completions",
      input_tokens: 4,
      output_tokens: 3,
      estimated: false,
    });
  });

  it("streams under the catalog's model id, asks for usage, and shows it only to a client that asked", async () => {
    const key = await chat.stack.createKey();
    const events = [answerOf([choice(" big")]), answerOf([choice(" world", "stop")]), answerOf([], USAGE)];
    chat.upstream.answer({ kind: "events", events });
    const hidden = await send({ stream: true }, { key: key.key });
    expect(hidden.headers["content-type"]).toMatch(/^text\/event-stream/u);
    expect(chat.upstream.lastRequest.body?.["stream_options"]).toEqual({ include_usage: true });
    expect(hidden.text).not.toContain("usage");
    expect(hidden.text.endsWith("data: [DONE]\n\n")).toBe(true);
    expect(hidden.text.match(/"model":"acme\/text"/gu)).toHaveLength(2);
    expect((await readSpend(chat.stack, key)).key).toBe(10n * CENT);
    const shown = await send({ stream: true, stream_options: { include_usage: true } });
    expect(shown.text).toContain('"total_tokens":7');
  });

  it("plays a JSON answer as the stream that the client asked for", async () => {
    chat.upstream.answer({ kind: "json", body: answerOf([choice(" world", "stop")], USAGE) });
    const answer = await send({ stream: true });
    expect(answer.headers["content-type"]).toMatch(/^text\/event-stream/u);
    expect(answer.text).toContain('"text":" world"');
    expect(answer.text.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  it("ends a stream that breaks off in an error event, charged for what came", async () => {
    const key = await chat.stack.createKey();
    const events = [answerOf([choice("a")]), answerOf([choice(" b")])];
    chat.upstream.answer({ kind: "events", events, done: false });
    const answer = await send({ stream: true, prompt: [1, 2, 3] }, { key: key.key });
    expect(answer.text).toContain('"code":"upstream_error"');
    const record = await readRequest(chat.stack, key, answer);
    expect(record).toMatchObject({ estimated: true, input_tokens: 3, output_tokens: 2 });
  });

  it("counts an echo as a part of the prompt where the upstream tells no usage", async () => {
    const key = await chat.stack.createKey();
    const echoed = "one two three four five six seven eight nine ten";
    chat.upstream.answer({ kind: "json", body: answerOf([choice(`${echoed} end`, "stop")]) });
    const answer = await send({ prompt: echoed, echo: true }, { key: key.key });
    const record = await readRequest(chat.stack, key, answer);
    expect(record).toMatchObject({ estimated: true, output_tokens: 1 });
  });

  it.each([
    [{ n: 3 }, 3],
    [{ best_of: 4, n: 2 }, 4],
    [{ prompt: ["a", "b"], n: 2 }, 4],
    [{ prompt: [[1], [2], [3]], best_of: 2 }, 6],
  ])("holds output × prompts × max(n, best_of) with strict caps: %j", async (fields, answers) => {
    const upstreamBody = JSON.stringify({
      model: CHAT_UPSTREAM_MODEL,
      prompt: "hello",
      max_tokens: 5,
      ...fields,
    });
    const worst = upstreamBody.length + 64 + 2 * 5 * answers;
    const strict = { strictCaps: true };
    const short = await chat.stack.createKey({ limits: monthLimits({ cap: worst - 1 }) }, strict);
    const enough = await chat.stack.createKey({ limits: monthLimits({ cap: worst }) }, strict);
    chat.upstream.answer({ kind: "json", body: answerOf([choice("x", "stop")], USAGE) });
    const body = { max_tokens: 5, ...fields };
    expect((await send(body, { key: short.key })).status).toBe(402);
    expect((await send(body, { key: enough.key })).status).toBe(200);
  });

  it.each([
    [{ prompt: [] }, "prompt"],
    [{ prompt: 7 }, "prompt"],
    [{ n: 0 }, "n"],
    [{ best_of: 1_000 }, "best_of"],
    [{ max_tokens: -1 }, "max_tokens"],
    [{ stream: "yes" }, "stream"],
    [{ Prompt: "x" }, "Prompt"],
  ])("refuses %j with the field's name", async (fields, param) => {
    const answer = await send(fields);
    expect([answer.status, readError(answer)]).toMatchObject([400, { code: "invalid_parameter", param }]);
    expect(chat.upstream.requests).toHaveLength(0);
  });

  it("refuses what is given twice", async () => {
    const body = `{"model":"${TEXT_MODEL}","prompt":"a","max_tokens":1,"max_tokens":9}`;
    const answer = await chat.send({ path: PATH, body });
    expect(readError(answer)).toMatchObject({ code: "invalid_parameter", param: "max_tokens" });
  });

  it("refuses a model without them", async () => {
    const refused = await send({ model: CHAT_MODEL });
    expect([refused.status, readError(refused).code]).toEqual([400, "endpoint_not_available_for_model"]);
  });

  it("are all that a model has that names no chat beside them, as the list of models says", async () => {
    const body = chatBody({ model: TEXT_MODEL });
    const paths = [CHAT_PATH, "/v1/messages", "/v1/messages/count_tokens"];
    for (const request of [
      ...paths.map((path) => ({ path, body: { ...body, max_tokens: 5 } })),
      { path: "/v1/responses", body: { model: TEXT_MODEL, input: "hi" } },
    ]) {
      const answer = await chat.send(request);
      expect([request.path, answer.status]).toEqual([request.path, 400]);
      const { code, message } = readError(answer);
      expect(code).toBe("endpoint_not_available_for_model");
      expect(message).toContain("`POST /v1/completions`");
    }
    expect((await chat.send({ path: CHAT_PATH, body: chatBody({ model: BOTH_MODEL }) })).status).toBe(200);
    const { data } = JSON.parse((await chat.send({ path: "/v1/models", method: "GET" })).text) as {
      data: readonly { readonly id: string; readonly supported_endpoints: readonly string[] }[];
    };
    expect(data.find(({ id }) => id === TEXT_MODEL)?.supported_endpoints).toEqual(["/v1/completions"]);
  });

  it("charges what came to a client that went away", async () => {
    const key = await chat.stack.createKey();
    chat.upstream.answer({ kind: "hang" });
    const controller = new AbortController();
    const gone = fetch(`${chat.stack.baseUrl}${PATH}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: TEXT_MODEL, prompt: [5, 6, 7, 8] }),
      signal: controller.signal,
    }).catch(() => null);
    await chat.upstream.waitForRequests(1);
    controller.abort();
    await gone;
    const charged = async () => (await readSpend(chat.stack, key)).key > 0n;
    await waitFor("the charge", charged);
    expect((await readSpend(chat.stack, key)).key).toBe(4n * CENT);
  });
});
