import { describe, expect, it } from "vitest";
import {
  assistantBlocks,
  refusal,
  toChatMessages,
  resultBlocks,
  userBlocks,
} from "../../../../support/messages-exchange.ts";

const inUser = (block: unknown) => refusal({ messages: [{ role: "user", content: [block] }] });
const inAssistant = (block: unknown) =>
  refusal({
    messages: [
      { role: "user", content: "x" },
      { role: "assistant", content: [block] },
    ],
  });
const image = (source: unknown) => ({ type: "image", source });
const document = (source: unknown, more: object = {}) => ({ type: "document", source, ...more });
const pdf = { type: "base64", media_type: "application/pdf", data: "JVBERi0=" };
const AT_USER = "messages.0.content.0";
const AT_ASSISTANT = "messages.1.content.0";

describe("content blocks", () => {
  it("[blocks.text] is text, without citations", () => {
    expect(userBlocks({ type: "text", text: "a", citations: [{ type: "char_location" }] })).toEqual([
      { role: "user", content: "a" },
    ]);
    expect(inUser({ type: "text", text: 7 })).toContain(`${AT_USER}.text: Input should be a valid string`);
  });

  it("[blocks.compaction] is text in the place of what stood before it", () => {
    const tool = { type: "tool_use", id: "t", name: "get", input: {} };
    const conversation = (block: object) => [
      { role: "user", content: "OLD" },
      { role: "assistant", content: [tool, block, { type: "text", text: "b" }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "r" }] },
    ];
    const compacted = conversation({ type: "compaction", content: "SUMMARY", signature: "sig" });
    const [summary, ...rest] = toChatMessages(compacted);
    expect(summary).toEqual({
      role: "user",
      content: expect.stringMatching(/replaced by this summary.*SUMMARY$/s),
    });
    expect(rest).toEqual([
      { role: "assistant", content: "b" },
      { role: "user", content: "[Output of a tool:]\n\nr" },
    ]);
    const inBlocks = conversation({ type: "compaction", content: [{ type: "text", text: "SUMMARY" }] });
    expect(toChatMessages(inBlocks)).toEqual(toChatMessages(compacted));
    const failed = conversation({ type: "compaction", content: null, encrypted_content: "x" });
    expect(toChatMessages(failed)[0]).toEqual({ role: "user", content: "OLD" });
    const alone = [{ role: "assistant", content: [{ type: "compaction", content: "SUMMARY" }] }];
    expect(toChatMessages([...alone, { role: "user", content: "c" }])).toEqual([
      { role: "user", content: expect.stringMatching(/SUMMARY\n\nc$/) },
    ]);
    expect(inAssistant({ type: "compaction", content: 7 })).toContain(`${AT_ASSISTANT}.content: `);
  });

  it("[blocks.image_base64] is a data URL at its place", () => {
    const source = { type: "base64", media_type: "image/png", data: "iVBORw0=" };
    expect(userBlocks({ type: "text", text: "a" }, image(source), { type: "text", text: "b" })).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0=" } },
          { type: "text", text: "b" },
        ],
      },
    ]);
    expect(inUser(image({ type: "base64", media_type: "image/png" }))).toContain(
      `${AT_USER}.source.data: Field required`,
    );
    expect(inUser(image({ type: "base64", data: "x" }))).toContain(
      `${AT_USER}.source.media_type: Field required`,
    );
    expect(inUser(image(undefined))).toContain(`${AT_USER}.source: Input should be an object`);
  });

  it("[blocks.image_url] is the URL as it is", () => {
    expect(userBlocks(image({ type: "url", url: "https://example.com/a.png" }))).toEqual([
      { role: "user", content: [{ type: "image_url", image_url: { url: "https://example.com/a.png" } }] },
    ]);
  });

  it("[blocks.image_file] is refused", () => {
    expect(inUser(image({ type: "file", file_id: "file_1" }))).toBe(
      `400 unsupported_parameter ${AT_USER}.source: file sources are not supported`,
    );
  });

  it("[blocks.document_text] keeps title and context", () => {
    const source = { type: "text", media_type: "text/plain", data: "Body." };
    expect(userBlocks(document(source, { title: 'A "B"', context: "Why." }))).toEqual([
      { role: "user", content: '<document title="A &quot;B&quot;">\nWhy.\nBody.\n</document>' },
    ]);
    expect(userBlocks(document(source))).toEqual([
      { role: "user", content: "<document>\nBody.\n</document>" },
    ]);
  });

  it("[blocks.document_content] is its text, images stay at their place", () => {
    const source = image({ type: "url", url: "https://example.com/a.png" });
    const content = [
      { type: "text", text: "One." },
      { type: "text", text: "Two." },
      source,
      { type: "text", text: "Three." },
    ];
    expect(userBlocks(document({ type: "content", content: "Body." }))).toEqual([
      { role: "user", content: "<document>\nBody.\n</document>" },
    ]);
    expect(userBlocks(document({ type: "content", content }, { title: "T" }))).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: '<document title="T">\nOne.\nTwo.' },
          { type: "image_url", image_url: { url: "https://example.com/a.png" } },
          { type: "text", text: "Three.\n</document>" },
        ],
      },
    ]);
    expect(userBlocks(document({ type: "content", content: [source] }))).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "<document>" },
          { type: "image_url", image_url: { url: "https://example.com/a.png" } },
          { type: "text", text: "</document>" },
        ],
      },
    ]);
    expect(inUser(document({ type: "content", content: [{ type: "video" }] }))).toContain(
      `${AT_USER}.source.content.0: unsupported content block type 'video'`,
    );
  });

  it("[blocks.document_pdf] is a file with its title, its context before it", () => {
    const file = (filename: string) => ({
      type: "file",
      file: { filename, file_data: "data:application/pdf;base64,JVBERi0=" },
    });
    expect(userBlocks(document(pdf))).toEqual([{ role: "user", content: [file("document.pdf")] }]);
    expect(userBlocks(document(pdf, { title: "a.pdf", context: "Why." }))).toEqual([
      { role: "user", content: [{ type: "text", text: "Why." }, file("a.pdf")] },
    ]);
    expect(inUser(document({ ...pdf, media_type: "image/png" }))).toContain(`${AT_USER}.source.media_type: `);
  });

  it.each(["url", "file"])("[blocks.document_url] a %s source is refused", (type) => {
    expect(inUser(document({ type, url: "https://example.com/a.pdf", file_id: "f" }))).toBe(
      `400 unsupported_parameter ${AT_USER}.source: ${type} sources are not supported for documents`,
    );
  });

  it("[blocks.search_result] is text with source and title", () => {
    const content = [
      { type: "text", text: "One." },
      { type: "text", text: "Two." },
    ];
    expect(
      userBlocks({ type: "search_result", source: "https://a", title: "T", content, citations: {} }),
    ).toEqual([
      { role: "user", content: '<search_result source="https://a" title="T">\nOne.\nTwo.\n</search_result>' },
    ]);
    expect(inUser({ type: "search_result", content: [{ type: "image" }] })).toContain(
      `${AT_USER}.content.0: only text`,
    );
  });

  it("[blocks.tool_result] is a tool message; in an assistant message it is refused", () => {
    expect(resultBlocks({ type: "tool_result", tool_use_id: "functions.f:0", content: "ok" })).toEqual([
      { role: "tool", tool_call_id: "functions.f:0", content: "ok" },
    ]);
    expect(inUser({ type: "tool_result" })).toContain(`${AT_USER}.tool_use_id: Field required`);
    expect(inAssistant({ type: "tool_result", tool_use_id: "a" })).toBe(
      `400 invalid_parameter ${AT_ASSISTANT}: 'tool_result' blocks are only allowed in user messages`,
    );
  });

  it.each(["image", "document", "search_result"])(
    "[blocks.unknown] %s in an assistant message is refused",
    (type) => {
      expect(inAssistant({ type })).toContain(
        `${AT_ASSISTANT}: '${type}' blocks are only allowed in user messages`,
      );
    },
  );

  it("[blocks.tool_use] is a tool call with its input as JSON", () => {
    const block = {
      type: "tool_use",
      id: "a",
      name: "f",
      input: { x: [1] },
      caller: { type: "direct" },
      toolset_name: "t",
    };
    expect(assistantBlocks(block)[0]).toEqual({
      role: "assistant",
      content: null,
      tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: '{"x":[1]}' } }],
    });
    for (const input of [undefined, null, "x", []]) {
      expect(inAssistant({ ...block, input })).toContain(`${AT_ASSISTANT}.input: Input should be an object`);
    }
    expect(inUser(block)).toBe(
      `400 invalid_parameter ${AT_USER}: 'tool_use' blocks are only allowed in assistant messages`,
    );
  });

  it("[blocks.thinking] is reasoning, never text", () => {
    const thinking = (value: string) => ({ type: "thinking", thinking: value, signature: "s" });
    expect(
      assistantBlocks(thinking("one"), { type: "text", text: "a" }, thinking("two"), thinking("")),
    ).toEqual([{ role: "assistant", content: "a", reasoning_content: "one\n\ntwo" }]);
    expect(assistantBlocks(thinking("one"))).toEqual([
      { role: "assistant", content: null, reasoning_content: "one" },
    ]);
    expect(inUser(thinking("one"))).toContain("'thinking' blocks are only allowed in assistant messages");
    expect(inAssistant({ type: "thinking" })).toContain(`${AT_ASSISTANT}.thinking: Field required`);
  });

  it("[blocks.redacted_thinking] is dropped", () => {
    expect(assistantBlocks({ type: "redacted_thinking", data: "x" }, { type: "text", text: "a" })).toEqual([
      { role: "assistant", content: "a" },
    ]);
  });

  it.each([
    "server_tool_use",
    "mcp_tool_use",
    "web_search_tool_result",
    "code_execution_tool_result",
    "mcp_tool_result",
  ])("[blocks.server_tools] %s is dropped", (type) => {
    expect(assistantBlocks({ type, id: "a", content: [] }, { type: "text", text: "a" })).toEqual([
      { role: "assistant", content: "a" },
    ]);
  });

  it("[blocks.container_upload] is refused with its type", () => {
    expect(inUser({ type: "container_upload", file_id: "f" })).toBe(
      `400 unsupported_parameter ${AT_USER}: unsupported content block type 'container_upload'`,
    );
  });

  it("[blocks.unknown] is refused with its type, cut where it is long", () => {
    expect(inUser({ type: "video" })).toBe(
      `400 unsupported_parameter ${AT_USER}: unsupported content block type 'video'`,
    );
    expect(inAssistant({ type: "video" })).toContain(
      `${AT_ASSISTANT}: unsupported content block type 'video'`,
    );
    expect(inUser({ type: "v".repeat(10_000) }).length).toBeLessThan(300);
  });
});

