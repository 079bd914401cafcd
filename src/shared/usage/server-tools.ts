/**
 * Tools that run at the model server during an answer: their names in prices, fields and figures. Providers
 * bill their uses in addition to tokens.
 */

/** Number of uses by name of the tool. */
export type ToolUses = ReadonlyMap<string, number>;

export const NO_USES: ToolUses = new Map();

/** Form of a tool's name, in prices and from upstreams. */
export const SERVER_TOOL_FORM = /^[a-z][a-z0-9_]{0,31}$/;

const MAX_CHARACTERS = 64;
/** Versions of a tool as providers write them: `web_search_20250305`, `web_search_preview_2025_03_11`. */
const VERSION = /(?:_preview)?(?:_\d+)*$/;
/** Alternative names of tools, with the name to use. */
const SAME_TOOL: readonly (readonly [form: RegExp, name: string])[] = [
  [/^tool_search_tool(?:_|$)/, "tool_search"],
  [/^mcp_toolset$/, "mcp"],
  [/_code_execution$/, "code_execution"],
];

/** Returns a tool's name without its version; `unknown` for a malformed name. */
export function nameServerTool(type: string): string {
  const folded = type.slice(0, MAX_CHARACTERS).toLowerCase().replace(/-/g, "_");
  // "openrouter:web_search"
  const bare = folded.slice(folded.lastIndexOf(":") + 1).replace(VERSION, "");
  const name = SAME_TOOL.find(([form]) => form.test(bare))?.[1] ?? bare;
  return SERVER_TOOL_FORM.test(name) ? name : "unknown";
}
