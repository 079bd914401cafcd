/** What Anthropic bills at prices of their own, a speed and a place: as service tiers, by what the usage says. */
import { describe, expect, it } from "vitest";
import { withSharedChatStack } from "../support/chat-stack.ts";
import { catalogEntry } from "../support/gateway-config.ts";
import { readError, send } from "../support/http.ts";
import { namedEvent } from "../support/native-exchange.ts";
import { textCompletion } from "../support/scripted-answer.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { messagesBody, MESSAGES_PATH, readRequest, readSpend } from "./metering-figures.ts";

const FAST_MODEL = "acme/fast";
const PLAIN_MODEL = "acme/plain";
/** Microcents a token, input and output: 100 and 400, fast 600 and 2,400, in the US 110 and 440, both 660 and 2,640. */
const USD = {
  input: "1",
  output: "4",
  service_tiers: {
    fast: { input: "6", output: "24" },
    us: { input: "1.1", output: "4.4" },
    "fast-us": { input: "6.6", output: "26.4" },
    batch: { input: "0.5", output: "2" },
  },
};
const FIELDS = { context_window: 10_000, max_output_tokens: 1_000, protocols: ["chat", "messages"] };
const chat = withSharedChatStack([
  catalogEntry({ id: FAST_MODEL, prices: { USD }, ...FIELDS }),
  catalogEntry({ id: PLAIN_MODEL, prices: { USD: { input: "1", output: "4" } }, ...FIELDS }),
]);

const TOKENS = { input_tokens: 10, output_tokens: 20 };
const MESSAGE = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "x",
  content: [{ type: "text", text: "Hi" }],
  stop_reason: "end_turn",
};
const ask = (key: CreatedKey, fields: object) =>
  chat.stack.send({
    path: MESSAGES_PATH,
    key: key.key,
    body: messagesBody({ model: FAST_MODEL, ...fields }),
  });

describe("a speed and a place", () => {
  it.each([
    [{ service_tier: "standard", speed: "standard", inference_geo: "global" }, "default", 9_000],
    [{ service_tier: "standard", speed: "fast", inference_geo: "not_available" }, "fast", 54_000],
    [{ service_tier: "standard", inference_geo: "us" }, "us", 9_900],
    [{ service_tier: "standard", speed: "fast", inference_geo: "us" }, "fast-us", 59_400],
    [{ service_tier: "batch", inference_geo: "global" }, "batch", 4_500],
    // The place without a price there: what is known of the rest.
    [{ service_tier: "batch", inference_geo: "us" }, "batch", 4_500],
    [{ speed: "warp" }, "default", 9_000],
  ])("are charged as the usage says, %j at %s", async (served, tier, microcents) => {
    const key = await chat.stack.createKey();
    const usage = { ...TOKENS, ...served };
    chat.upstream.answer({ kind: "json", body: { ...MESSAGE, usage } });
    const answer = await ask(key, {});
    expect(await readSpend(chat.stack, key)).toMatchObject({ key: BigInt(microcents) });
    expect((await readRequest(chat.stack, key, answer)).cost_details).toMatchObject({ service_tier: tier });
  });

  it("without a price are counted under their name, so that the alarm tells which it is", async () => {
    chat.upstream.answer({ kind: "json", body: { ...MESSAGE, usage: { ...TOKENS, inference_geo: "us" } } });
    expect((await ask(chat.key, { model: PLAIN_MODEL })).status).toBe(200);
    const { text } = await send(chat.stack.adminUrl, { path: "/metrics" });
    expect(text).toMatch(
      /inference_gateway_unpriced_service_tiers_total\{[^}]*model="acme\/plain",service_tier="us"[^}]*\} 1/,
    );
  });

  it("of a stream may be told in parts, at its beginning and at its end", async () => {
    const key = await chat.stack.createKey();
    const usage = { input_tokens: 10, output_tokens: 1, service_tier: "standard", inference_geo: "us" };
    const events = [
      namedEvent("message_start", { message: { ...MESSAGE, content: [], usage } }),
      namedEvent("content_block_start", { index: 0, content_block: { type: "text", text: "Hi" } }),
      namedEvent("content_block_stop", { index: 0 }),
      namedEvent("message_delta", {
        delta: { stop_reason: "end_turn" },
        usage: { output_tokens: 20, speed: "fast" },
      }),
      namedEvent("message_stop"),
    ];
    chat.upstream.answer({ kind: "bytes", headers: { "content-type": "text/event-stream" }, pieces: events });
    expect((await ask(key, { stream: true })).status).toBe(200);
    expect((await readSpend(chat.stack, key)).key).toBe(59_400n);
  });

  it("count in chat completions, too, whose proxies pass them on", async () => {
    const key = await chat.stack.createKey();
    const usage = { prompt_tokens: 10, completion_tokens: 20, speed: "fast", inference_geo: "us" };
    chat.upstream.answer({ kind: "json", body: textCompletion("Hi", null, { usage }) });
    expect((await chat.send({ key: key.key, body: messagesBody({ model: FAST_MODEL }) })).status).toBe(200);
    expect((await readSpend(chat.stack, key)).key).toBe(59_400n);
  });

  it.each([
    [PLAIN_MODEL, { speed: "fast" }, "speed", "service_tiers: {fast: …}"],
    [PLAIN_MODEL, { inference_geo: "us" }, "inference_geo", "service_tiers: {us: …}"],
    [FAST_MODEL, { inference_geo: "eu" }, "inference_geo", "service_tiers: {eu: …}"],
    [FAST_MODEL, { speed: "fast", inference_geo: "eu" }, "speed", "service_tiers: {fast-eu: …}"],
  ])("[native.speed] are a 400 at %s without a price, %j, that names the setting", async (...given) => {
    const [model, fields, param, setting] = given;
    for (const path of [MESSAGES_PATH, "/v1/chat/completions"]) {
      const body = messagesBody({ model, ...fields });
      const answer = await chat.stack.send({ path, key: chat.key.key, body });
      expect(answer.status).toBe(400);
      expect(readError(answer)).toMatchObject({ code: "unsupported_parameter", param });
      expect(readError(answer).message).toContain(setting);
    }
    expect(chat.upstream.requests).toEqual([]);
  });

  it("[native.speed] pass with a price, under strict caps too, and as what costs nothing more", async () => {
    const key = await chat.stack.createKey({}, { strictCaps: true });
    chat.upstream.answer({ kind: "json", body: { ...MESSAGE, usage: { ...TOKENS, speed: "fast" } } });
    const asked = { speed: "fast", inference_geo: "us" };
    expect((await ask(key, asked)).status).toBe(200);
    expect(chat.upstream.lastRequest.body).toMatchObject(asked);
    const free = { model: PLAIN_MODEL, speed: "standard", inference_geo: "global" };
    expect((await ask(key, free)).status).toBe(200);
  });
});
