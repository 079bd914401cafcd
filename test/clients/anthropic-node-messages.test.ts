import { describe, expect, it } from "vitest";
import { withSharedChatStack } from "../support/chat-stack.ts";
import { CHAT_MODEL, CHAT_UPSTREAM_MODEL, catalogEntry } from "../support/gateway-config.ts";
import { finishChunk, textChunk, usageChunk } from "../support/scripted-answer.ts";
import { createGate } from "../support/wait.ts";
import { type Anthropic, messageParams, readAll, SDKS, textOf } from "./anthropic-sdks.ts";
import { deltaStream, messageAnswer, textStream, USAGE } from "./chat-answers.ts";
import { proves } from "./proofs.ts";

const MATCHING_MODEL = "acme/echo-match";
const PNG = "iVBORw0KGgo=";
const PDF = "JVBERi0xLjQK";

const chat = withSharedChatStack([
  catalogEntry(),
  catalogEntry({ id: MATCHING_MODEL, profile: { max_stop: 4, tool_name_max: 64 } }),
]);

/** What the upstream was sent as `messages`. */
function sentMessages(): unknown {
  return chat.upstream.lastRequest.body?.["messages"];
}

describe.each(SDKS)("messages of $name", (sdk) => {
  proves(sdk.proven, "/v1/messages");
  const client = (): Anthropic => sdk.createClient({ baseURL: chat.stack.baseUrl, apiKey: chat.key.key });

  it("[headers.request_id] are answered under the catalog's model id, with usage and the request's id", async () => {
    const message = await client().messages.create(messageParams());
    expect(message).toMatchObject({
      type: "message",
      role: "assistant",
      id: expect.stringMatching(/^msg_[\dA-Za-z]{24}$/u) as string,
      model: CHAT_MODEL,
      content: [{ type: "text", text: "hello big world" }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: {
        input_tokens: 3,
        output_tokens: 3,
        cache_read_input_tokens: 0,
        cache_creation_input_tokens: 0,
      },
    });
    expect(message._request_id).toMatch(/^req_/u);
    expect(chat.upstream.lastRequest.body).toEqual({
      model: CHAT_UPSTREAM_MODEL,
      max_tokens: 1_000,
      max_completion_tokens: 1_000,
      messages: [{ role: "user", content: "hello big world" }],
    });
  });

  it("are streamed event by event, each before the upstream sends the next", async () => {
    const gates = [createGate(), createGate()];
    chat.upstream.answer({
      kind: "events",
      events: [textChunk("one"), gates[0]!, textChunk(" two"), gates[1]!, finishChunk(), usageChunk(USAGE)],
    });
    const stream = await client().messages.create({ ...messageParams(), stream: true });
    const types: string[] = [];
    const texts: string[] = [];
    for await (const event of stream) {
      types.push(event.type);
      if (event.type !== "content_block_delta" || event.delta.type !== "text_delta") continue;
      gates[texts.length]?.release();
      texts.push(event.delta.text);
    }
    expect(texts).toEqual(["one", " two"]);
    expect(types).toEqual([
      "message_start",
      "content_block_start",
      "content_block_delta",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
  });

  it("come out of MessageStream as the same message that is answered without a stream", async () => {
    chat.upstream.answer((request) =>
      request.body?.["stream"] === true
        ? deltaStream([{ role: "assistant", content: "" }, { content: "grüße" }, { content: " 😀" }])
        : messageAnswer({ content: "grüße 😀" }),
    );
    const stream = client().messages.stream(messageParams());
    const texts: string[] = [];
    stream.on("text", (delta) => texts.push(delta));
    const streamed = await stream.finalMessage();
    expect(texts).toEqual(["grüße", " 😀"]);
    expect(stream.request_id).toMatch(/^req_/u);
    const whole = await client().messages.create(messageParams());
    expect({ ...streamed, id: "", _request_id: "" }).toMatchObject({
      ...whole,
      id: "",
      _request_id: "",
      usage: { input_tokens: 7, cache_read_input_tokens: 4, output_tokens: 2 },
    });
  });

  it("have an estimate of the prompt in message_start, and exact counts at the end", async () => {
    const events = await readAll(await client().messages.create({ ...messageParams(), stream: true }));
    const [first] = events;
    const last = events.find((event) => event.type === "message_delta");
    expect(first?.type === "message_start" && first.message.usage.input_tokens).toBeGreaterThan(0);
    expect(last?.type === "message_delta" && last.usage).toMatchObject({ input_tokens: 3, output_tokens: 3 });
  });

  it.each([
    { name: "a string", system: "Be brief.", content: "Be brief." },
    {
      name: "blocks",
      system: [
        { type: "text" as const, text: "Be brief." },
        { type: "text" as const, text: "Be kind.", cache_control: { type: "ephemeral" as const } },
      ],
      content: "Be brief.\n\nBe kind.",
    },
  ])("carry a system prompt given as $name", async ({ system, content }) => {
    await client().messages.create(messageParams({ system }));
    expect(sentMessages()).toEqual([
      { role: "system", content },
      { role: "user", content: "hello big world" },
    ]);
  });

  it("carry a conversation of several turns", async () => {
    const messages = [
      { role: "user" as const, content: "one" },
      { role: "assistant" as const, content: [{ type: "text" as const, text: "two" }] },
      { role: "user" as const, content: [{ type: "text" as const, text: "three" }] },
    ];
    const message = await client().messages.create(messageParams({ messages }));
    expect(textOf(message)).toBe("three");
    expect(sentMessages()).toEqual([
      { role: "user", content: "one" },
      { role: "assistant", content: "two" },
      { role: "user", content: "three" },
    ]);
  });

  it("carry sampling settings and stop sequences", async () => {
    await client().messages.create(
      messageParams({ temperature: 0, top_p: 0.5, top_k: 40, stop_sequences: ["###", "END"] }),
    );
    expect(chat.upstream.lastRequest.body).toMatchObject({
      temperature: 0,
      top_p: 0.5,
      top_k: 40,
      stop: ["###", "END"],
    });
  });

  it.each([
    {
      name: "an image in base64",
      block: { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
      part: { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
    },
    {
      name: "an image by URL",
      block: { type: "image", source: { type: "url", url: "https://example.com/cat.png" } },
      part: { type: "image_url", image_url: { url: "https://example.com/cat.png" } },
    },
    {
      name: "a PDF",
      block: {
        type: "document",
        title: "bill.pdf",
        source: { type: "base64", media_type: "application/pdf", data: PDF },
      },
      part: {
        type: "file",
        file: { filename: "bill.pdf", file_data: `data:application/pdf;base64,${PDF}` },
      },
    },
  ])("carry $name in its place", async ({ block, part }) => {
    const content = [{ type: "text", text: "what is" }, block, { type: "text", text: "this?" }];
    await client().messages.create(messageParams({ messages: [{ role: "user", content }] }));
    expect(sentMessages()).toEqual([
      {
        role: "user",
        content: [{ type: "text", text: "what is" }, part, { type: "text", text: "this?" }],
      },
    ]);
  });

  it("carry a text document with its title", async () => {
    const source = { type: "text", media_type: "text/plain", data: "Nobody may pass." };
    const content = [{ type: "document", title: "Rules", source }];
    await client().messages.create(messageParams({ messages: [{ role: "user", content }] }));
    const text = JSON.stringify(sentMessages());
    expect(text).toContain("Nobody may pass.");
    expect(text).toContain("Rules");
  });

  it.each([
    { name: "end_turn", finish: "stop", fields: {}, expected: { stop_reason: "end_turn" } },
    { name: "max_tokens", finish: "length", fields: {}, expected: { stop_reason: "max_tokens" } },
    {
      name: "stop_sequence",
      finish: "stop",
      fields: { stop_reason: "END" },
      expected: { stop_reason: "stop_sequence", stop_sequence: "END" },
    },
    { name: "refusal", finish: "content_filter", fields: {}, expected: { stop_reason: "refusal" } },
  ])("say $name, streamed or not", async ({ finish, fields, expected }) => {
    const params = messageParams({ model: MATCHING_MODEL, stop_sequences: ["END"] });
    const choice = { index: 0, finish_reason: finish, ...fields };
    chat.upstream.answer((request) =>
      request.body?.["stream"] === true
        ? {
            kind: "events",
            events: [textChunk("hi"), textChunk("", { choices: [{ ...choice, delta: {} }] })],
          }
        : {
            kind: "json",
            body: textChunk("", { choices: [{ ...choice, message: { role: "assistant", content: "hi" } }] }),
          },
    );
    expect(await client().messages.create(params)).toMatchObject(expected);
    expect(await client().messages.stream(params).finalMessage()).toMatchObject(expected);
  });

  it("show a refusal as text with its explanation", async () => {
    chat.upstream.answer((request) =>
      request.body?.["stream"] === true
        ? deltaStream([{ refusal: "I can" }, { refusal: "not." }])
        : messageAnswer({ content: null, refusal: "I cannot." }),
    );
    const refused = {
      content: [{ type: "text", text: "I cannot." }],
      stop_reason: "refusal",
      stop_details: { type: "refusal", explanation: "I cannot." },
    };
    expect(await client().messages.create(messageParams())).toMatchObject(refused);
    expect(await client().messages.stream(messageParams()).finalMessage()).toMatchObject(refused);
  });

  it("are streamed to a client whose upstream does not stream", async () => {
    chat.upstream.answer(messageAnswer({ content: "not streamed" }));
    const message = await client().messages.stream(messageParams()).finalMessage();
    expect(message).toMatchObject({
      content: [{ type: "text", text: "not streamed" }],
      usage: { input_tokens: 7, cache_read_input_tokens: 4, output_tokens: 2 },
    });
  });

  it("are counted without an upstream", async () => {
    const { max_tokens: _, ...params } = messageParams({}, "one two three four");
    const { input_tokens } = await client().messages.countTokens(params);
    expect(input_tokens).toBeGreaterThanOrEqual(4);
    expect(input_tokens).toBeLessThan(30);
    expect(chat.upstream.requests).toHaveLength(0);
  });

  it("go through the beta namespace as well", async () => {
    chat.upstream.answer(textStream("beta"));
    const message = await client()
      .beta.messages.stream({ ...messageParams(), betas: ["context-management-2025-06-27"] } as never)
      .finalMessage();
    expect(message.content).toMatchObject([{ type: "text", text: "beta" }]);
  });

  it("[models.list] find the catalog", async () => {
    const models = await readAll(client().models.list() as never);
    expect(models).toMatchObject([
      { type: "model", id: CHAT_MODEL },
      { type: "model", id: MATCHING_MODEL },
    ]);
    expect(await client().models.retrieve(CHAT_MODEL)).toMatchObject({
      id: CHAT_MODEL,
      type: "model",
      display_name: expect.any(String) as string,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/u) as string,
    });
    const page = await client().models.list({ limit: 1 });
    expect(page.data).toHaveLength(1);
    expect(page.hasNextPage()).toBe(true);
  });
});
