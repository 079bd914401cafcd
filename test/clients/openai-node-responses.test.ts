import * as currentAgents from "@openai/agents";
import type { OpenAI } from "openai";
import type { ResponseInputItem } from "openai/resources/responses/responses";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { withSharedChatStack } from "../support/chat-stack.ts";
import { firstOnPush } from "../support/extent.ts";
import { CHAT_MODEL } from "../support/gateway-config.ts";
import { textChunk } from "../support/scripted-answer.ts";
import {
  callAnswer,
  callDeltas,
  deltaStream,
  interleave,
  messageAnswer,
  PARIS,
  ROME,
  textStream,
  WEATHER_SCHEMA,
} from "./chat-answers.ts";
import { CLIENTS } from "./clients.ts";
import { createOpenAi, OPENAI_SDKS } from "./openai-sdks.ts";
import { proves } from "./proofs.ts";

const chat = withSharedChatStack();
const [CURRENT] = OPENAI_SDKS;
const TOOL = { type: "function" as const, name: "get_weather", parameters: WEATHER_SCHEMA, strict: false };

describe.each(OPENAI_SDKS)("responses of $name", (sdk) => {
  proves(sdk.proven, "/v1/responses");
  const createClient = () => createOpenAi(sdk, chat);

  it("creates a response with its text, under the catalog's model id", async () => {
    chat.upstream.answer(messageAnswer({ content: "Hello." }));
    const response = await createClient().responses.create({ model: CHAT_MODEL, input: "Hi." });
    expect(response).toMatchObject({
      output_text: "Hello.",
      model: CHAT_MODEL,
      status: "completed",
      store: false,
    });
    expect(response.usage).toMatchObject({ input_tokens: 11, output_tokens: 2, total_tokens: 13 });
    expect(response._request_id).toMatch(/^req_/u);
  });

  it("puts a stream of reasoning, text and mixed calls together as the last event has it", async () => {
    chat.upstream.answer(
      deltaStream(
        [
          { reasoning_content: "Hm." },
          { content: "I " },
          { content: "look." },
          ...interleave(callDeltas(PARIS, 0), callDeltas(ROME, 1)),
        ],
        "tool_calls",
      ),
    );
    const stream = createClient().responses.stream({ model: CHAT_MODEL, input: "Hi.", tools: [TOOL] });
    const types = new Set<string>();
    for await (const event of stream) types.add(event.type);
    const final = await stream.finalResponse();
    expect(final.output_text).toBe("I look.");
    expect(final.output.map(({ type }) => type)).toEqual([
      "reasoning",
      "message",
      "function_call",
      "function_call",
    ]);
    expect(final.output.slice(2)).toMatchObject([
      { call_id: PARIS.id, name: PARIS.name, arguments: PARIS.arguments },
      { call_id: ROME.id, name: ROME.name, arguments: ROME.arguments },
    ]);
    expect(types).toContain("response.reasoning_text.delta");
    expect(types).toContain("response.function_call_arguments.done");
  });

  it("parses structured output", async () => {
    chat.upstream.answer(messageAnswer({ content: '{"city":"Paris"}' }));
    const response = await createClient().responses.parse({
      model: CHAT_MODEL,
      input: "Where?",
      text: { format: sdk.zodTextFormat(z.object({ city: z.string() }), "place") },
    });
    expect(response.output_parsed).toEqual({ city: "Paris" });
    expect(chat.upstream.lastRequest.body?.["response_format"]).toMatchObject({
      type: "json_schema",
      json_schema: { name: "place", strict: true },
    });
  });

  it("runs a tool loop by sending the output items back", async () => {
    chat.upstream.answerNext(callAnswer(PARIS, ROME));
    chat.upstream.answer(messageAnswer({ content: "Mild." }));
    const input: ResponseInputItem[] = [{ role: "user", content: "The weather?" }];
    const first = await createClient().responses.create({ model: CHAT_MODEL, input, tools: [TOOL] });
    for (const item of first.output) {
      input.push(item as ResponseInputItem);
      if (item.type === "function_call") {
        input.push({ type: "function_call_output", call_id: item.call_id, output: "21 °C" });
      }
    }
    const second = await createClient().responses.create({ model: CHAT_MODEL, input, tools: [TOOL] });
    expect(second.output_text).toBe("Mild.");
    const sent = chat.upstream.lastRequest.body?.["messages"] as { role: string; content: string }[];
    expect(sent.filter(({ role }) => role === "tool").map(({ content }) => content)).toEqual([
      "21 °C",
      "21 °C",
    ]);
  });

  it("raises what ended a stream", async () => {
    chat.upstream.answer({
      kind: "events",
      events: [textChunk("Half"), { error: { message: "no", code: 500 } }],
      done: false,
    });
    const stream = createClient().responses.stream({ model: CHAT_MODEL, input: "Hi." });
    await expect(stream.finalResponse()).rejects.toThrow(/returned an unusable response/u);
  });

  it("counts input tokens", async () => {
    const counted = await createClient().responses.inputTokens.count({
      model: CHAT_MODEL,
      input: "Hi there.",
    });
    expect(counted).toMatchObject({ object: "response.input_tokens" });
    expect(counted.input_tokens).toBeGreaterThan(0);
  });

  it.each([
    ["retrieve", (client: OpenAI) => client.responses.retrieve("resp_1")],
    ["cancel", (client: OpenAI) => client.responses.cancel("resp_1")],
    ["delete", (client: OpenAI) => client.responses.delete("resp_1")],
  ])("is told by %s that nothing is stored", async (_name, ask) => {
    const failure = await Promise.resolve(ask(createClient())).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(sdk.module.APIError);
    expect(failure).toMatchObject({ status: 404, code: "response_not_found" });
  });

  it("is told what to send in place of an earlier response's id", async () => {
    const ask = createClient().responses.create({
      model: CHAT_MODEL,
      input: "Hi.",
      previous_response_id: "resp_1",
    });
    await expect(ask).rejects.toMatchObject({
      status: 400,
      code: "unsupported_parameter",
      param: "previous_response_id",
      message: expect.stringContaining("send the whole input with every request") as string,
    });
  });

  it("[responses.endpoints.compact] compacts a conversation, and goes on from what came back", async () => {
    const client = createClient();
    chat.upstream.answerNext(messageAnswer({ content: "S: it is blue" }));
    const compacted = await client.responses.compact({
      model: CHAT_MODEL,
      input: [
        { role: "user", content: "What colour?" },
        { role: "assistant", content: "Blue." },
      ],
    });
    expect(compacted.object).toBe("response.compaction");
    expect(compacted.usage).toMatchObject({ input_tokens: 11, output_tokens: 2 });
    chat.upstream.answerNext(messageAnswer({ content: "Still blue." }));
    const input = [...compacted.output, { role: "user", content: "And now?" }] as ResponseInputItem[];
    const response = await client.responses.create({ model: CHAT_MODEL, input });
    expect(response.output_text).toBe("Still blue.");
    const sent = JSON.stringify(chat.upstream.lastRequest.body?.["messages"]);
    for (const text of ["What colour?", "S: it is blue", "And now?"]) expect(sent).toContain(text);
  });

  it("[responses.compaction.trigger] takes the one item of a stream that compacts", async () => {
    chat.upstream.answerNext(textStream("S: ", "it is blue"));
    const input = [{ role: "user", content: "Hi." }, { type: "compaction_trigger" }] as ResponseInputItem[];
    const stream = createClient().responses.stream({ model: CHAT_MODEL, input });
    const { output, status } = await stream.finalResponse();
    expect([status, ...output.map(({ type }) => type)]).toEqual(["completed", "compaction"]);
  });
});

