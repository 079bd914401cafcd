import { describe, expect, it } from "vitest";
import { nameServerTool } from "../../../src/shared/usage/server-tools.ts";

describe("nameServerTool", () => {
  it.each([
    ["web_search", "web_search"],
    ["web_search_20250305", "web_search"],
    ["web_search_20260209", "web_search"],
    ["web_search_preview", "web_search"],
    ["web_search_preview_2025_03_11", "web_search"],
    ["web_search_2025_08_26", "web_search"],
    ["Web-Search_20250305", "web_search"],
    ["openrouter:web_search", "web_search"],
    ["code_execution_20250825", "code_execution"],
    ["bash_code_execution", "code_execution"],
    ["text_editor_code_execution", "code_execution"],
    ["tool_search_tool_regex_20251119", "tool_search"],
    ["mcp_toolset", "mcp"],
    ["image_generation", "image_generation"],
    ["", "unknown"],
    ["sök", "unknown"],
    ["x".repeat(40), "unknown"],
  ])("of %s is %s, whatever the version", (type, name) => {
    expect(nameServerTool(type)).toBe(name);
  });
});
