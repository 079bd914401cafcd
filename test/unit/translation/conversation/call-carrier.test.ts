import { describe, expect, it } from "vitest";
import { packCall } from "../../../../src/data-path/translation/conversation/call-carrier.ts";
import { MAX_CARRIED_BYTES } from "../../../../src/data-path/translation/conversation/carried-reasoning.ts";
import * as messages from "../../../support/messages-exchange.ts";
import { chunk, completion, DONE, FINISH } from "../../../support/messages-exchange.ts";
import { checkMessageStream } from "../../../support/messages-protocol-checker.ts";
import { parseNative } from "../../../support/native-exchange.ts";
import * as responses from "../../../support/responses-exchange.ts";
import { checkResponse, checkResponseStream } from "../../../support/responses-protocol-checker.ts";

type Json = Readonly<Record<string, unknown>>;

const signed = (signature: string) => ({ extra_content: { google: { thought_signature: signature } } });
const call = (id: string, more: Json = {}) => ({
  id,
  type: "function",
  function: { name: "f", arguments: '{"x":1}' },
  ...more,
});
const TEXT_DETAIL = { type: "reasoning.text", text: "hm", signature: "SIG", format: "anthropic", index: 0 };
const SECRET_DETAIL = { type: "reasoning.encrypted", data: "ENC", id: "rs_1", index: 1 };
const CARRIES = { include: ["reasoning.encrypted_content"] };

/** The assistant's message of the next request to the upstream, after the client has given everything back. */
type Round = (upstream: Json | Json[], fields?: Json, model?: string) => Json | undefined;

const findAssistant = (sent: unknown) => (sent as Json[]).find(({ role }) => role === "assistant");

const overMessages: Round = (upstream, fields = {}, model = "acme/echo") => {
  const content = Array.isArray(upstream)
    ? readBlocks(upstream, fields)
    : (messages.toMessage(completion(upstream), fields).content as unknown as Json[]);
  const results = content
    .filter(({ type }) => type === "tool_use")
    .map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "r" }));
  const turns = [
    { role: "user", content: "hi" },
    { role: "assistant", content },
    { role: "user", content: results },
  ];
  const request = messages.parse({ messages: turns, model });
  const target = { ...messages.createModel(), id: model };
  return findAssistant(JSON.parse(messages.decode(request.toUpstream(target))).messages);
};

/** As an SDK puts a message together from its events. */
function readBlocks(deltas: Json[], fields: Json): Json[] {
  const { events } = messages.runStream([...deltas.map((delta) => chunk(delta)), FINISH, DONE], fields);
  expect(checkMessageStream(events)).toBe("message_stop");
  const starts = events.filter(({ event }) => event === "content_block_start");
  return starts.map(({ data }) => data["content_block"] as Json);
}

const overResponses: Round = (upstream, fields = CARRIES, model = "acme/echo") => {
  const output = Array.isArray(upstream) ? readItems(upstream, fields) : readOutput(upstream, fields);
  const results = output
    .filter(({ type }) => type === "function_call")
    .map(({ call_id }) => ({ type: "function_call_output", call_id, output: "r" }));
  const request = responses.parse({ model, input: [{ role: "user", content: "hi" }, ...output, ...results] });
  const target = { ...messages.createModel(), id: model };
  return findAssistant(JSON.parse(messages.decode(request.toUpstream(target))).messages);
};

function readItems(deltas: Json[], fields: Json): Json[] {
  const { events } = responses.runStream([...deltas.map((delta) => chunk(delta)), FINISH, DONE], fields);
  expect(checkResponseStream(events)).toBe("response.completed");
  return (events.at(-1)!.data["response"] as { output: Json[] }).output;
}

function readOutput(message: Json, fields: Json): Json[] {
  const response = responses.toResponse(completion(message), fields) as unknown as { output: Json[] };
  checkResponse(response);
  return response.output;
}

const ROUTES: [string, Round][] = [
  ["[response.call_reasoning] messages", overMessages],
  ["[responses.items.call_reasoning] responses", overResponses],
];