/** Loaded without its types: the calls of the tests have the same form in both. */
const PREVIOUS_AGENTS: string = "openai-agents-0.19";
const AGENTS_SDKS = await Promise.all(
  firstOnPush([
    async () => ({ proven: CLIENTS.agents, sdk: currentAgents }),
    async () => ({
      proven: CLIENTS.agents019,
      sdk: (await import(PREVIOUS_AGENTS)) as typeof currentAgents,
    }),
  ]).map((load) => load()),
);

describe.each(AGENTS_SDKS)("the Agents SDK $proven.version", ({ proven, sdk }) => {
  proves(proven, "/v1/responses");
  sdk.setTracingDisabled(true);
  const weather = sdk.tool({
    name: "get_weather",
    description: "The weather in a city",
    parameters: z.object({ city: z.string() }),
    execute: ({ city }) => `21 °C in ${city}`,
  });
  const createAgent = () =>
    new sdk.Agent({
      name: "Weather",
      instructions: "Be brief.",
      // Its own copy of the SDK may be of another version than the tests'.
      model: new sdk.OpenAIResponsesModel(createOpenAi(CURRENT!, chat), CHAT_MODEL),
      tools: [weather],
    });

  it("runs a tool and finishes", async () => {
    chat.upstream.answerNext(callAnswer(PARIS));
    chat.upstream.answer(messageAnswer({ content: "21 °C." }));
    const result = await sdk.run(createAgent(), "The weather in Paris?");
    expect(result.finalOutput).toBe("21 °C.");
    const sent = chat.upstream.lastRequest.body?.["messages"] as { role: string; content: string }[];
    expect(sent.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool"]);
    expect(sent[3]?.content).toBe("21 °C in Paris");
  });

  it("runs a tool and finishes in streams", async () => {
    chat.upstream.answerNext(deltaStream(callDeltas(PARIS, 0), "tool_calls"));
    chat.upstream.answer(textStream("21", " °C."));
    const result = await sdk.run(createAgent(), "The weather in Paris?", { stream: true });
    let text = "";
    for await (const piece of result.toTextStream()) text += piece;
    await result.completed;
    expect(text).toBe("21 °C.");
  });
});
