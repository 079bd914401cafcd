import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findGenerated } from "../../../../src/data-path/translation/upstream/find-generated.ts";
import { runs } from "../../../support/extent.ts";

const TEXT = "what the model wrote";

describe("the text in what a server generated", () => {
  it("is every string in a place that nobody knows", () => {
    const name = fc.stringMatching(/^[a-z]{1,8}$/u).map((letters) => `${letters}_of_tomorrow`);
    const place = fc.array(fc.oneof(name, fc.constant(0)), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(place, fc.string({ minLength: 1 }), (path, text) => {
        const value = path.reduceRight<unknown>(
          (inner, step) => (typeof step === "number" ? [inner] : { type: "thing", id: "x", [step]: inner }),
          text,
        );
        expect(findGenerated(value)).toEqual({ text, media: 0 });
      }),
      { numRuns: runs(200) },
    );
  });

  it.each([
    [
      "reasoning details",
      [{ type: "reasoning.text", text: TEXT, format: "f", id: "r", index: 0, signature: "s" }],
    ],
    ["summaries", [{ type: "reasoning.summary", summary: TEXT }]],
    ["a custom tool's input", [{ type: "custom", custom: { input: TEXT }, id: "c", index: 0 }]],
    ["a transcript", { id: "audio_1", transcript: TEXT, expires_at: "2026" }],
    ["a refusal", { type: "refusal", refusal: TEXT }],
    ["a compaction", { type: "compaction", content: TEXT }],
    ["a patch", { type: "apply_patch_call", call_id: "c", operation: { type: "delete_file", path: TEXT } }],
    [
      "a command",
      { type: "shell_call", action: { commands: [TEXT], timeout_ms: 1 }, environment: { type: "local" } },
    ],
    [
      "a search",
      { type: "web_search_call", action: { type: "search", query: TEXT, sources: [{ url: "u" }] } },
    ],
    ["code", { type: "code_interpreter_call", code: TEXT, outputs: [{ logs: "out" }], container_id: "c" }],
    ["a call of MCP", { type: "mcp_call", arguments: TEXT, output: "found", server_label: "s", error: null }],
    ["a prompt of an image", { type: "image_generation_call", revised_prompt: TEXT, size: "1024x1024" }],
    ["a tool that ran at Groq", { index: 0, type: "search", arguments: TEXT, output: "found" }],
  ])("is in %s", (_name, value) => {
    expect(findGenerated(value)).toEqual({ text: TEXT, media: 0 });
  });

  it.each([
    ["function", { tool_calls: [{ id: "c", type: "function", function: { name: "get", arguments: "{}" } }] }],
    ["tool_use", { type: "tool_use", id: "t", name: "get", input: {}, arguments: "{}" }],
    ["function_call", { type: "function_call", call_id: "c", name: "get", arguments: "{}" }],
  ])("is a name where it is that of a call: %s", (_name, value) => {
    expect(findGenerated(value).text).toBe("get{}");
  });

  it("is the JSON of arguments that are an object, whatever its members are called", () => {
    const input = { id: "a", type: "b", url: "c", n: 1 };
    expect(findGenerated({ type: "tool_use", input }).text).toBe(JSON.stringify(input));
    expect(findGenerated({ function: { arguments: input } }).text).toBe(JSON.stringify(input));
  });

  it.each([
    [
      "a choice's own",
      {
        index: 0,
        finish_reason: "stop",
        native_finish_reason: "STOP",
        stop_reason: "x",
        logprobs: { content: [{ token: "a" }] },
        matched_stop: "a",
        content_filter_results: { hate: { severity: "safe" } },
      },
    ],
    ["a name that is no call's", { role: "assistant", name: "bot" }],
    [
      "signatures",
      { signature: "a", thought_signature: "b", extra_content: { google: { thought_signature: "c" } } },
    ],
    [
      "citations",
      {
        annotations: [{ title: "t" }],
        citations: ["u"],
        citation: { cited_text: "c" },
        search_results: [{ title: "t" }],
        copilot_references: [{ title: "t" }],
      },
    ],
    ["what a tool found", { type: "web_search_tool_result", content: [{ title: "t", page_age: "old" }] }],
    ["what a client's tool found", { type: "function_call_output", output: "found" }],
    ["a list of tools", { type: "mcp_list_tools", tools: [{ name: "t", description: "d" }] }],
    ["what a user wrote", { type: "message", role: "user", content: [{ type: "input_text", text: "hi" }] }],
    ["padding", { obfuscation: "abc", sequence_number: 1, item_id: "i" }],
    ["nothing", { content: null, text: "", n: 1, ok: true, input: {} }],
  ])("is not %s", (_name, value) => {
    expect(findGenerated(value)).toEqual({ text: "", media: 0 });
  });

  it.each([
    ["audio", { audio: { id: "a", data: "AAAA" } }],
    ["an image", { images: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }] }],
    ["an image that a tool made", { type: "image_generation_call", result: "AAAA", status: "completed" }],
    ["encrypted reasoning", { type: "reasoning", summary: [], encrypted_content: "gAAA" }],
    ["redacted thinking", { type: "redacted_thinking", data: "EmwK" }],
    ["encrypted details", [{ type: "reasoning.encrypted", data: "EmwK" }]],
  ])("is not %s, which counts as one piece", (_name, value) => {
    expect(findGenerated(value)).toEqual({ text: "", media: 1 });
  });
});
