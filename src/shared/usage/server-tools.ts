/**
 * Tools that run at the model's server in the course of an answer: what each is called in prices, wishes and figures.
 * Providers bill their uses beside the tokens.
 */

/** How often each was used, by its name. */
export type ToolUses = ReadonlyMap<string, number>;

export const NO_USES: ToolUses = new Map();

/** The form of a tool's name, in prices as in what upstreams write. */
export const SERVER_TOOL_FORM = /^[a-z][a-z0-9_]{0,31}$/;

const MAX_CHARACTERS = 64;
/** Versions of a tool, as providers date and preview them: `web_search_20250305`, `web_search_preview_2025_03_11`. */
const VERSION = /(?:_preview)?(?:_\d+)*$/;
/** Names of one tool, by what they become of. */
const SAME_TOOL: readonly (readonly [form: RegExp, name: string])[] = [
  [/^tool_search_tool(?:_|$)/, "tool_search"],
  [/^mcp_toolset$/, "mcp"],
  [/_code_execution$/, "code_execution"],
];

/** What a tool is called whatever its version; a name that has no such form is `unknown`. */
export function nameServerTool(type: string): string {
  const folded = type.slice(0, MAX_CHARACTERS).toLowerCase().replace(/-/g, "_");
  // "openrouter:web_search"
  const bare = folded.slice(folded.lastIndexOf(":") + 1).replace(VERSION, "");
  const name = SAME_TOOL.find(([form]) => form.test(bare))?.[1] ?? bare;
  return SERVER_TOOL_FORM.test(name) ? name : "unknown";
}
