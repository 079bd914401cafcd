import { describe, expect, it } from "vitest";
import type { ClientRequest } from "../../../../src/data-path/translation/client-protocol.ts";
import { parseWith } from "../../../support/parse-with.ts";
import { createModel } from "./chat-fixtures.ts";

function parseFields(fields: object): ClientRequest {
  const body = { model: "acme/chat", messages: [{ role: "user", content: "hi" }], ...fields };
  return parseWith("chat", Buffer.from(JSON.stringify(body)));
}

describe("ChatRequest.promptSize", () => {
  it.each([
    { name: "string content", message: { role: "user", content: "żółw" }, bytes: 7 },
    {
      name: "text parts",
      message: {
        role: "user",
        content: [
          { type: "text", text: "ab" },
          { type: "text", text: "c" },
        ],
      },
      bytes: 3,
    },
    {
      name: "null content and tool calls",
      message: {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "find", arguments: '{"a":1}' } }],
      },
      bytes: 13,
    },
    {
      name: "refusals, names and reasoning",
      message: { role: "assistant", content: "", refusal: "no", name: "bob", reasoning_content: "why" },
      bytes: 8,
    },
  ])("counts $name", ({ message, bytes }) => {
    expect(parseFields({ messages: [message] }).promptSize()).toMatchObject({
      textBytes: bytes,
      messages: 1,
      hasMedia: false,
      hasTools: false,
      predictionBytes: 0,
      isWhole: true,
    });
  });

  it.each([
    { name: "an image", part: { type: "image_url", image_url: { url: `data:${"x".repeat(5000)}` } } },
    { name: "audio", part: { type: "input_audio", input_audio: { data: "xxxx" } } },
    { name: "a file", part: { type: "file", file: { file_data: "xxxx" } } },
    { name: "an unknown part", part: { type: "hologram", text: "xxxx" } },
  ])("says that there is media for $name, whose bytes are no text", ({ part }) => {
    const request = parseFields({
      messages: [{ role: "user", content: [{ type: "text", text: "abc" }, part] }],
    });
    expect(request.promptSize()).toMatchObject({ textBytes: 3, hasMedia: true });
  });

  it("counts the JSON of tools and response schema", () => {
    const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];
    const responseFormat = { type: "json_schema", json_schema: { name: "s", schema: {} } };
    expect(parseFields({ tools, response_format: responseFormat }).promptSize()).toMatchObject({
      textBytes: 2 + JSON.stringify(tools).length + JSON.stringify(responseFormat).length,
      messages: 1,
      hasMedia: false,
      hasTools: true,
      predictionBytes: 0,
      isWhole: true,
    });
  });

  it("takes a chat template of the client's own for what bytes cannot tell: it can repeat them", () => {
    expect(parseFields({ chat_template: "{{ 'x' * 9999 }}" }).promptSize()).toMatchObject({ hasMedia: true });
  });

  it.each([
    ["a search of the model server", { web_search_options: {} }],
    ["a tool of the model server", { tools: [{ type: "web_search" }] }],
    ["a field that nobody here knows", { plugins: [{ id: "web" }] }],
    [
      "a picture",
      { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "x" } }] }] },
    ],
  ])("says that the prompt is not whole with %s", (_name, fields) => {
    expect(parseFields(fields).promptSize().isWhole).toBe(false);
  });

  it("counts as read for certain what stands in the conversation, without white space and earlier answers", () => {
    const request = parseFields({
      messages: [
        { role: "system", content: "be  kind" },
        { role: "user", content: [{ type: "text", text: "two\n\nwords" }] },
        { role: "assistant", content: "<think>no</think>yes", reasoning_content: "why" },
        { role: "tool", tool_call_id: "c1", content: " 42 " },
      ],
      tools: [{ type: "function", function: { name: "f" } }],
    });
    expect(request.promptSize().visibleTextBytes).toBe("bekindtwowords42".length);
  });

  it("counts a predicted output apart", () => {
    const prediction = { type: "content", content: "abc" };
    expect(parseFields({ prediction }).promptSize()).toMatchObject({
      textBytes: 2,
      predictionBytes: JSON.stringify(prediction).length,
    });
  });

  it("is still known after the answer has begun when it was asked for before", () => {
    const request = parseFields({});
    const size = request.promptSize();
    request.createAnswer({
      model: createModel(),
      estimatedInputTokens: 1,
      nowMs: () => 0,
      requestId: "req_1",
    });
    expect(request.promptSize()).toEqual(size);
  });
});
