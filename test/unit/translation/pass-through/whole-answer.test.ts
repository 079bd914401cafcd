import { describe, expect, it } from "vitest";
import {
  createNativeAnswer,
  messagesStream,
  namedEvent,
  parseNative,
  responsesStream,
} from "../../../support/native-exchange.ts";
import { createModel, decode, describeError, encode } from "../../../support/messages-exchange.ts";

const MESSAGE = `{ "id":"msg_1","model":"claude-upstream", "content":[{"type":"text","text":"Hi"},
  {"type":"tool_use","id":"toolu_1","name":"read","input":{"id":12345678901234567890}},
  {"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}],
  "stop_reason":"tool_use","stop_sequence":null,
  "usage":{"input_tokens":10,"cache_read_input_tokens":5,"cache_creation_input_tokens":7,"output_tokens":20,"server_tool_use":{"web_search_requests":1}} }`;
const RESPONSE = `{"id":"resp_1","object":"response","status":"completed","error":null,"model":"gpt-upstream","output":[{"id":"msg_1","type":"message","content":[{"type":"output_text","text":"Hi","annotations":[]}]},{"id":"fc_1","type":"function_call","name":"read","call_id":"call_1","arguments":"{\\"id\\":12345678901234567890}"}],"usage":{"input_tokens":15,"input_tokens_details":{"cached_tokens":5},"output_tokens":20}}`;

const ANSWERS = { messages: MESSAGE, responses: RESPONSE };
const NAMES = ["messages", "responses"] as const;

it("a response that failed passes as it is, but for one about the gateway's own account", () => {
  const read = (error: object) => {
    const response = { id: "resp_1", object: "response", status: "failed", model: "acme/echo", error };
    return () =>
      decode(createNativeAnswer("responses", {}).translateBody(encode(JSON.stringify(response))).bytes);
  };
  expect(read({ code: "server_error", message: "Oops" })()).toContain("Oops");
  expect(describeError(read({ code: "insufficient_quota", message: "secret" }))).toMatch(
    /^502 upstream_authentication_failed (?!.*secret)/,
  );
});

it.each([
  [
    "responses",
    { object: "response.compaction", output: [{ type: "compaction", encrypted_content: "gAA" }] },
  ],
  ["messages", { type: "message", content: [{ type: "compaction", content: "So far: …" }] }],
] as const)("a compaction in an answer of %s with a usage of 0 is not nothing", (name, body) => {
  const read = (changes: object) => {
    const answer = createNativeAnswer(name, {});
    const usage = { input_tokens: 0, output_tokens: 0 };
    answer.translateBody(encode(JSON.stringify({ ...body, ...changes, usage })));
    return answer.observation;
  };
  expect(read({})).toMatchObject({ usage: null, isZeroUsage: false });
  expect(read({ output: [], content: [] }).isZeroUsage).toBe(true);
});

describe.each(NAMES)("a whole answer of %s that passes through", (name) => {
  it("[responses.native.answer] is the upstream's byte for byte, but for the model's name", () => {
    const answer = createNativeAnswer(name, {});
    const { bytes } = answer.translateBody(encode(ANSWERS[name]));
    expect(decode(bytes)).toBe(ANSWERS[name].replace(/"(claude|gpt)-upstream"/, '"acme/echo"'));
    expect(answer.observation.usage).toMatchObject({ cachedInputTokens: 5, outputTokens: 20 });
    expect(answer.observation.generatedText).toContain("Hi");
  });

  it("[native.played] is played as a stream where the client asked for one, with every digit of its numbers", () => {
    const { bytes } = createNativeAnswer(name, { stream: true }).translateBody(encode(ANSWERS[name]));
    const text = decode(bytes);
    expect(text).toContain("12345678901234567890");
    expect(text).not.toContain("-upstream");
    expect(text).toMatch(/^event: (message_start|response\.created)\n/);
    expect(text).toMatch(/event: (message_stop|response\.completed)\ndata: [^\n]+\n\n$/);
  });

  it("is refused where it is an error, or no JSON object", () => {
    const read = (body: string) => () => createNativeAnswer(name, {}).translateBody(encode(body));
    expect(describeError(read('{"type":"error","error":{"type":"api_error","message":"secret"}}'))).toMatch(
      /^502 upstream_error (?!.*secret)/,
    );
    expect(describeError(read("[1]"))).toMatch(/^502 upstream_error /);
  });
});

describe("an answer whose client asked for its cost", () => {
  const describeCost = () => ({ cost: "0.5", currency: "USD" }) as never;
  const cost = '"cost":"0.5","currency":"USD"';

  it.each(["messages", "responses"] as const)("has it in the usage of %s, whole and streamed", (name) => {
    const open = (stream: boolean) =>
      parseNative(name, { stream }).createAnswer({
        model: createModel(),
        estimatedInputTokens: 1,
        nowMs: () => 0,
        requestId: "req_1",
        describeCost,
      });
    const whole = decode(open(false).translateBody(encode(ANSWERS[name])).bytes);
    expect(whole).toContain(cost);
    const text = name === "messages" ? messagesStream() : responsesStream();
    const streamed = decode(open(true).push(encode(text)).bytes);
    expect(streamed.split("\n").filter((line) => line.includes(cost))).toHaveLength(1);
  });
});

describe("a message that is played", () => {
  it("has a delta for each block that has one, and blocks of unknown kinds whole", () => {
    const { bytes } = createNativeAnswer("messages").translateBody(encode(MESSAGE));
    const text = decode(bytes);
    const block = { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] };
    expect(text).toContain(namedEvent("content_block_start", { index: 2, content_block: block }));
    expect(text).toContain('"delta":{"type":"text_delta","text":"Hi"}');
    expect(text).toContain('"partial_json":"{\\"id\\":12345678901234567890}"');
  });
});
