import { describe, expect, it } from "vitest";
import { GeneratedText } from "../../../../src/data-path/translation/upstream/generated-text.ts";
import { createNativeAnswer, namedEvent, runNativeStream } from "../../../support/native-exchange.ts";
import { encode } from "../../../support/messages-exchange.ts";

const read = (name: "messages" | "responses", answer: object): Record<string, number> => {
  const reader = createNativeAnswer(name, {});
  reader.translateBody(encode(answer));
  return Object.fromEntries(reader.observation.toolUses);
};
const message = (content: readonly object[], usage: object = {}) => ({
  type: "message",
  content,
  usage: { input_tokens: 1, output_tokens: 1, ...usage },
});
const response = (output: readonly object[], usage: object = {}) => ({
  object: "response",
  output,
  usage: { input_tokens: 1, output_tokens: 1, ...usage },
});
const block = (name: string) => ({ type: "server_tool_use", id: "s", name, input: {} });
const search = (type: string) => ({ type: "web_search_call", status: "completed", action: { type } });

describe("uses of tools in a message", () => {
  it("are what its usage says, and else the blocks that show them", () => {
    const blocks = [block("web_search"), block("web_search"), block("bash_code_execution")];
    // A search that failed is not billed.
    const usage = { server_tool_use: { web_search_requests: 1, web_fetch_requests: 0, tomorrow: 7 } };
    expect(read("messages", message(blocks, usage))).toEqual({
      web_search: 1,
      web_fetch: 0,
      code_execution: 1,
    });
    expect(read("messages", message([...blocks, { type: "mcp_tool_use" }]))).toEqual({
      web_search: 2,
      code_execution: 1,
      mcp: 1,
    });
  });

  it.each([-1, 0.5, "3", 1e9, null])("are not a figure that is impossible: %j", (figure) => {
    const usage = { server_tool_use: { web_search_requests: figure } };
    expect(read("messages", message([block("web_search")], usage))).toEqual({ web_search: 1 });
  });

  it("that streams are what its last usage says, not what it begins with", () => {
    const usage = {
      input_tokens: 1,
      output_tokens: 1,
      server_tool_use: { web_search_requests: 0 },
    };
    const events = [
      namedEvent("message_start", { message: { usage } }),
      namedEvent("content_block_start", { index: 0, content_block: block("web_search") }),
      namedEvent("content_block_stop", { index: 0 }),
      namedEvent("message_delta", {
        delta: { stop_reason: "end_turn" },
        usage: { output_tokens: 5, server_tool_use: { web_search_requests: 2 } },
      }),
      namedEvent("message_stop"),
    ];
    expect([...runNativeStream("messages", events).answer.observation.toolUses]).toEqual([["web_search", 2]]);
    const silent = namedEvent("message_delta", { delta: {}, usage: { output_tokens: 5 } });
    const untold = runNativeStream("messages", events.with(3, silent));
    expect([...untold.answer.observation.toolUses]).toEqual([["web_search", 1]]);
    // Broken off before it was told.
    const broken = runNativeStream("messages", events.slice(0, 3));
    expect([...broken.answer.observation.toolUses]).toEqual([["web_search", 1]]);
  });
});

describe("uses of tools in a response", () => {
  it("are its calls that the server ran and that providers bill", () => {
    const output = [
      search("search"),
      search("open_page"),
      search("find_in_page"),
      { type: "web_search_call", status: "completed" },
      { type: "web_search_call", status: "failed" },
      { type: "code_interpreter_call", container_id: "c1" },
      { type: "code_interpreter_call", container_id: "c1" },
      { type: "code_interpreter_call", container_id: "c2" },
      { type: "image_generation_call" },
      { type: "mcp_call" },
      { type: "mcp_list_tools" },
      { type: "function_call" },
      { type: "custom_tool_call" },
      { type: "computer_call" },
      { type: "local_shell_call" },
      { type: "shell_call", environment: { type: "local" } },
      { type: "shell_call" },
      { type: "shell_call", environment: { type: "container_reference" } },
    ];
    expect(read("responses", response(output))).toEqual({
      web_search: 2,
      code_interpreter: 2,
      image_generation: 1,
      mcp: 1,
      shell: 1,
    });
  });

  it("that streams are those of its last event, or of its items where that has none", () => {
    const done = (item: object) => namedEvent("response.output_item.done", { output_index: 0, item });
    const last = (output: readonly object[]) =>
      namedEvent("response.completed", { response: response(output) });
    const items = [done(search("search")), done(search("search"))];
    const countOf = (events: readonly string[]) =>
      runNativeStream("responses", events).answer.observation.toolUses.get("web_search");
    expect(countOf([...items, last([search("search"), search("search")])])).toBe(2);
    expect(countOf([...items, last([])])).toBe(2);
    expect(countOf(items)).toBe(2);
  });
});

describe("uses of tools in a chat completion", () => {
  const usesOf = (completion: object, text: object = {}): Record<string, number> => {
    const generated = new GeneratedText();
    generated.readUsage({ usage: { prompt_tokens: 1, completion_tokens: 1, ...completion } });
    generated.readChoices([{ message: text }]);
    return Object.fromEntries(generated.toolUses);
  };
  const CITED = { content: "x", annotations: [{ type: "url_citation" }, { type: "url_citation" }] };

  it.each([
    ["OpenRouter, LiteLLM", { server_tool_use: { web_search_requests: 2 } }, { web_search: 2 }],
    ["LiteLLM", { prompt_tokens_details: { web_search_requests: 2 } }, { web_search: 2 }],
    ["Perplexity", { num_search_queries: 2 }, { web_search: 2 }],
    [
      "xAI",
      { server_side_tool_usage_details: { web_search_calls: 2, x_search_calls: 1 } },
      { web_search: 2, x_search: 1 },
    ],
    ["a server that tells none", {}, {}],
  ])("are what the usage of %s says", (_server, usage, uses) => {
    expect(usesOf(usage)).toEqual(uses);
  });

  it("are one search where an answer cites pages and no figure says how many there were", () => {
    expect(usesOf({}, CITED)).toEqual({ web_search: 1 });
    expect(usesOf({ num_search_queries: 3 }, CITED)).toEqual({ web_search: 3 });
    expect(usesOf({}, { content: "x", annotations: [] })).toEqual({});
  });

  it("are of no more than 32 tools, whatever a broken upstream writes", () => {
    const figures = Object.fromEntries(Array.from({ length: 99 }, (_, at) => [`tool_${at}x_calls`, 1]));
    expect(Object.keys(usesOf({ server_tool_use: figures }))).toHaveLength(32);
  });
});
