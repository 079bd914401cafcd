import { describe, expect, it } from "vitest";
import {
  packSummary,
  SUMMARY_PROMPT,
} from "../../../../src/data-path/translation/conversation/compaction.ts";
import { createModel, decode, describeError, encode } from "../../../support/messages-exchange.ts";
import {
  NOW_SECONDS,
  parse,
  refusal,
  runStream,
  toChat,
  toChatMessages,
  toResponse,
} from "../../../support/responses-exchange.ts";
import { checkResponseStream } from "../../../support/responses-protocol-checker.ts";
import { finishChunk, textChunk, textCompletion, usageChunk } from "../../../support/scripted-answer.ts";

const USAGE = { promptTokens: 100, cachedTokens: 0, completionTokens: 20 };
const USER = { type: "message", role: "user", content: [{ type: "input_text", text: "Hello" }] };
const ASSISTANT = { role: "assistant", content: [{ type: "output_text", text: "Hi." }] };
const CALL = { type: "function_call", call_id: "c1", name: "f", arguments: "{}" };
const OUTPUT = { type: "function_call_output", call_id: "c1", output: "ok" };
const TRIGGER = { type: "compaction_trigger" };
const INPUT = { input: [USER, ASSISTANT, TRIGGER] };
const TOOLS = [{ type: "function", name: "f", parameters: { type: "object", properties: {} } }];

const carrierOf = (summary: string) => packSummary(Buffer.from(summary)) ?? "";
const event = (chunk: object) => `data: ${JSON.stringify(chunk)}\n\n`;
const streamed = (...chunks: readonly object[]) => [...chunks.map(event), "data: [DONE]\n\n"];

function compact(fields: Record<string, unknown>, completion: object): Record<string, unknown> {
  const request = parse({ ...fields }, "compact");
  const answer = request.createAnswer({
    model: createModel(),
    estimatedInputTokens: 7,
    nowMs: () => NOW_SECONDS * 1000,
    requestId: "req_1",
  });
  return JSON.parse(decode(answer.translateBody(encode(completion)).bytes)) as Record<string, unknown>;
}

describe("a conversation that ends in compaction_trigger", () => {
  it("[responses.compaction.trigger] goes upstream with the wish for its summary, its tools, and nothing that a summary has not", () => {
    const body = toChat({
      input: [USER, CALL, OUTPUT, TRIGGER],
      instructions: "Be brief.",
      tools: TOOLS,
      tool_choice: "required",
      parallel_tool_calls: false,
      text: { format: { type: "json_object" } },
      top_logprobs: 2,
      max_output_tokens: 900,
      stream: true,
    });
    expect(body.messages).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hello" },
      { role: "assistant", content: null, tool_calls: [expect.objectContaining({ id: "c1" })] },
      { role: "tool", tool_call_id: "c1", content: "ok" },
      { role: "user", content: SUMMARY_PROMPT },
    ]);
    expect(body).toMatchObject({ tool_choice: "none", max_tokens: 900, stream: true });
    expect(body.tools).toHaveLength(1);
    for (const field of ["response_format", "logprobs", "top_logprobs", "parallel_tool_calls"]) {
      expect(body).not.toHaveProperty(field);
    }
  });

  it("[responses.compaction.trigger] whose last call was interrupted has its result before the wish", () => {
    expect(toChatMessages([USER, CALL, TRIGGER]).slice(-2)).toEqual([
      { role: "tool", tool_call_id: "c1", content: expect.stringContaining("interrupted") as string },
      { role: "user", content: SUMMARY_PROMPT },
    ]);
  });

  it("[responses.compaction.trigger] is a 400 where the trigger is not the last item, or stands alone", () => {
    expect(refusal({ input: [USER, TRIGGER, USER] })).toBe(
      "400 invalid_parameter input[1]: a 'compaction_trigger' must be the last item of the input",
    );
    expect(refusal({ input: [TRIGGER] })).toMatch(/ input: at least one message with content is required$/);
  });

  it("[responses.compaction.item] is answered by one item that carries the summary, JSON and stream", () => {
    const response = toResponse({ ...textCompletion("S: it went well", USAGE) }, INPUT);
    expect(response.output).toEqual([
      { id: "cmp_1", type: "compaction", encrypted_content: carrierOf("S: it went well") },
    ]);
    expect(response).toMatchObject({ status: "completed", usage: { input_tokens: 100, output_tokens: 20 } });
    const { events } = runStream(
      streamed(
        textChunk("", { choices: [{ index: 0, delta: { reasoning_content: "Hm." }, finish_reason: null }] }),
        textChunk("S: it "),
        textChunk("went well"),
        finishChunk(),
        usageChunk(USAGE),
      ),
      INPUT,
    );
    expect(checkResponseStream(events)).toBe("response.completed");
    expect(events.at(-1)?.data["response"]).toMatchObject({ output: response.output });
    expect(events.map(({ type }) => type)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.output_item.done",
      "response.completed",
    ]);
  });

  it("[responses.compaction.item] is answered by a stream that was asked for where the upstream sends JSON", () => {
    const answer = parse({ ...INPUT, stream: true }).createAnswer({
      model: createModel(),
      estimatedInputTokens: 7,
      nowMs: () => 1_000,
      requestId: "req_1",
    });
    const text = decode(answer.translateBody(encode(textCompletion("S", USAGE))).bytes);
    expect(text).toContain(`"encrypted_content":"${carrierOf("S")}"`);
  });

  it("[responses.compaction.whole] never has half a summary: a limit ends it without an item", () => {
    const { events } = runStream(streamed(textChunk("S: it we"), finishChunk("length")), INPUT);
    expect(checkResponseStream(events)).toBe("response.incomplete");
    expect(events.at(-1)?.data["response"]).toMatchObject({
      output: [],
      incomplete_details: { reason: "max_output_tokens" },
    });
    const cut = runStream([event(textChunk("S: it we"))], INPUT);
    expect(checkResponseStream(cut.events)).toBe("response.failed");
    expect(cut.response?.output).toEqual([]);
  });

  it.each([
    { name: "no text", content: " \n", message: "The model wrote no summary. Try again." },
    {
      name: "too much",
      content: "é".repeat(300_000),
      message: "The model's summary is longer than 512 KiB. Try again with a shorter conversation.",
    },
  ])("[responses.compaction.whole] fails where the model wrote $name", ({ content, message }) => {
    expect(describeError(() => toResponse({ ...textCompletion(content, USAGE) }, INPUT))).toContain(message);
    const { events, response } = runStream(streamed(textChunk(content), finishChunk()), INPUT);
    expect(checkResponseStream(events)).toBe("response.failed");
    expect(response?.error).toMatchObject({ message });
  });
});

