/**
 * Tools of a request that run at the model's server, in the words of each protocol: what they are called in prices, and
 * how often one can be used. What the client runs is none of them. Lenient: the upstream checks the body.
 */
import { isJsonObject, toArray, type JsonObject } from "../../../shared/text/json-object.ts";
import { nameServerTool } from "../../../shared/usage/server-tools.ts";
import type { AskedTool, ToolBound } from "../client-protocol.ts";

export const NO_SERVER_TOOLS: readonly AskedTool[] = Object.freeze([]);

/** Anthropic's tools that the client runs; a tool without a type is one of the client's own. */
const MESSAGES_CLIENT_TOOLS = /^(?:custom$|(?:bash|text_editor|memory|computer)_\d)/;
const CHAT_CLIENT_TOOLS: ReadonlySet<unknown> = new Set(["function", "custom"]);
const RESPONSES_CLIENT_TOOLS: ReadonlySet<unknown> = new Set([
  "function",
  "custom",
  "local_shell",
  "apply_patch",
  "computer",
  "computer_use_preview",
]);
/** Fields of chats that ask for a search of the server's: OpenAI, xAI, Qwen. */
export const CHAT_SEARCH_FIELDS = ["web_search_options", "search_parameters", "enable_search"] as const;

/** Tools of messages that take `max_uses`. */
const WITH_MAX_USES: ReadonlySet<string> = new Set(["web_search", "web_fetch"]);
/** Versions of them that never run code of their own, which `max_uses` does not bound. */
const WITHOUT_CODE = /_2025\d{4}$/;

export function readMessagesTools({ tools, mcp_servers: servers, container }: JsonObject): AskedTool[] {
  const asked = toArray(tools).flatMap((tool, index): AskedTool[] => {
    const type = isJsonObject(tool) ? (tool["type"] ?? "custom") : null;
    if (!isJsonObject(tool) || typeof type !== "string" || MESSAGES_CLIENT_TOOLS.test(type)) return [];
    const param = `tools.${index}`;
    return [{ name: nameServerTool(type), param, bound: readMaxUses(tool, type, param) }];
  });
  if (toArray(servers).length > 0) asked.push(boundless("mcp", "mcp_servers"));
  // What it is for is code of the model's.
  if (container !== undefined && container !== null) asked.push(boundless("code_execution", "container"));
  return asked;
}

function readMaxUses({ max_uses: uses, allowed_callers: callers }: JsonObject, type: string, param: string) {
  if (!WITH_MAX_USES.has(nameServerTool(type))) return boundless("", param).bound;
  if (!isCount(uses)) {
    return noBound(`${param}.max_uses`, "without it the tool may be used any number of times");
  }
  const isDirect = Array.isArray(callers) && callers.length === 1 && callers[0] === "direct";
  return WITHOUT_CODE.test(type) || isDirect
    ? ({ kind: "own", uses } as const)
    : noBound(`${param}.allowed_callers`, 'without `["direct"]` the tool may be used from code as well');
}

export function readChatTools(body: JsonObject): AskedTool[] {
  const asked = toArray(body["tools"]).flatMap((tool, index): AskedTool[] =>
    isJsonObject(tool) && !isChatClientTool(tool) ? [boundless(nameChatTool(tool), `tools.${index}`)] : [],
  );
  for (const field of CHAT_SEARCH_FIELDS) {
    if (isSearchAsked(body[field])) asked.push(boundless("web_search", field));
  }
  return asked;
}

function isSearchAsked(value: unknown): boolean {
  if (isJsonObject(value)) return value["mode"] !== "off";
  return value !== undefined && value !== null && value !== false;
}

function isChatClientTool({ type, function: own }: JsonObject): boolean {
  return CHAT_CLIENT_TOOLS.has(type) || (type === undefined && isJsonObject(own));
}

/** The tool's name: its type, or as Google has it, its only field: `{google_search: {}}`. */
function nameChatTool(tool: JsonObject): string {
  const { type } = tool;
  return nameServerTool(typeof type === "string" ? type : (Object.keys(tool)[0] ?? ""));
}

export function readResponsesTools({ tools, input, max_tool_calls: most }: JsonObject): AskedTool[] {
  const asked = readResponsesList(tools, "tools", most);
  for (const [index, item] of toArray(input).entries()) {
    if (!isJsonObject(item)) continue;
    const { type } = item;
    if (type !== "additional_tools" && type !== "tool_search_output") continue;
    asked.push(...readResponsesList(item["tools"], `input[${index}].tools`, most));
  }
  return asked;
}

function readResponsesList(tools: unknown, path: string, most: unknown): AskedTool[] {
  return toArray(tools).flatMap((tool, index): AskedTool[] => {
    const param = `${path}[${index}]`;
    if (!isJsonObject(tool)) return [];
    if (tool["type"] === "namespace") return readResponsesList(tool["tools"], `${param}.tools`, most);
    if (isResponsesClientTool(tool)) return [];
    const { type } = tool;
    const name = nameServerTool(typeof type === "string" ? type : "");
    return [{ name, param, bound: readMaxCalls(most, param) }];
  });
}

function isResponsesClientTool({ type, execution, environment }: JsonObject): boolean {
  if (type === "tool_search") return execution === "client";
  if (type === "shell") return isJsonObject(environment) && environment["type"] === "local";
  return RESPONSES_CLIENT_TOOLS.has(type);
}

/** `max_tool_calls` is of all tools together. */
function readMaxCalls(most: unknown, param: string): ToolBound {
  if (isCount(most)) return { kind: "shared", uses: most };
  return noBound("max_tool_calls", `without it \`${param}\` may be used any number of times`);
}

function boundless(name: string, param: string): AskedTool {
  return { name, param, bound: noBound(param, "nothing bounds how often the model server runs it") };
}

function noBound(param: string, reason: string): ToolBound {
  return { kind: "none", param, reason };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