describe.each(ROUTES)(
  "a model that wants its reasoning back with its calls (Gemini, OpenRouter), %s",
  (_, round) => {
    it("gets the thought signature of each parallel call back with that call", () => {
      const calls = [call("a", signed("SIG-A")), call("b"), call("c", signed("SIG-C"))];
      const given = [signed("SIG-A"), {}, signed("SIG-C")];
      const sent = round({ content: null, tool_calls: calls });
      expect(sent?.["tool_calls"]).toMatchObject(given);
      expect((sent!["tool_calls"] as Json[])[1]).not.toHaveProperty("extra_content");
      const streamed = round(calls.map((one, index) => ({ tool_calls: [{ index, ...one }] })));
      expect(streamed?.["tool_calls"]).toMatchObject(given);
    });

    it("gets it back when it came in a piece of its own, behind its call", () => {
      const late = { tool_calls: [{ index: 0, ...signed("LATE") }] };
      const deltas = [
        { tool_calls: [{ index: 0, ...call("a") }] },
        { tool_calls: [{ index: 1, ...call("b") }] },
      ];
      expect(round([...deltas, late])?.["tool_calls"]).toMatchObject([signed("LATE"), {}]);
    });

    it("gets LiteLLM's name of it back under that name", () => {
      const fields = { provider_specific_fields: { thought_signature: "SIG" } };
      expect(round({ tool_calls: [call("a", fields)] })?.["tool_calls"]).toMatchObject([fields]);
    });

    it("gets several details back as they came, in pieces too", () => {
      const details = [TEXT_DETAIL, SECRET_DETAIL];
      const tool_calls = [{ index: 0, ...call("a") }];
      const whole = { reasoning: "hm", reasoning_details: details, tool_calls };
      expect(round(whole)?.["reasoning_details"]).toEqual(details);
      const pieces = [
        { reasoning: "h", reasoning_details: [{ ...TEXT_DETAIL, text: "h", signature: null }] },
        { reasoning: "m", reasoning_details: [{ ...TEXT_DETAIL, text: "m", signature: null }] },
        { reasoning_details: [{ ...TEXT_DETAIL, text: "", signature: "SIG" }, SECRET_DETAIL] },
        { tool_calls },
      ];
      expect(round(pieces)?.["reasoning_details"]).toEqual(details);
    });

    it("gets LiteLLM's thinking blocks back as they came, in pieces too, and none that has no signature", () => {
      const blocks = [
        { type: "thinking", thinking: "hm", signature: "SIG-1" },
        { type: "redacted_thinking", data: "RED" },
        { type: "thinking", thinking: "so", signature: "SIG-2" },
      ];
      const unsigned = { type: "thinking", thinking: "unsigned", signature: "" };
      const tool_calls = [{ index: 0, ...call("a") }];
      const whole = { reasoning_content: "hmso", thinking_blocks: [...blocks, unsigned], tool_calls };
      expect(round(whole)?.["thinking_blocks"]).toEqual(blocks);
      const piece = (thinking: string, signature: string | null = null) => ({
        reasoning_content: thinking,
        thinking_blocks: [{ type: "thinking", thinking, signature }],
      });
      const pieces = [
        piece("h"),
        piece("m"),
        piece("", "SIG-1"),
        { thinking_blocks: [blocks[1]] },
        piece("so"),
        piece("", "SIG-2"),
        { tool_calls },
      ];
      expect(round(pieces)?.["thinking_blocks"]).toEqual(blocks);
    });

    it("gets nothing that another model's server has signed", () => {
      const sent = round(
        { reasoning_details: [TEXT_DETAIL], tool_calls: [call("a", signed("S"))] },
        undefined,
        "acme/x",
      );
      expect(JSON.stringify(sent)).not.toMatch(/SIG|extra_content|reasoning_details|"S"/);
      expect(sent?.["tool_calls"]).toHaveLength(1);
    });

    it("has nothing carried that is too large", () => {
      const large = "x".repeat(MAX_CARRIED_BYTES);
      const sent = round({
        reasoning_details: [{ ...TEXT_DETAIL, text: large }],
        tool_calls: [call("a", signed(large))],
      });
      expect(sent?.["tool_calls"]).toHaveLength(1);
      expect(JSON.stringify(sent)).not.toMatch(/extra_content|reasoning_details/);
    });
  },
);

