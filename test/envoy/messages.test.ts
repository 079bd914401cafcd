import { describe, expect, it } from "vitest";
import { withChatStack } from "../support/chat-stack.ts";
import { CHAT_MODEL, CHAT_UPSTREAM_MODEL } from "../support/gateway-config.ts";
import { MESSAGES_PATH, messagesBody } from "./metering-figures.ts";
import { COUNT_TOKENS_PATH, describeMessagesAnswer } from "./messages-checks.ts";
import { sendMessages } from "./messages-checks.ts";

const chat = withChatStack();

describe("the messages route", () => {
  it("answers in the Anthropic shape and asks the upstream in the OpenAI shape", async () => {
    const answer = await sendMessages(chat, { body: messagesBody({ system: "Be brief." }) });
    expect(describeMessagesAnswer(answer)).toBe("200");
    expect(answer.headers["content-type"]).toBe("application/json");
    expect(answer.json()).toEqual({
      id: expect.stringMatching(/^msg_[\dA-Za-z]{24}$/u) as string,
      type: "message",
      role: "assistant",
      model: CHAT_MODEL,
      content: [{ type: "text", text: "hello big world" }],
      stop_reason: "end_turn",
      stop_sequence: null,
      stop_details: null,
      container: null,
      diagnostics: null,
      usage: {
        input_tokens: 5,
        output_tokens: 3,
        cache_read_input_tokens: 0,
        cache_creation_input_tokens: 0,
        cache_creation: null,
        output_tokens_details: null,
        server_tool_use: null,
        service_tier: null,
        speed: null,
        inference_geo: null,
      },
    });
    expect(chat.upstream.lastRequest.path).toBe("/v1/chat/completions");
    expect(chat.upstream.lastRequest.body).toEqual({
      model: CHAT_UPSTREAM_MODEL,
      max_tokens: 1_000,
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "hello big world" },
      ],
    });
  });

  it.each([
    { name: "no version", headers: {} },
    { name: "the first version", headers: { "anthropic-version": "2023-06-01" } },
    { name: "the newest version", headers: { "anthropic-version": "2026-10-21" } },
    { name: "a version that nobody knows", headers: { "anthropic-version": "tomorrow" } },
    { name: "betas", headers: { "anthropic-version": "2023-06-01", "anthropic-beta": "a-2025-01-01,b" } },
    {
      name: "betas in several lines",
      headers: { "anthropic-beta": ["a-2025-01-01", "interleaved-thinking-2025-05-14"] },
    },
    { name: "?beta=true", path: `${MESSAGES_PATH}?beta=true`, headers: {} },
    {
      name: "what browsers add",
      headers: { "anthropic-dangerous-direct-browser-access": "true", "x-stainless-timeout": "NOT_GIVEN" },
    },
  ])(
    "[headers.version] takes $name, and the upstream sees none of it",
    async ({ path = MESSAGES_PATH, headers }) => {
      const answer = await sendMessages(chat, { path, headers, body: messagesBody() });
      expect(describeMessagesAnswer(answer)).toBe("200");
      const { headers: sent, path: sentPath } = chat.upstream.lastRequest;
      expect(sentPath).toBe("/v1/chat/completions");
      expect(Object.keys(sent).filter((name) => /anthropic|stainless|api-key/u.test(name))).toEqual([]);
    },
  );

  it.each([
    { name: "Authorization: Bearer", headers: () => ({ authorization: `Bearer ${chat.key.key}` }) },
    { name: "x-api-key", headers: () => ({ "x-api-key": chat.key.key }) },
    {
      name: "both, one of them no key of ours",
      headers: () => ({ authorization: "Bearer sk-ant-placeholder", "x-api-key": chat.key.key }),
    },
  ])("[headers.key] takes the key in $name", async ({ headers }) => {
    const answer = await sendMessages(chat, { key: null, headers: headers(), body: messagesBody() });
    expect(describeMessagesAnswer(answer)).toBe("200");
  });

  it("[headers.rate] tells the bucket in Anthropic's headers and in its own", async () => {
    const { key } = await chat.stack.createKey({ requestsPerMinute: 60 });
    const { headers } = await sendMessages(chat, { key, body: messagesBody() });
    expect(headers).toMatchObject({
      "x-service-ratelimit-remaining": "9",
      "anthropic-ratelimit-requests-limit": "60",
      "anthropic-ratelimit-requests-remaining": "9",
      "anthropic-ratelimit-requests-reset": expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/u) as string,
    });
    expect(Object.keys(headers).filter((name) => name.startsWith("x-ratelimit"))).toEqual([]);
    const counted = await sendMessages(chat, { key, path: COUNT_TOKENS_PATH, body: messagesBody() });
    expect(counted.status).toBe(200);
    expect(Number(counted.headers["x-service-ratelimit-remaining"])).toBeGreaterThanOrEqual(9);
  });
});