describe("tool results", () => {
  const result = (content?: unknown, more: object = {}) =>
    resultBlocks({ type: "tool_result", tool_use_id: "a", content, ...more })[0]!.content;
  const text = (value: string) => ({ type: "text", text: value });
  const picture = image({ type: "url", url: "https://example.com/a.png" });

  it.each([[undefined], [null], [""], [[]]])("[tool_result.empty] %j is an empty string", (content) => {
    expect(result(content)).toBe("");
  });

  it("[tool_result.string] is the string", () => {
    expect(result("42")).toBe("42");
  });

  it("[tool_result.text] blocks are joined by line ends", () => {
    expect(result([text("a"), text(""), text("b")])).toBe("a\nb");
  });

  it("[tool_result.media] goes into the user message after all results", () => {
    const url = { type: "image_url", image_url: { url: "https://example.com/a.png" } };
    expect(
      resultBlocks(
        { type: "tool_result", tool_use_id: "a", content: [text("see"), picture] },
        { type: "tool_result", tool_use_id: "b", content: [document(pdf)] },
      ),
    ).toEqual([
      { role: "tool", tool_call_id: "a", content: "see" },
      { role: "tool", tool_call_id: "b", content: "[The result is attached in the next message.]" },
      {
        role: "user",
        content: [
          url,
          {
            type: "file",
            file: { filename: "document.pdf", file_data: "data:application/pdf;base64,JVBERi0=" },
          },
        ],
      },
    ]);
  });

  it("[tool_result.documents] are text", () => {
    const found = { type: "search_result", source: "s", title: "t", content: [text("x")] };
    expect(result([found, document({ type: "text", data: "y" })])).toBe(
      '<search_result source="s" title="t">\nx\n</search_result>\n<document>\ny\n</document>',
    );
  });

  it("[tool_result.tool_reference] names the tool", () => {
    expect(result([{ type: "tool_reference", tool_name: "f" }])).toBe("Tool available: f");
  });

  it.each([
    ["no such file", "Error: no such file"],
    ["ERROR: no such file", "ERROR: no such file"],
    ["", "Error"],
    [[picture], "Error: [The result is attached in the next message.]"],
  ])("[tool_result.is_error] %j says so", (content, expected) => {
    expect(result(content, { is_error: true })).toBe(expected);
    expect(result("fine", { is_error: false })).toBe("fine");
  });

  it("[blocks.unknown] in a tool result is refused", () => {
    expect(inUser({ type: "tool_result", tool_use_id: "a", content: [{ type: "browser_state" }] })).toContain(
      `${AT_USER}.content.0: unsupported content block type 'browser_state'`,
    );
  });
});