describe.each([
  ["Gemini", { extra_content: { google: { thought_signature: "SIG" } } }],
  ["LiteLLM", { provider_specific_fields: { thought_signatures: ["SIG"] } }],
])("the signature of a text without calls, as %s sends it", (_name, fields) => {
  const whole = { content: "Blue.", provider_specific_fields: { refusal: null }, ...fields };
  const pieces = [{ content: "Bl" }, { content: "ue." }, { content: "", ...fields }];
  const sent = { role: "assistant", content: "Blue.", ...fields };

  it("[response.text_signature] is given back over responses, to its own model alone", () => {
    for (const upstream of [whole, pieces]) {
      expect(overResponses(upstream)).toEqual(sent);
      expect(overResponses(upstream, CARRIES, "acme/x")).toEqual({ role: "assistant", content: "Blue." });
      expect(overResponses(upstream, {})).toEqual({ role: "assistant", content: "Blue." });
    }
  });

  it("[response.text_signature] is given back over messages, where it stands before the text", () => {
    expect(overMessages(whole)).toEqual(sent);
    expect(overMessages(whole, { thinking: { type: "disabled" } })).toEqual({
      role: "assistant",
      content: "Blue.",
    });
    const { content, stop_reason: reason } = messages.toMessage(completion(whole));
    expect([...content.map(({ type }) => type), reason]).toEqual(["redacted_thinking", "text", "end_turn"]);
  });

  it("[response.text_signature] never stands behind the text of a stream of messages, but behind calls", () => {
    expect(readBlocks(pieces, {}).map(({ type }) => type)).toEqual(["text"]);
    const calls = [{ tool_calls: [{ index: 0, ...call("a") }] }, { content: "", ...fields }];
    expect(readBlocks(calls, {}).map(({ type }) => type)).toEqual(["tool_use", "redacted_thinking"]);
    expect(overMessages(calls)).toMatchObject({ tool_calls: [{ id: "a" }], ...fields });
  });
});

describe("what is carried for a call", () => {
  const carried = { callId: "a", fields: null, details: [TEXT_DETAIL], blocks: [] };
  const data = packCall({ model: "acme/echo", ...carried });

  it("[native.own_thinking] [responses.native.own_reasoning] never reaches a server of the client's protocol", () => {
    const send = (name: "messages" | "responses", body: object) =>
      messages.decode(parseNative(name, body).toUpstream(messages.createModel()));
    const content = [
      { type: "redacted_thinking", data },
      { type: "text", text: "x" },
    ];
    expect(
      send("messages", messages.requestBody({ messages: [{ role: "assistant", content }] })),
    ).not.toContain("gw2.");
    const item = { type: "reasoning", summary: [], encrypted_content: data };
    expect(
      send("responses", { model: "acme/echo", input: [item, { role: "user", content: "x" }] }),
    ).not.toContain("gw2.");
  });

  it("is left out when it is broken", () => {
    const content = [
      { type: "redacted_thinking", data: "gw2.AAAA" },
      { type: "tool_use", id: "a", name: "f", input: {} },
    ];
    expect(messages.assistantBlocks(...content)[0]).toMatchObject({ tool_calls: [{ id: "a" }] });
  });

  it("makes no turn of its own where the client has left the call out", () => {
    const turns = [
      { role: "user", content: "A" },
      { role: "assistant", content: [{ type: "redacted_thinking", data }] },
      { role: "user", content: "B" },
    ];
    expect(messages.toChatMessages(turns)).toEqual([{ role: "user", content: "A\n\nB" }]);
  });

  it("has no details where thinking is disabled, but the signature without which a call is refused", () => {
    const answer = { reasoning_details: [TEXT_DETAIL], tool_calls: [call("a", signed("S"))] };
    const sent = overMessages(answer, { thinking: { type: "disabled" } });
    expect(sent?.["tool_calls"]).toMatchObject([signed("S")]);
    expect(sent).not.toHaveProperty("reasoning_details");
  });

  it("does not stand between a call and its result where it is all that a message holds", () => {
    const use = (id: string) => ({ type: "tool_use", id, name: "f", input: {} });
    const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: id });
    const carried = { model: "acme/echo", callId: "c", fields: null, details: [TEXT_DETAIL], blocks: [] };
    const sent = messages.toChatMessages([
      { role: "user", content: "hi" },
      { role: "assistant", content: [use("a"), use("b")] },
      { role: "user", content: [result("a")] },
      { role: "assistant", content: [{ type: "redacted_thinking", data: packCall(carried) }] },
      { role: "user", content: [result("b")] },
    ]);
    expect(sent.slice(2)).toEqual([
      { role: "tool", tool_call_id: "a", content: "a" },
      { role: "tool", tool_call_id: "b", content: "b" },
    ]);
  });
});
