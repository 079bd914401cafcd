/** Counts the uses of tools that ran at the upstream's server, by its own figures and by what its answer shows. */
import { isJsonObject, toArray, type JsonObject } from "../../../shared/text/json-object.ts";
import { nameServerTool, NO_USES, type ToolUses } from "../../../shared/usage/server-tools.ts";

/** Where usages have figures of tools, as `web_search_requests` or `web_search_calls`: Anthropic, OpenRouter, xAI. */
const FIGURES = ["server_tool_use", "server_tool_use_details", "server_side_tool_usage_details"] as const;
const FIGURE_FORM = /^([a-z0-9_]{1,64})_(?:requests|calls)$/;
/** No answer has more: what goes beyond it is a broken upstream, not a bill. */
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
/** What a search may do beside searching; providers bill searches. */
const FREE_ACTIONS: ReadonlySet<unknown> = new Set(["open_page", "find_in_page"]);

export class ServerToolUses {
  // Most answers have none of these: each is made when it is needed.
  #shown: Map<string, number> | null = null;
  /** What a usage says of a tool is all there is to say of it: a use that failed is not billed. */
  #told: Map<string, number> | null = null;
  #containers: Set<string> | null = null;

  /** The same empty map for answers without such tools. */
  get uses(): ToolUses {
    if (this.#told === null) return this.#shown ?? NO_USES;
    return this.#shown === null ? this.#told : new Map([...this.#shown, ...this.#told]);
  }

  /** The figures of a usage, of whatever protocol: totals of the answer so far. */
  readUsage(usage: unknown): void {
    if (!isJsonObject(usage)) return;
    for (const place of FIGURES) {
      const figures = usage[place];
      if (isJsonObject(figures)) this.#readFigures(figures);
    }
    // LiteLLM, Perplexity
    const { prompt_tokens_details: details, num_search_queries: searches } = usage;
    if (isJsonObject(details)) this.#tell("web_search", details["web_search_requests"]);
    this.#tell("web_search", searches);
  }

  /** A block of a message. */
  readBlock({ type, name }: JsonObject): void {
    if (type === "server_tool_use" && typeof name === "string") this.#show(nameServerTool(name));
    if (type === "mcp_tool_use") this.#show("mcp");
  }

  /** An item of a response that is finished. */
  readItem(item: unknown): void {
    const name = isJsonObject(item) ? nameCall(item) : null;
    if (name === null || !isJsonObject(item) || item["status"] === "failed") return;
    const { container_id: container, action } = item;
    if (isJsonObject(action) && FREE_ACTIONS.has(action["type"])) return;
    if (typeof container !== "string" || this.#isNew(container)) this.#show(name);
  }

  /** All items of a response: in place of those that were finished before. */
  readItems(items: unknown): void {
    const list = toArray(items);
    if (list.length === 0) return;
    this.#shown = null;
    this.#containers = null;
    for (const item of list) this.readItem(item);
  }

  /** Citations of a chat message are of a search, of how many nobody tells. */
  readAnnotations(annotations: unknown): void {
    const isCited = toArray(annotations).some((one) => isJsonObject(one) && one["type"] === "url_citation");
    if (isCited && this.#shown?.has("web_search") !== true) this.#show("web_search");
  }

  #readFigures(figures: JsonObject): void {
    for (const [field, figure] of Object.entries(figures).slice(0, MAX_TOOLS)) {
      const name = FIGURE_FORM.exec(field)?.[1];
      if (name !== undefined) this.#tell(nameServerTool(name), figure);
    }
  }

  #tell(name: string, figure: unknown): void {
    if (!Number.isSafeInteger(figure) || (figure as number) < 0 || (figure as number) > MAX_USES) return;
    this.#told ??= new Map();
    if (this.#told.has(name) || this.#told.size < MAX_TOOLS) this.#told.set(name, figure as number);
  }

  #show(name: string): void {
    this.#shown ??= new Map();
    const count = this.#shown.get(name) ?? 0;
    if (count > 0 || this.#shown.size < MAX_TOOLS) this.#shown.set(name, Math.min(MAX_USES, count + 1));
  }

  /** A container is billed once, however often code runs in it. */
  #isNew(container: string): boolean {
    this.#containers ??= new Set();
    if (this.#containers.has(container)) return false;
    if (this.#containers.size < MAX_CONTAINERS) this.#containers.add(container);
    return true;
  }
}

/** The tool of an item that is a call which the upstream's server ran; null for every other. */
function nameCall({ type, environment }: JsonObject): string | null {
  if (typeof type !== "string" || CLIENT_CALLS.has(type)) return null;
  const name = CALL_FORM.exec(type)?.[1];
  if (name === undefined) return null;
  const isLocal = name === "shell" && !(isJsonObject(environment) && environment["type"] !== "local");
  return isLocal ? null : nameServerTool(name);
}
