/** Counts the uses of tools that the model server ran, from its usage and from its answer. */
import { isJsonObject, toArray, type JsonObject } from "../../../shared/text/json-object.ts";
import { nameServerTool, NO_USES, type ToolUses } from "../../../shared/usage/server-tools.ts";

/**
 * Members of a usage with figures of tools, such as `web_search_requests` or `web_search_calls`: Anthropic,
 * OpenRouter, xAI.
 */
const FIGURES = ["server_tool_use", "server_tool_use_details", "server_side_tool_usage_details"] as const;
const FIGURE_FORM = /^([a-z0-9_]{1,64})_(?:requests|calls)$/;
/** A larger figure is a malfunction of the upstream and is not billed. */
const MAX_USES = 1_000_000;
const MAX_TOOLS = 32;
const MAX_CONTAINERS = 1_024;

const CALL_FORM = /^([a-z0-9_]{1,64})_call$/;
/** Calls that the client runs. */
const CLIENT_CALLS: ReadonlySet<string> = new Set([
  "function_call",
  "custom_tool_call",
  "local_shell_call",
  "apply_patch_call",
  "computer_call",
]);
/** Actions of a search call other than searching; providers bill only searches. */
const FREE_ACTIONS: ReadonlySet<unknown> = new Set(["open_page", "find_in_page"]);

export class ServerToolUses {
  // Created on demand, because most answers use no server tools.
  #counted: Map<string, number> | null = null;
  /** Uses according to the usage. They take precedence, because failed uses are not billed. */
  #reported: Map<string, number> | null = null;
  #containers: Set<string> | null = null;

  /** Returns the same empty map for all answers without such tools. */
  get uses(): ToolUses {
    if (this.#reported === null) return this.#counted ?? NO_USES;
    return this.#counted === null ? this.#reported : new Map([...this.#counted, ...this.#reported]);
  }

  /** Reads the figures of a usage of any protocol: totals of the answer so far. */
  readUsage(usage: unknown): void {
    if (!isJsonObject(usage)) return;
    for (const place of FIGURES) {
      const figures = usage[place];
      if (isJsonObject(figures)) this.#readFigures(figures);
    }
    // LiteLLM, Perplexity
    const { prompt_tokens_details: details, num_search_queries: searches } = usage;
    if (isJsonObject(details)) this.#report("web_search", details["web_search_requests"]);
    this.#report("web_search", searches);
  }

  /** Reads a block of a message. */
  readBlock({ type, name }: JsonObject): void {
    if (type === "server_tool_use" && typeof name === "string") this.#count(nameServerTool(name));
    if (type === "mcp_tool_use") this.#count("mcp");
  }

  /** Reads a finished item of a response. */
  readItem(item: unknown): void {
    const name = isJsonObject(item) ? nameCall(item) : null;
    if (name === null || !isJsonObject(item) || item["status"] === "failed") return;
    const { container_id: container, action } = item;
    if (isJsonObject(action) && FREE_ACTIONS.has(action["type"])) return;
    if (typeof container !== "string" || this.#isNew(container)) this.#count(name);
  }

  /** Reads all items of a response, which replace those read before. */
  readItems(items: unknown): void {
    const list = toArray(items);
    if (list.length === 0) return;
    this.#counted = null;
    this.#containers = null;
    for (const item of list) this.readItem(item);
  }

  /** Citations of a chat message count that there was a search, but not how many. */
  readAnnotations(annotations: unknown): void {
    const isCited = toArray(annotations).some((one) => isJsonObject(one) && one["type"] === "url_citation");
    if (isCited && this.#counted?.has("web_search") !== true) this.#count("web_search");
  }

  #readFigures(figures: JsonObject): void {
    for (const [field, figure] of Object.entries(figures).slice(0, MAX_TOOLS)) {
      const name = FIGURE_FORM.exec(field)?.[1];
      if (name !== undefined) this.#report(nameServerTool(name), figure);
    }
  }

  #report(name: string, figure: unknown): void {
    if (!Number.isSafeInteger(figure) || (figure as number) < 0 || (figure as number) > MAX_USES) return;
    this.#reported ??= new Map();
    if (this.#reported.has(name) || this.#reported.size < MAX_TOOLS) {
      this.#reported.set(name, figure as number);
    }
  }

  #count(name: string): void {
    this.#counted ??= new Map();
    const count = this.#counted.get(name) ?? 0;
    if (count > 0 || this.#counted.size < MAX_TOOLS) this.#counted.set(name, Math.min(MAX_USES, count + 1));
  }

  /** A container is billed once, however often code runs in it. */
  #isNew(container: string): boolean {
    this.#containers ??= new Set();
    if (this.#containers.has(container)) return false;
    if (this.#containers.size < MAX_CONTAINERS) this.#containers.add(container);
    return true;
  }
}

/** Returns the tool of an item that is a call run by the model server, otherwise null. */
function nameCall({ type, environment }: JsonObject): string | null {
  if (typeof type !== "string" || CLIENT_CALLS.has(type)) return null;
  const name = CALL_FORM.exec(type)?.[1];
  if (name === undefined) return null;
  const isLocal = name === "shell" && !(isJsonObject(environment) && environment["type"] !== "local");
  return isLocal ? null : nameServerTool(name);
}
