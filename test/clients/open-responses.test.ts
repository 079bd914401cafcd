/** The cases of the Open Responses compliance suite: its requests, and its schema of what comes back, in our own words. */
import { describe, expect, it } from "vitest";
import { withSharedChatStack } from "../support/chat-stack.ts";
import { CHAT_MODEL } from "../support/gateway-config.ts";
import { OPEN_RESPONSE, OPEN_RESPONSES_EVENT } from "../support/open-responses-schema.ts";
import { checkResponseStream, parseResponseEvents } from "../support/responses-protocol-checker.ts";
import { sentMessages } from "./agent-requests.ts";
import {
  callAnswer,
  callDeltas,
  deltaStream,
  messageAnswer,
  PARIS,
  textStream,
  WEATHER_SCHEMA,
} from "./chat-answers.ts";

const chat = withSharedChatStack();
const WEATHER = {
  type: "function",
  name: "get_weather",
  description: "The weather",
  parameters: WEATHER_SCHEMA,
};
const PIXEL =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const said = (role: string, content: unknown): object => ({ type: "message", role, content });

/** The response to these items, which is as the specification says. */
async function respond(input: readonly object[], fields: object = {}) {
  const body = { model: CHAT_MODEL, input, stream: false, ...fields };
  const answer = await chat.send({ path: "/v1/responses", body });
  expect(answer.status).toBe(200);
  return OPEN_RESPONSE.parse(JSON.parse(answer.text));
}

/** The events of a stream, each as the specification says, and the response that the last one brings. */
async function stream(input: readonly object[], fields: object = {}) {
  const body = { model: CHAT_MODEL, input, stream: true, ...fields };
  const answer = await chat.send({ path: "/v1/responses", body });
  expect(answer.status).toBe(200);
  const events = parseResponseEvents(answer.text);
  expect(checkResponseStream(events)).toBe("response.completed");
  const checked = events.map(({ data }) => OPEN_RESPONSES_EVENT.parse(data));
  return {
    types: checked.map(({ type }) => type),
    response: OPEN_RESPONSE.parse(events.at(-1)!.data["response"]),
  };
}

describe("Open Responses", () => {
  it("answers a user's message with output that is completed", async () => {
    chat.upstream.answer(messageAnswer({ content: "Hello to you." }));
    const response = await respond([said("user", "Say hello in exactly three words.")]);
    expect(response).toMatchObject({ status: "completed", output: [{ type: "message" }] });
  });

  it("streams events of the specification's types up to a response that is completed", async () => {
    chat.upstream.answer(textStream("1, 2, ", "3, 4, 5"));
    const { types, response } = await stream([said("user", "Count from 1 to 5.")]);
    expect(types).toContain("response.output_text.delta");
    expect(response).toMatchObject({
      status: "completed",
      output: [{ content: [{ type: "output_text", text: "1, 2, 3, 4, 5" }] }],
    });
  });

  it("takes a system message among the items", async () => {
    chat.upstream.answer(messageAnswer({ content: "Ahoy." }));
    const response = await respond([said("system", "Speak as a pirate."), said("user", "Say hello.")]);
    expect(response).toMatchObject({ status: "completed", output: [{ type: "message" }] });
    expect(sentMessages(chat.upstream.lastRequest)).toMatchObject([{ role: "system" }, { role: "user" }]);
  });

  it("answers with the call of a function that it was given", async () => {
    chat.upstream.answer(callAnswer(PARIS));
    const response = await respond([said("user", "How is the weather in Paris?")], { tools: [WEATHER] });
    expect(response).toMatchObject({
      status: "completed",
      output: [{ type: "function_call", name: "get_weather", arguments: PARIS.arguments }],
      tools: [{ name: "get_weather" }],
    });
  });

  it("streams the call of a function: its item, its arguments in pieces and whole, its end", async () => {
    chat.upstream.answer(deltaStream(callDeltas(PARIS, 0), "tool_calls"));
    const { types, response } = await stream([said("user", "How is the weather in Paris?")], {
      tools: [WEATHER],
    });
    expect([...new Set(types)]).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.function_call_arguments.delta",
      "response.function_call_arguments.done",
      "response.output_item.done",
      "response.completed",
    ]);
    expect(response).toMatchObject({ output: [{ type: "function_call", arguments: PARIS.arguments }] });
  });

  it("takes an image beside a text", async () => {
    chat.upstream.answer(messageAnswer({ content: "One pixel." }));
    const content = [
      { type: "input_text", text: "What do you see?" },
      { type: "input_image", image_url: PIXEL },
    ];
    const response = await respond([said("user", content)]);
    expect(response).toMatchObject({ status: "completed", output: [{ type: "message" }] });
    expect(JSON.stringify(chat.upstream.lastRequest.body)).toContain(PIXEL);
  });

  it("takes what the assistant said in phases, and tells the upstream what was said", async () => {
    chat.upstream.answer(messageAnswer({ content: "Four." }));
    const response = await respond([
      { ...said("assistant", "I should answer with the saved number."), phase: "commentary" },
      { ...said("assistant", "The number is four."), phase: "final_answer" },
      said("user", "Repeat only the number."),
    ]);
    expect(response).toMatchObject({ status: "completed", output: [{ type: "message" }] });
    expect(JSON.stringify(chat.upstream.lastRequest.body)).not.toContain("phase");
    expect(sentMessages(chat.upstream.lastRequest).at(-1)).toMatchObject({ role: "user" });
  });

  it("takes a conversation of several turns", async () => {
    chat.upstream.answer(messageAnswer({ content: "You are Alice." }));
    const response = await respond([
      said("user", "I am Alice."),
      said("assistant", "Hello, Alice."),
      said("user", "Who am I?"),
    ]);
    expect(response).toMatchObject({ status: "completed", output: [{ type: "message" }] });
    const roles = sentMessages(chat.upstream.lastRequest).map(({ role }) => role);
    expect(roles).toEqual(["user", "assistant", "user"]);
  });
});
