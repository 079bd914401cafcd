import { describe, expect, it } from "vitest";
import { chatBody, withChatStack } from "../support/chat-stack.ts";
import { CHAT_MODEL } from "../support/gateway-config.ts";
import { finishChunk, type ScriptedAnswer, textChunk, textCompletion } from "../support/scripted-answer.ts";
import { describeMessagesAnswer, readMessageStream, sendMessages, streamedText } from "./messages-checks.ts";
import { messagesBody } from "./metering-figures.ts";

const chat = withChatStack();
const USAGE = { promptTokens: 3, cachedTokens: 0, completionTokens: 2 };
const BIG = "12345678901234567890";

function callsChunk(...calls: object[]): object {
  return textChunk("", { choices: [{ index: 0, delta: { tool_calls: calls } }] });
}

/** The JSON of each tool call in a stream of events, by its name. */
function readInputs(events: readonly { readonly data: Record<string, unknown> }[]): Record<string, string> {
  const inputs: Record<string, string> = {};
  let open = "";
  for (const { data } of events) {
    const block = data["content_block"] as { name?: string } | undefined;
    if (block?.name !== undefined) inputs[(open = block.name)] = "";
    const { partial_json } = (data["delta"] ?? {}) as { partial_json?: string };
    if (partial_json !== undefined) inputs[open] += partial_json;
  }
  return inputs;
}

describe("the messages route", () => {
  it("[tools.exact_integers] keeps integers beyond 2^53 in schemas, history and arguments", async () => {
    const schema = `{"type":"object","properties":{"id":{"const":${BIG}}}}`;
    const history = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"id":${BIG}}}]}`;
    const result = '{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"ok"}]}';
    const body =
      `{"model":"${CHAT_MODEL}","max_tokens":9,"tools":[{"name":"f","input_schema":${schema}}],` +
      `"messages":[{"role":"user","content":"a"},${history},${result}]}`;
    const message = {
      role: "assistant",
      tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: `{"id":${BIG}}` } }],
    };
    const choices = [{ index: 0, message, finish_reason: "tool_calls" }];
    chat.upstream.answer({ kind: "json", body: textCompletion("", USAGE, { choices }) });
    const answer = await sendMessages(chat, { body });
    expect(describeMessagesAnswer(answer)).toBe("200");
    expect(answer.text).toContain(`"input":{"id":${BIG}}`);
    const sent = chat.upstream.lastRequest.bodyBytes.toString();
    expect(sent).toContain(`"parameters":${schema}`);
    expect(sent).toContain(`"arguments":${JSON.stringify(`{"id":${BIG}}`)}`);
  });

  it("[stream.tool_identity] gives each call its own arguments, whatever a server numbers", async () => {
    const streams: Record<string, object[]> = {
      together: [
        callsChunk(
          { function: { name: "f", arguments: '{"x"' } },
          { function: { name: "g", arguments: '{"y"' } },
        ),
        callsChunk({ function: { arguments: ":1}" } }, { function: { arguments: ":2}" } }),
      ],
      adrift: [
        callsChunk({ index: 0, id: "a", function: { name: "f" } }),
        callsChunk({ index: 1, function: { arguments: '{"x"' } }),
        callsChunk({ index: 2, function: { arguments: ":1}" } }),
        callsChunk({ index: 3, id: "b", function: { name: "g" } }),
        callsChunk({ index: 4, function: { arguments: '{"y":2}' } }),
      ],
    };
    for (const events of Object.values(streams)) {
      chat.upstream.answer({ kind: "events", events: [...events, finishChunk("tool_calls")] });
      const answer = await sendMessages(chat, { body: messagesBody({ stream: true }) });
      expect(readInputs(readMessageStream(answer, "message_stop"))).toEqual({ f: '{"x":1}', g: '{"y":2}' });
    }
  });

  it("[blocks.container_upload] names the type that it refuses", async () => {
    const content = [{ type: "container_upload", file_id: "file_1" }];
    const answer = await sendMessages(chat, {
      body: messagesBody({ messages: [{ role: "user", content }] }),
    });
    expect([answer.status, answer.json()["error"]]).toMatchObject([400, { code: "unsupported_parameter" }]);
    expect(answer.text).toContain("'container_upload'");
  });

  it.each([201, 206, 299])(
    "[response.status] answers 200 where an upstream says %d, on every route",
    async (status) => {
      const whole: ScriptedAnswer = { kind: "json", status, body: textCompletion("made", USAGE) };
      const streamed: ScriptedAnswer = { kind: "events", status, events: [textChunk("made"), finishChunk()] };
      chat.upstream.answer(whole);
      expect((await sendMessages(chat, { body: messagesBody() })).status).toBe(200);
      const answer = await chat.send({ body: chatBody() });
      expect([answer.status, answer.text.includes("made")]).toEqual([200, true]);
      chat.upstream.answer(streamed);
      const events = readMessageStream(
        await sendMessages(chat, { body: messagesBody({ stream: true }) }),
        "message_stop",
      );
      expect(streamedText(events)).toBe("made");
      const chunks = await chat.send({ body: chatBody({ stream: true }) });
      expect([chunks.status, chunks.text.includes("made")]).toEqual([200, true]);
    },
  );
});
