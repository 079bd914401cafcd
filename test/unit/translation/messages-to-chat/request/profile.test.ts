import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  completion,
  contentOf,
  createAnswer,
  decode,
  DONE,
  encode,
  event,
  FINISH,
  refusal,
  runStream,
  summarize,
  toChat,
  toChatMessages,
  toMessage,
  toolChunk,
} from "../../../../support/messages-exchange.ts";

const image = { type: "image", source: { type: "url", url: "https://example.com/a.png" } };
const pdf = { type: "document", source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" } };
const user = (content: unknown) => ({ role: "user", content });
const assistant = (content: unknown) => ({ role: "assistant", content });

describe("model profile", () => {
  it("[profile.max_tokens_field] names the field", () => {
    const body = toChat({}, { maxTokensField: "max_completion_tokens" });
    expect(body.max_completion_tokens).toBe(100);
    expect(body).not.toHaveProperty("max_tokens");
  });

  it("[profile.reasoning_efforts] clamps, and an empty list sends none", () => {
    const fields = { output_config: { effort: "max" } };
    expect(toChat(fields, { reasoningEfforts: ["low", "high"] }).reasoning_effort).toBe("high");
    expect(toChat(fields, { reasoningEfforts: [] })).not.toHaveProperty("reasoning_effort");
  });

  it("[profile.reasoning_history] names the field, or drops it", () => {
    const messages = [
      user("a"),
      assistant([
        { type: "thinking", thinking: "hm" },
        { type: "text", text: "b" },
      ]),
    ];
    expect(toChatMessages(messages, { reasoningHistory: "reasoning" })[1]).toEqual({
      role: "assistant",
      content: "b",
      reasoning: "hm",
    });
    expect(toChatMessages(messages, { reasoningHistory: "drop" })[1]).toEqual({
      role: "assistant",
      content: "b",
    });
    const [, thought, , called] = toChatMessages(
      [...messages, user("c"), assistant([{ type: "text", text: "d" }])],
      { reasoningHistory: "reasoning_content_always" },
    );
    expect([thought, called]).toMatchObject([{ reasoning_content: "hm" }, { reasoning_content: "" }]);
    const alone = [assistant([{ type: "thinking", thinking: "hm" }])];
    expect(toChatMessages([user("a"), ...alone], { reasoningHistory: "drop" })).toHaveLength(1);
    expect(refusal({ messages: alone }, { reasoningHistory: "drop" })).toContain("at least one message");
  });

  it("[profile.top_k] drops it", () => {
    expect(toChat({ top_k: 5 }, { topK: "drop" })).toEqual(toChat());
  });

  it("[profile.images] refuses image input, also in a tool's result", () => {
    const expected = "400 unsupported_parameter messages.0.content.0";
    expect(refusal({ messages: [user([image])] }, { images: false })).toBe(
      `${expected}: image input is not supported by model acme/echo`,
    );
    const result = { type: "tool_result", tool_use_id: "a", content: [image] };
    expect(refusal({ messages: [user([result])] }, { images: false })).toContain(
      `${expected}.content.0: image input`,
    );
  });

  it("[profile.files] refuses PDF input", () => {
    expect(refusal({ messages: [user([pdf])] }, { files: false })).toBe(
      "400 unsupported_parameter messages.0.content.0: file input is not supported by model acme/echo",
    );
  });

  it("[profile.max_stop] refuses more stop sequences", () => {
    const stop_sequences = ["a", "b", "c", "d", "e"];
    expect(refusal({ stop_sequences }, { maxStop: 4 })).toBe(
      "400 unsupported_parameter stop_sequences: at most 4 stop sequences are supported by this model",
    );
    expect(toChat({ stop_sequences: stop_sequences.slice(1) }, { maxStop: 4 }).stop).toHaveLength(4);
  });

  it("[profile.tool_name_max] shortens names on the way in and puts them back on the way out", () => {
    const name = `mcp__${"n".repeat(70)}`;
    const short = `${name.slice(0, 55)}_${createHash("sha256").update(name).digest("hex").slice(0, 8)}`;
    const exact = "e".repeat(64);
    const fields = {
      tools: [name, exact].map((each) => ({ name: each, input_schema: { type: "object" } })),
      tool_choice: { type: "tool", name },
      messages: [user("a"), assistant([{ type: "tool_use", id: "a", name, input: {} }])],
    };
    const body = toChat(fields, { toolNameMax: 64 });
    expect(short).toHaveLength(64);
    expect(body.tools!.map((tool) => tool.function.name)).toEqual([short, exact]);
    expect(body.tool_choice).toEqual({ type: "function", function: { name: short } });
    expect(body.messages[1]).toMatchObject({ tool_calls: [{ function: { name: short } }] });
    const call = { id: "c", type: "function", function: { name: short, arguments: "{}" } };
    const answer = completion({ content: null, tool_calls: [call] });
    expect(toMessage(answer, fields, { toolNameMax: 64 }).content).toMatchObject([
      { type: "tool_use", name },
    ]);
    const stream = [toolChunk({ index: 0, id: "c", name: short, arguments: "{}" }), FINISH, DONE];
    expect(summarize(runStream(stream, fields, { toolNameMax: 64 }).events)).toContain(
      `start tool_use c ${name}`,
    );
  });

  it("[profile.system_mid] keeps later system messages, never before a tool's result", () => {
    const toolUse = { type: "tool_use", id: "a", name: "f", input: {} };
    const messages = [
      user("a"),
      { role: "system", content: "one" },
      user("b"),
      assistant([toolUse]),
      { role: "system", content: "two" },
      user([{ type: "tool_result", tool_use_id: "a", content: "r" }]),
    ];
    expect(
      toChatMessages(messages, { systemMid: "keep" }).map(({ role, content }) => [role, content]),
    ).toEqual([
      ["user", "a"],
      ["system", "one"],
      ["user", "b"],
      ["assistant", null],
      ["tool", "r"],
      ["system", "two"],
    ]);
  });

  it("[profile.prefill] vllm asks to go on with the message, refuse refuses it", () => {
    const messages = [user("a"), assistant("Sure:")];
    const vllm = { continue_final_message: true, add_generation_prompt: false };
    expect(toChat({ messages }, { prefill: "vllm" })).toMatchObject(vllm);
    expect(toChat({ messages: [user("a")] }, { prefill: "vllm" })).not.toHaveProperty(
      "continue_final_message",
    );
    const open = [user("a"), assistant([{ type: "tool_use", id: "a", name: "f", input: {} }])];
    expect(toChat({ messages: open }, { prefill: "vllm" })).not.toHaveProperty("continue_final_message");
    expect(toChat({ messages }, { prefill: "plain" })).not.toHaveProperty("continue_final_message");
    expect(refusal({ messages }, { prefill: "refuse" })).toContain("400 unsupported_parameter messages: ");
    expect(toChat({ messages: [user("a")] }, { prefill: "refuse" }).messages).toHaveLength(1);
  });

  it("[profile.continuous_usage] asks for usage in every chunk, and message_start is exact", () => {
    const profile = { continuousUsage: true };
    expect(toChat({ stream: true }, profile).stream_options).toEqual({
      include_usage: true,
      continuous_usage_stats: true,
    });
    const usage = { prompt_tokens: 12, completion_tokens: 0 };
    const answer = createAnswer({ stream: true }, profile);
    const first = answer.push(
      encode(event({ choices: [{ index: 0, delta: { role: "assistant" } }], usage })),
    );
    expect(decode(first.bytes)).toContain('"input_tokens":12');
  });

  it("[profile.stream_options] asks a server for no usage that refuses to be asked", () => {
    const profile = { streamOptions: "drop", continuousUsage: true } as const;
    expect(toChat({ stream: true }, profile)).toMatchObject({ stream: true });
    expect(toChat({ stream: true }, profile)).not.toHaveProperty("stream_options");
  });

  it("[profile.user_field] names the field, or leaves it out", () => {
    const fields = { metadata: { user_id: "u" } };
    expect(toChat(fields, { userField: "safety_identifier" })).toMatchObject({ safety_identifier: "u" });
    expect(toChat(fields, { userField: null })).toEqual(toChat());
  });
});

describe("principles", () => {
  it("[principles.claude_code] a Claude Code request is translated", () => {
    const cache_control = { type: "ephemeral" };
    const body = toChat({
      metadata: { user_id: JSON.stringify({ device_id: "d".repeat(64), session_id: "s".repeat(36) }) },
      max_tokens: 32_000,
      stream: true,
      thinking: { type: "adaptive", display: "omitted" },
      context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
      output_config: { effort: "high" },
      system: [
        { type: "text", text: "x-anthropic-billing-header: cc_version=2.1.329" },
        { type: "text", text: "You are Claude Code.", cache_control },
        { type: "text", text: "Rules.", cache_control },
      ],
      messages: [
        user([{ type: "text", text: "Do it.", cache_control }]),
        { role: "system", content: [{ type: "text", text: "Reminder.", cache_control }] },
      ],
      tools: [
        { name: "Bash", description: "Run.", input_schema: { type: "object" } },
        { name: "Rare", description: "Rare.", input_schema: { type: "object" }, defer_loading: true },
      ],
    });
    expect(body.messages).toEqual([
      { role: "system", content: "You are Claude Code.\n\nRules." },
      { role: "user", content: "Do it.\n\nReminder." },
    ]);
    expect(Object.keys(body).sort()).toEqual([
      "max_tokens",
      "messages",
      "model",
      "reasoning_effort",
      "stream",
      "stream_options",
      "tools",
      "user",
    ]);
  });

  it("[principles.opaque_ids] tool ids go through unchanged in both directions", () => {
    for (const id of ["functions.f:0", "abc123XYZ", "call/ü ☃"]) {
      const content = [{ type: "tool_use", id, name: "f", input: {} }];
      const result = { type: "tool_result", tool_use_id: id };
      const messages = toChatMessages([user("a"), assistant(content), user([result])]);
      expect(messages[1]).toMatchObject({ tool_calls: [{ id }] });
      expect(messages[2]).toMatchObject({ tool_call_id: id });
      const call = { id, function: { name: "f", arguments: "{}" } };
      expect(toMessage(completion({ tool_calls: [call] })).content).toMatchObject([{ id }]);
      expect(contentOf([toolChunk({ index: 0, id, name: "f", arguments: "{}" }), FINISH, DONE])).toContain(
        `start tool_use ${id} f`,
      );
    }
  });

  it("[principles.pairing] a call that was interrupted has a result that says so, a result without a call is text", () => {
    const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: "r" });
    const open = assistant(["a", "b"].map((id) => ({ type: "tool_use", id, name: "f", input: {} })));
    const interrupted = "[There is no output of this call: it was interrupted.]";
    expect(toChatMessages([user([result("nobody")]), open, user([result("b"), result("b")])])).toMatchObject([
      { role: "user", content: "[Output of a tool:]\n\nr" },
      { role: "assistant", tool_calls: [{ id: "a" }, { id: "b" }] },
      { role: "tool", tool_call_id: "b", content: "r" },
      { role: "tool", tool_call_id: "a", content: interrupted },
      { role: "user", content: "[Output of a tool:]\n\nr" },
    ]);
    // An id of a former round, and one that comes twice.
    const again = [open, user([result("a"), result("b")]), open, user("go on")];
    expect(toChatMessages(again).slice(4)).toEqual([
      { role: "tool", tool_call_id: "a", content: interrupted },
      { role: "tool", tool_call_id: "b", content: interrupted },
      { role: "user", content: "go on" },
    ]);
    expect(toChatMessages([user("x"), open]).slice(2)).toHaveLength(2);
  });

  it("ten megabytes, 200 tools and 200 parallel calls go through", () => {
    const ids = Array.from({ length: 200 }, (_, index) => `call_${index}`);
    const messages = [
      user("x".repeat(10_000_000)),
      assistant(ids.map((id) => ({ type: "tool_use", id, name: "f", input: { id } }))),
      user(ids.map((id) => ({ type: "tool_result", tool_use_id: id, content: id }))),
    ];
    const tools = ids.map((name) => ({ name, input_schema: { type: "object" } }));
    const body = toChat({ messages, tools });
    expect(body.messages).toHaveLength(202);
    expect(body.tools).toHaveLength(200);
    const starts = ids.map((id, index) => toolChunk({ index, id, name: "f", arguments: "" }));
    const rest = ids.map((_, index) => toolChunk({ index, arguments: '{"a":1}' }));
    const { events } = runStream([...starts, ...rest, FINISH, DONE]);
    expect(events.filter(({ event: type }) => type === "content_block_start")).toHaveLength(200);
  });
});
