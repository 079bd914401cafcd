import { describe, expect, it } from "vitest";
import { packReasoning } from "../../../../../src/data-path/translation/conversation/carried-reasoning.ts";
import { encode, toChatMessages as fromMessages } from "../../../../support/messages-exchange.ts";
import { parse, refusal, toChat, toChatMessages } from "../../../../support/responses-exchange.ts";
import { createModel } from "../../../../support/messages-exchange.ts";

const USER = { role: "user", content: "Hello" };
const CALL = { type: "function_call", call_id: "c1", name: "f", arguments: '{"a":1}' };
const OUTPUT = { type: "function_call_output", call_id: "c1", output: "ok" };
const SENT_CALL = { id: "c1", type: "function", function: { name: "f", arguments: '{"a":1}' } };
const IMAGE = { type: "input_image", image_url: "data:image/png;base64,AA==" };

describe("an item", () => {
  it("[responses.items.easy] is a message when it has a role and no type", () => {
    expect(toChatMessages([USER])).toEqual([{ role: "user", content: "Hello" }]);
    expect(refusal({ input: [{}] })).toMatch(/ input\[0\]\.type: Field required$/);
    expect(refusal({ input: [{ role: "tool", content: "x" }] })).toMatch(/ input\[0\]\.role: /);
  });

  it("[responses.items.user] of a user keeps text and media in order", () => {
    const content = [{ type: "input_text", text: "A" }, IMAGE, { type: "input_text", text: "B" }];
    expect(
      toChatMessages([{ type: "message", role: "user", content, id: "x", status: "completed" }]),
    ).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "A" },
          { type: "image_url", image_url: { url: IMAGE.image_url } },
          { type: "text", text: "B" },
        ],
      },
    ]);
  });

  it("[responses.items.system_first] of system and developer before all others is one system message", () => {
    const input = [
      { role: "developer", content: [{ type: "input_text", text: "B" }] },
      { role: "system", content: "C" },
      USER,
    ];
    expect(toChat({ instructions: "A", input }).messages).toEqual([
      { role: "system", content: "A\n\nB\n\nC" },
      { role: "user", content: "Hello" },
    ]);
  });

  it("[responses.items.system_later] of a developer later is text of its turn, after open results", () => {
    expect(toChatMessages([USER, { role: "developer", content: "D" }])).toEqual([
      { role: "user", content: "Hello\n\nD" },
    ]);
    expect(toChatMessages([USER, CALL, { role: "developer", content: "D" }, OUTPUT]).slice(2)).toEqual([
      { role: "tool", tool_call_id: "c1", content: "ok" },
      { role: "user", content: "D" },
    ]);
  });

  it("[responses.items.assistant] of the assistant joins its texts and refusals as they are", () => {
    const content = [
      { type: "output_text", text: "It is", annotations: [] },
      { type: "output_text", text: " blue." },
      { type: "refusal", refusal: " No." },
    ];
    expect(toChatMessages([USER, { type: "message", role: "assistant", content }])[1]).toEqual({
      role: "assistant",
      content: "It is blue. No.",
    });
  });

  it("[responses.items.function_call] of a call is an entry of tool_calls", () => {
    expect(toChatMessages([USER, CALL, OUTPUT])).toEqual([
      { role: "user", content: "Hello" },
      { role: "assistant", content: null, tool_calls: [SENT_CALL] },
      { role: "tool", tool_call_id: "c1", content: "ok" },
    ]);
    expect(refusal({ input: [{ ...CALL, call_id: null }] })).toMatch(/ input\[0\]\.call_id: Field required$/);
    expect(refusal({ input: [{ ...CALL, name: "" }] })).toMatch(/ input\[0\]\.name: Field required$/);
  });

  it.each([
    ["", "{}"],
    [" ", "{}"],
    [undefined, "{}"],
    ['{"n":12345678901234567890}', '{"n":12345678901234567890}'],
    ['{"a":', '{"INVALID_JSON":"{\\"a\\":"}'],
    ["[1]", '{"INVALID_JSON":"[1]"}'],
  ])("[responses.items.arguments] %j become %s", (given, sent) => {
    const [, assistant] = toChatMessages([USER, { ...CALL, arguments: given }, OUTPUT]);
    expect(assistant).toMatchObject({ tool_calls: [{ function: { arguments: sent } }] });
  });

  it("[responses.items.output] of an output is a tool message, its media come after all results", () => {
    const text = (value: string) => ({ type: "input_text", text: value });
    const input = [
      USER,
      CALL,
      { ...CALL, call_id: "c2" },
      { ...OUTPUT, output: [text("A"), text("B")] },
      { type: "custom_tool_call_output", call_id: "c2", output: [IMAGE] },
    ];
    expect(toChatMessages(input).slice(2)).toEqual([
      { role: "tool", tool_call_id: "c1", content: "A\nB" },
      { role: "tool", tool_call_id: "c2", content: "[The result is attached in the next message.]" },
      { role: "user", content: [{ type: "image_url", image_url: { url: IMAGE.image_url } }] },
    ]);
    expect(toChatMessages([USER, CALL, { ...OUTPUT, output: null }])[2]).toMatchObject({ content: "" });
  });

  it("[responses.items.output] a list of parts with a picture that comes as a text is the list, and any other text a text", () => {
    const text = { type: "input_text", text: "see" };
    const toolOf = (output: string) => toChatMessages([USER, CALL, { ...OUTPUT, output }]).slice(2);
    expect(toolOf(JSON.stringify([text, IMAGE]))).toEqual([
      { role: "tool", tool_call_id: "c1", content: "see" },
      { role: "user", content: [{ type: "image_url", image_url: { url: IMAGE.image_url } }] },
    ]);
    const kept = [
      JSON.stringify([text]),
      JSON.stringify([{ ...IMAGE, image_url: "https://example.com/a.png" }]),
      JSON.stringify([IMAGE, { type: "other" }]),
      JSON.stringify([IMAGE]).slice(0, -1),
      `[{"type":"input_image","x":[${"1,".repeat(600)}1]}]`,
    ];
    for (const output of kept) {
      expect(toolOf(output)).toEqual([{ role: "tool", tool_call_id: "c1", content: output }]);
    }
  });

  it("[responses.items.orphan] an output of a call that is not there is text of the user's, also without an id", () => {
    const task = { type: "function_call_output", name: "create_thread", output: "fix the build" };
    expect(toChatMessages([task])).toEqual([
      { role: "user", content: "[Output of the tool create_thread:]\n\nfix the build" },
    ]);
    expect(toChatMessages([USER, { ...OUTPUT, output: [IMAGE] }])[0]).toMatchObject({
      content: [{ text: "Hello" }, { text: "[Output of a tool:]" }, { type: "image_url" }],
    });
  });

  it("[responses.items.interrupted] a call without an output has one that says so", () => {
    expect(toChatMessages([USER, CALL, { role: "user", content: "go on" }]).slice(2)).toEqual([
      {
        role: "tool",
        tool_call_id: "c1",
        content: "[There is no output of this call: it was interrupted.]",
      },
      { role: "user", content: "go on" },
    ]);
  });

  it("[responses.items.agent_message] what one agent tells another is text of the user's, what is called encrypted too", () => {
    const content = [
      { type: "input_text", text: "Payload:" },
      { type: "encrypted_content", encrypted_content: "count the files" },
    ];
    const message = { type: "agent_message", author: "lead", recipient: "lead/sub", content };
    expect(toChatMessages([USER, message])).toEqual([
      { role: "user", content: "Hello\n\nPayload:\n\ncount the files" },
    ]);
    expect(refusal({ input: [{ ...message, content: [{ type: "encrypted_content" }] }] })).toContain(
      "input[0].content[0].encrypted_content",
    );
  });

  it("[responses.items.order] of a user between a call and its output waits until after it", () => {
    expect(toChatMessages([USER, CALL, { role: "user", content: "Now" }, OUTPUT]).slice(2)).toEqual([
      { role: "tool", tool_call_id: "c1", content: "ok" },
      { role: "user", content: "Now" },
    ]);
  });

  it("[responses.items.rounds] of calls in a row are one message, after an output the next", () => {
    const second = { ...CALL, call_id: "c2" };
    const secondOutput = { ...OUTPUT, call_id: "c2" };
    const roles = (...items: unknown[]) => toChatMessages([USER, ...items]).map(({ role }) => role);
    expect(roles(CALL, second, OUTPUT, secondOutput)).toEqual(["user", "assistant", "tool", "tool"]);
    expect(roles(CALL, OUTPUT, second, secondOutput)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
      "tool",
    ]);
  });

  it("[responses.items.custom_call] of a custom call wraps its text", () => {
    const call = { type: "custom_tool_call", call_id: "c1", name: "apply_patch", input: "*** Begin" };
    expect(toChatMessages([USER, call, OUTPUT])[1]).toMatchObject({
      tool_calls: [{ id: "c1", function: { name: "apply_patch", arguments: '{"input":"*** Begin"}' } }],
    });
  });

  it("[responses.items.tool_search] of a search declares what it found", () => {
    const found = { type: "function", name: "g", parameters: { type: "object" } };
    const input = [
      USER,
      { type: "tool_search_call", execution: "client", call_id: "s1", arguments: { query: "g" } },
      { type: "tool_search_output", execution: "client", call_id: "s1", tools: [found] },
    ];
    const sent = toChat({ input, tools: [{ type: "tool_search", execution: "client" }] });
    expect(sent.tools?.map((tool) => tool.function.name)).toEqual(["tool_search", "g"]);
    expect(sent.messages.slice(1)).toMatchObject([
      { tool_calls: [{ id: "s1", function: { name: "tool_search", arguments: '{"query":"g"}' } }] },
      { role: "tool", tool_call_id: "s1", content: "Tools available: g" },
    ]);
  });

  it("[responses.items.additional_tools] of additional tools declares them, the last form counts", () => {
    const tool = (description: string) => ({
      type: "additional_tools",
      tools: [
        { type: "namespace", name: "functions", tools: [{ type: "custom", name: "exec", description }] },
      ],
    });
    const sent = toChat({ input: [tool("old"), USER, tool("new")] });
    expect(sent.tools).toMatchObject([{ function: { name: "exec", description: "new" } }]);
  });

  it("[responses.items.reasoning] of reasoning goes back with its turn", () => {
    const reasoning = (fields: object) => ({ type: "reasoning", id: "rs_1", summary: [], ...fields });
    const sent = (fields: object) => toChatMessages([USER, reasoning(fields), CALL, OUTPUT])[1];
    const summary = [{ type: "summary_text", text: "S" }];
    const content = [{ type: "reasoning_text", text: "C" }];
    const own = packReasoning(encode("packed"));
    expect(sent({ summary })).toMatchObject({ reasoning_content: "S", tool_calls: [SENT_CALL] });
    expect(sent({ summary, content })).toMatchObject({ reasoning_content: "C" });
    expect(sent({ summary, content, encrypted_content: own })).toMatchObject({ reasoning_content: "packed" });
    expect(sent({ summary, encrypted_content: "gAAAA" })).not.toHaveProperty("reasoning_content");
    expect(sent({ content, encrypted_content: "gAAAA" })).toMatchObject({ reasoning_content: "C" });
    expect(sent({ summary, encrypted_content: "gw1.broken" })).toMatchObject({ reasoning_content: "S" });
    expect(toChatMessages([USER, reasoning({ summary }), { role: "user", content: "More" }])).toEqual([
      { role: "user", content: "Hello\n\nMore" },
    ]);
  });

  it("[responses.items.reference_reasoning] that refers to reasoning is dropped", () => {
    expect(toChatMessages([USER, { type: "item_reference", id: "rs_1" }, { id: "rs_2" }])).toHaveLength(1);
  });

  it("[responses.items.reference] that refers to anything else is refused with the way out", () => {
    expect(refusal({ input: [USER, { type: "item_reference", id: "msg_1" }] })).toMatch(
      /^400 unsupported_parameter input\[1\]: .*providerOptions\.openai\.store = false/,
    );
  });

  it("[responses.items.hosted] of a hosted tool is dropped", () => {
    const types = [
      "web_search_call",
      "file_search_call",
      "code_interpreter_call",
      "image_generation_call",
      "mcp_call",
    ];
    expect(toChatMessages([USER, ...types.map((type) => ({ type, id: "x" }))])).toHaveLength(1);
  });

  it("[responses.items.unknown] of another type is refused by its name", () => {
    expect(refusal({ input: [{ type: "local_shell_call" }] })).toBe(
      "400 unsupported_parameter input[0]: unsupported item type 'local_shell_call'",
    );
  });

  it("[responses.principles.same_turns] becomes what the same conversation in messages becomes", () => {
    const items = [
      USER,
      { role: "assistant", content: "I look." },
      CALL,
      OUTPUT,
      { role: "user", content: "And?" },
    ];
    const messages = [
      { role: "user", content: "Hello" },
      {
        role: "assistant",
        content: [
          { type: "text", text: "I look." },
          { type: "tool_use", id: "c1", name: "f", input: { a: 1 } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "c1", content: "ok" },
          { type: "text", text: "And?" },
        ],
      },
    ];
    expect(toChatMessages(items)).toEqual(fromMessages(messages));
  });

  it("by the ten thousand are translated in linear time", () => {
    const items = (count: number) =>
      Array.from({ length: count }, (_, index) => [
        { ...CALL, call_id: `c${index}`, arguments: JSON.stringify({ text: "x".repeat(200) }) },
        { ...OUTPUT, call_id: `c${index}` },
      ]).flat();
    const request = parse({ input: [USER, ...items(5_000)] });
    expect(request.promptSize().messages).toBeGreaterThan(5_000);
    expect(request.toUpstream(createModel()).byteLength).toBeGreaterThan(1_000_000);
  });
});

