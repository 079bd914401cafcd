/**
 * Finds the tools of a request that the model server runs, by protocol: their names in prices, and the limit of their
 * uses. Excludes tools that the client runs. Lenient, because the upstream validates the body.
 */
import { isJsonObject, toArray, type JsonObject } from "../../../shared/text/json-object.ts";
import { nameServerTool } from "../../../shared/usage/server-tools.ts";
import type { RequestedTool, ToolBound } from "../client-protocol.ts";

export const NO_SERVER_TOOLS: readonly RequestedTool[] = Object.freeze([]);

/** Anthropic's tools that the client runs; a tool without a type is a custom tool. */
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
/** Chat fields that request a search by the server: OpenAI, xAI, Qwen. */
export const CHAT_SEARCH_FIELDS = ["web_search_options", "search_parameters", "enable_search"] as const;

/** Messages tools that take `max_uses`. */
const WITH_MAX_USES: ReadonlySet<string> = new Set(["web_search", "web_fetch"]);
/** Versions of these tools that never run code; `max_uses` does not limit uses from code. */
const WITHOUT_CODE = /_2025\d{4}$/;

export function readMessagesTools({ tools, mcp_servers: servers, container }: JsonObject): RequestedTool[] {
  const requested = toArray(tools).flatMap((tool, index): RequestedTool[] => {
    const type = isJsonObject(tool) ? (tool["type"] ?? "custom") : null;
    if (!isJsonObject(tool) || typeof type !== "string" || MESSAGES_CLIENT_TOOLS.test(type)) return [];
    const param = `tools.${index}`;
    return [{ name: nameServerTool(type), param, bound: readMaxUses(tool, type, param) }];
  });
  if (toArray(servers).length > 0) requested.push(boundless("mcp", "mcp_servers"));
  // A container is for code that the model writes.
  if (container !== undefined && container !== null) requested.push(boundless("code_execution", "container"));
  return requested;
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

export function readChatTools(body: JsonObject): RequestedTool[] {
  const requested = toArray(body["tools"]).flatMap((tool, index): RequestedTool[] =>
    isJsonObject(tool) && !isChatClientTool(tool) ? [boundless(nameChatTool(tool), `tools.${index}`)] : [],
  );
  for (const field of CHAT_SEARCH_FIELDS) {
    if (requestsSearch(body[field])) requested.push(boundless("web_search", field));
  }
  return requested;
}

function requestsSearch(value: unknown): boolean {
  if (isJsonObject(value)) return value["mode"] !== "off";
  return value !== undefined && value !== null && value !== false;
}

function isChatClientTool({ type, function: own }: JsonObject): boolean {
  return CHAT_CLIENT_TOOLS.has(type) || (type === undefined && isJsonObject(own));
}

/** Returns the tool's type or, as Google has it, its only field: `{google_search: {}}`. */
function nameChatTool(tool: JsonObject): string {
  const { type } = tool;
  return nameServerTool(typeof type === "string" ? type : (Object.keys(tool)[0] ?? ""));
}

export function readResponsesTools({ tools, input, max_tool_calls: maxCalls }: JsonObject): RequestedTool[] {
  const requested = readResponsesList(tools, "tools", maxCalls);
  for (const [index, item] of toArray(input).entries()) {
    if (!isJsonObject(item)) continue;
    const { type } = item;
    if (type !== "additional_tools" && type !== "tool_search_output") continue;
    requested.push(...readResponsesList(item["tools"], `input[${index}].tools`, maxCalls));
  }
  return requested;
}

function readResponsesList(tools: unknown, path: string, maxCalls: unknown): RequestedTool[] {
  return toArray(tools).flatMap((tool, index): RequestedTool[] => {
    const param = `${path}[${index}]`;
    if (!isJsonObject(tool)) return [];
    if (tool["type"] === "namespace") return readResponsesList(tool["tools"], `${param}.tools`, maxCalls);
    if (isResponsesClientTool(tool)) return [];
    const { type } = tool;
    const name = nameServerTool(typeof type === "string" ? type : "");
    return [{ name, param, bound: readMaxCalls(maxCalls, param) }];
  });
}

function isResponsesClientTool({ type, execution, environment }: JsonObject): boolean {
  if (type === "tool_search") return execution === "client";
  if (type === "shell") return isJsonObject(environment) && environment["type"] === "local";
  return RESPONSES_CLIENT_TOOLS.has(type);
}

/** `max_tool_calls` is shared by all tools. */
function readMaxCalls(maxCalls: unknown, param: string): ToolBound {
  if (isCount(maxCalls)) return { kind: "shared", uses: maxCalls };
  return noBound("max_tool_calls", `without it \`${param}\` may be used any number of times`);
}

function boundless(name: string, param: string): RequestedTool {
  return { name, param, bound: noBound(param, "nothing bounds how often the model server runs it") };
}

function noBound(param: string, reason: string): ToolBound {
  return { kind: "none", param, reason };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
