import { describe, expect, it } from "vitest";
import { parseNative } from "../../../support/native-exchange.ts";
import { parseWith } from "../../../support/parse-with.ts";

const messages = (fields: object) => parseNative("messages", fields).serverTools;
const responses = (fields: object) => parseNative("responses", fields).serverTools;
const chat = (fields: object) => {
  const body = { model: "a/b", messages: [{ role: "user", content: "hi" }], ...fields };
  return parseWith("chat", Buffer.from(JSON.stringify(body))).serverTools;
};
/** What each tool is called, where it stands, and what bounds it or would. */
const tell = (tools: ReturnType<typeof chat>) =>
  tools.map(({ name, param, bound }) => [name, param, bound.kind === "none" ? bound.param : bound.uses]);

describe("tools of messages that run at the model server", () => {
  it("are all but the client's own, with their `max_uses`", () => {
    const tools = [
      { name: "mine", input_schema: {} },
      { type: "custom", name: "mine too" },
      { type: "bash_20250124", name: "bash" },
      { type: "computer_20250124", name: "computer" },
      { type: "web_search_20250305", name: "web_search", max_uses: 3 },
      { type: "web_fetch_20250910", name: "web_fetch" },
      { type: "code_execution_20250825", name: "code_execution", max_uses: 3 },
      { type: "tool_of_tomorrow", name: "x" },
    ];
    expect(tell(messages({ tools }))).toEqual([
      ["web_search", "tools.4", 3],
      ["web_fetch", "tools.5", "tools.5.max_uses"],
      ["code_execution", "tools.6", "tools.6"],
      ["tool_of_tomorrow", "tools.7", "tools.7"],
    ]);
  });

  it("have no bound where code may use them too, as in newer versions", () => {
    const search = { type: "web_search_20260209", name: "web_search", max_uses: 3 };
    expect(tell(messages({ tools: [search] }))).toEqual([
      ["web_search", "tools.0", "tools.0.allowed_callers"],
    ]);
    const both = { ...search, allowed_callers: ["direct", "code_execution_20260120"] };
    expect(messages({ tools: [both] })[0]?.bound.kind).toBe("none");
    const direct = { ...search, allowed_callers: ["direct"] };
    expect(tell(messages({ tools: [direct] }))).toEqual([["web_search", "tools.0", 3]]);
  });

  it("come with `mcp_servers` and `container`", () => {
    const fields = { mcp_servers: [{ url: "https://a.b" }], container: "container_1" };
    expect(tell(messages(fields))).toEqual([
      ["mcp", "mcp_servers", "mcp_servers"],
      ["code_execution", "container", "container"],
    ]);
    expect(messages({ mcp_servers: [], container: null })).toEqual([]);
  });

  it.each([0.5, -1, "3", null, 1e300])("have no bound with `max_uses` %j, which is no count", (uses) => {
    const tools = [{ type: "web_search_20250305", name: "web_search", max_uses: uses }];
    expect(messages({ tools })[0]?.bound.kind).toBe("none");
  });
});

describe("tools of responses that run at the model server", () => {
  it("[responses.native.strict_caps] are all but the client's own, wherever they are declared, with one limit", () => {
    const fields = {
      tools: [
        { type: "function", name: "f" },
        { type: "custom", name: "c" },
        { type: "local_shell" },
        { type: "tool_search", execution: "client" },
        { type: "shell", environment: { type: "local" } },
        { type: "web_search_preview_2025_03_11" },
        { type: "shell", environment: { type: "container_auto" } },
        { type: "namespace", tools: [{ type: "mcp" }] },
        { type: "tool_search" },
      ],
      input: [{ type: "additional_tools", tools: [{ type: "file_search" }] }],
    };
    const names = [
      ["web_search", "tools[5]"],
      ["shell", "tools[6]"],
      ["mcp", "tools[7].tools[0]"],
      ["tool_search", "tools[8]"],
      ["file_search", "input[0].tools[0]"],
    ];
    expect(tell(responses(fields))).toEqual(names.map((tool) => [...tool, "max_tool_calls"]));
    const bounded = responses({ ...fields, max_tool_calls: 2 });
    expect(tell(bounded)).toEqual(names.map((tool) => [...tool, 2]));
    expect(bounded.every(({ bound }) => bound.kind === "shared")).toBe(true);
  });
});

describe("tools of chats that run at the model server", () => {
  it("are those that are no functions, and searches that fields ask for, without a bound", () => {
    const tools = [
      { type: "function", function: { name: "f" } },
      { function: { name: "of a client that leaves the type out" } },
      { type: "custom", custom: { name: "c" } },
      { type: "web_search" },
      { google_search: {} },
    ];
    const fields = {
      tools,
      web_search_options: {},
      search_parameters: { mode: "auto" },
      enable_search: true,
    };
    const found = chat(fields);
    expect(found.map(({ name, param }) => [name, param])).toEqual([
      ["web_search", "tools.3"],
      ["google_search", "tools.4"],
      ["web_search", "web_search_options"],
      ["web_search", "search_parameters"],
      ["web_search", "enable_search"],
    ]);
    expect(found.every(({ bound }) => bound.kind === "none")).toBe(true);
    expect(chat({ tools: [], web_search_options: null, enable_search: false })).toEqual([]);
    expect(chat({ search_parameters: { mode: "off" } })).toEqual([]);
  });
});