describe("a content part", () => {
  const part = (value: object) =>
    toChatMessages([{ role: "user", content: [{ type: "text", text: "T" }, value] }])[0];

  it("[responses.parts.text] of any kind of text is text", () => {
    for (const type of ["input_text", "output_text", "text"]) {
      expect(part({ type, text: "U" })).toEqual({ role: "user", content: "T\n\nU" });
    }
    expect(part({ type: "input_text", text: "" })).toEqual({ role: "user", content: "T" });
  });

  it("[responses.parts.image] of an image keeps its detail, as far as others know it", () => {
    const sent = (fields: object) => JSON.stringify(part({ ...IMAGE, ...fields }));
    expect(sent({ detail: "low" })).toContain('"detail":"low"');
    expect(sent({ detail: "original" })).toContain('"detail":"high"');
    expect(sent({ detail: "auto" })).not.toContain("detail");
    const byId = { role: "user", content: [{ type: "input_image", file_id: "f" }] };
    expect(refusal({ input: [byId] })).toMatch(
      /^400 unsupported_parameter input\[0\]\.content\[0\]\.file_id: /,
    );
    const image = { role: "user", content: [IMAGE] };
    expect(refusal({ input: [image] }, { images: false })).toMatch(/ input\[0\]\.content\[0\]: image input /);
  });

  it("[responses.parts.file] of a file is a file, never one that is stored or fetched", () => {
    const file_data = "data:application/pdf;base64,AA==";
    expect(part({ type: "input_file", filename: "a.pdf", file_data })).toMatchObject({
      content: [{}, { type: "file", file: { filename: "a.pdf", file_data } }],
    });
    for (const field of ["file_id", "file_url"]) {
      const content = [{ type: "input_file", [field]: "x" }];
      expect(refusal({ input: [{ role: "user", content }] })).toMatch(
        new RegExp(`content\\[0\\]\\.${field}: `),
      );
    }
  });

  it("[responses.parts.unknown] of another type is refused at its place", () => {
    const content = [{ type: "input_text", text: "A" }, { type: "input_audio" }];
    expect(refusal({ input: [{ role: "user", content }] })).toBe(
      "400 unsupported_parameter input[0].content[1]: unsupported content part type 'input_audio'",
    );
  });
});