describe("an item that carries a summary", () => {
  it.each(["compaction", "compaction_summary"])(
    "[responses.items.compaction] of type %s is the summary as text of the user's, in its place",
    (type) => {
      const item = { type, id: "cmp_1", encrypted_content: carrierOf("S: blue") };
      expect(toChatMessages([{ role: "developer", content: "D" }, USER, item, ASSISTANT])).toEqual([
        { role: "system", content: "D" },
        {
          role: "user",
          content: "Hello\n\nThe conversation up to here was replaced by this summary of it:\n\nS: blue",
        },
        { role: "assistant", content: "Hi." },
      ]);
      expect(toChatMessages([item])).toHaveLength(1);
    },
  );

  it.each([
    ["another server's", "gAAAAABo"],
    ["damaged", carrierOf("S: blue").slice(0, -6)],
    ["left out", undefined],
  ])("[responses.items.compaction] %s is refused: the conversation would be lost", (_, carrier) => {
    expect(refusal({ input: [USER, { type: "compaction", encrypted_content: carrier }] })).toMatch(
      /^400 unsupported_parameter input\[1\]: a 'compaction' item can only be read, and only whole, by the model server that created it/,
    );
  });

  it("[responses.items.compaction] is read behind any amount of reasoning that is carried", () => {
    const big = packSummary(Buffer.from("r".repeat(500_000)))?.replace("gw3.", "gw1.") ?? "";
    const reasoning = { type: "reasoning", summary: [], encrypted_content: big };
    const item = { type: "compaction", encrypted_content: carrierOf("S: blue") };
    const sent = JSON.stringify(toChatMessages([USER, ...Array.from({ length: 20 }, () => reasoning), item]));
    expect(sent).toContain("S: blue");
  });
});

describe("POST /v1/responses/compact", () => {
  const fields = {
    input: [USER, ASSISTANT, { role: "user", content: "And now?" }],
    instructions: "Be brief.",
  };

  it("[responses.endpoints.compact] asks the model for a summary, and answers with the user's messages and one item", () => {
    expect(JSON.parse(decode(parse(fields, "compact").toUpstream(createModel())))).toMatchObject({
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hello" },
        { role: "assistant", content: "Hi." },
        { role: "user", content: `And now?\n\n${SUMMARY_PROMPT}` },
      ],
    });
    expect(compact(fields, textCompletion("S", USAGE))).toEqual({
      id: "resp_1",
      object: "response.compaction",
      created_at: NOW_SECONDS,
      output: [
        { id: "msg_1", ...USER, status: "completed" },
        {
          id: "msg_2",
          type: "message",
          role: "user",
          status: "completed",
          content: [{ type: "input_text", text: "And now?" }],
        },
        { id: "cmp_1", type: "compaction", encrypted_content: carrierOf("S") },
      ],
      usage: expect.objectContaining({ input_tokens: 100, output_tokens: 20, total_tokens: 120 }) as object,
    });
  });

  it("[responses.endpoints.compact] gives an input that the next request may begin with", () => {
    const { output } = compact(fields, textCompletion("S: blue", USAGE)) as { output: object[] };
    expect(toChatMessages([...output, { role: "user", content: "Go on." }])).toEqual([
      {
        role: "user",
        content: expect.stringMatching(/^Hello\n\nAnd now\?\n\n.*S: blue\n\nGo on\.$/su) as string,
      },
    ]);
  });

  it("[responses.endpoints.compact] is never a stream, takes a trigger, and fails where the summary was cut short", () => {
    expect(parse({ ...fields, stream: true }, "compact").stream).toBe(false);
    const sent = JSON.parse(decode(parse(INPUT, "compact").toUpstream(createModel()))) as {
      messages: object[];
    };
    expect(sent.messages).toHaveLength(3);
    const cut = textCompletion("S: it we", USAGE, {
      choices: [{ index: 0, message: { role: "assistant", content: "S: it we" }, finish_reason: "length" }],
    });
    expect(describeError(() => compact(fields, cut))).toContain(
      "The model's summary was cut off at its output limit. Send a shorter conversation.",
    );
  });

  it("keeps in memory what its answer repeats", () => {
    const input = [{ role: "user", content: "x".repeat(50_000) }];
    expect(parse({ input }, "compact").retainedBytes).toBeGreaterThan(
      parse({ input }).retainedBytes + 50_000,
    );
  });
});
