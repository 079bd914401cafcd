/** One server-sent event of a Responses stream, parsed. */
export interface ResponseEvent {
  readonly type: string;
  readonly data: Json;
}

type Json = Readonly<Record<string, unknown>>;

export type ResponseEnding = "response.completed" | "response.incomplete" | "response.failed";

const ENDINGS: ReadonlySet<string> = new Set<ResponseEnding>([
  "response.completed",
  "response.incomplete",
  "response.failed",
]);

/** What every response has, whatever the client sent: the Open Responses specification's list, and OpenAI's `user`. */
const RESPONSE_FIELDS = [
  ..."id object created_at completed_at status incomplete_details model previous_response_id instructions".split(
    " ",
  ),
  ..."output error tools tool_choice truncation parallel_tool_calls text top_p presence_penalty".split(" "),
  ..."frequency_penalty top_logprobs temperature reasoning usage max_output_tokens max_tool_calls".split(" "),
  ..."store background service_tier metadata safety_identifier prompt_cache_key user".split(" "),
];

/** The one text of each kind of part or call, and the events that bring it. */
const TEXTS: Readonly<
  Record<string, { readonly event: string; readonly field: string; readonly place: string }>
> = {
  output_text: { event: "response.output_text", field: "text", place: "content_index" },
  refusal: { event: "response.refusal", field: "refusal", place: "content_index" },
  reasoning_text: { event: "response.reasoning_text", field: "text", place: "content_index" },
  summary_text: { event: "response.reasoning_summary_text", field: "text", place: "summary_index" },
  function_call: { event: "response.function_call_arguments", field: "arguments", place: "" },
  custom_tool_call: { event: "response.custom_tool_call_input", field: "input", place: "" },
};

/**
 * Reads the text of a stream. Throws on anything but `event:` and `data:` lines, comments and single blank lines, and
 * where `[DONE]` is not the last.
 */
export function parseResponseEvents(text: string): ResponseEvent[] {
  if (text === "") return [];
  demand(text.endsWith("\n\n"), `the stream does not end with an event's end: ${text.slice(-80)}`);
  const blocks = text
    .slice(0, -2)
    .split("\n\n")
    .filter((block) => !block.startsWith(":"));
  const done = blocks.indexOf("data: [DONE]");
  demand(done === -1 || done === blocks.length - 1, "[DONE] is not the last");
  return (done === -1 ? blocks : blocks.slice(0, -1)).map((block) => {
    const match = /^event: ([a-z_.]+)\ndata: (\{[^\n]*\})$/.exec(block);
    if (match === null) throw new Error(`not an event: ${block.slice(0, 200)}`);
    const data = JSON.parse(match[2]!) as Json;
    demand(data["type"] === match[1], `an event ${match[1]!} with the type ${String(data["type"])}`);
    return { type: match[1]!, data };
  });
}

/**
 * Holds a whole stream against the protocol: numbered events, `response.created` and `response.in_progress` first, items
 * at indexes without a gap, every delta for an open part, each text the sum of its deltas, one last event with all that
 * was streamed, and `error` only right before `response.failed`.
 * @returns how the stream ended.
 * @throws Error naming the first violation.
 */
export function checkResponseStream(events: readonly ResponseEvent[]): ResponseEnding {
  const checker = new Checker();
  for (const [position, event] of events.entries()) {
    try {
      demand(
        event.data["sequence_number"] === position,
        `has the number ${String(event.data["sequence_number"])}`,
      );
      checker.read(event);
    } catch (error) {
      throw new Error(`event ${position} (${event.type}): ${(error as Error).message}`, { cause: error });
    }
  }
  return checker.end();
}

/** A response as it stands in JSON. @throws Error naming what is missing or wrong. */
export function checkResponse(response: Json): void {
  for (const field of RESPONSE_FIELDS) demand(field in response, `a response without ${field}`);
  demand(response["object"] === "response", "no response");
  demand(/^resp_\w+$/.test(String(response["id"])), `the id ${String(response["id"])}`);
  demand(Number.isSafeInteger(response["created_at"]), "created_at is no second");
  demand(response["store"] === false && response["background"] === false, "it is stored");
  const output = response["output"] as readonly Json[];
  const { status } = response;
  for (const [index, item] of output.entries()) {
    demand(typeof item["id"] === "string" && item["id"] !== "", "an item without an id");
    const mayBeIncomplete = status === "failed" || (status === "incomplete" && index === output.length - 1);
    const isWhole =
      isSummary(item) ||
      item["status"] === "completed" ||
      (mayBeIncomplete && item["status"] === "incomplete");
    demand(isWhole, `item ${index} of a response that is ${String(status)} is ${String(item["status"])}`);
  }
  if (status === "completed" || status === "incomplete") checkUsage(response["usage"] as Json);
  demand((status === "completed") === (response["completed_at"] !== null), "completed_at is wrong");
  demand(
    (status === "incomplete") === (response["incomplete_details"] !== null),
    "incomplete_details is wrong",
  );
  demand((status === "failed") === (response["error"] !== null), "error is wrong");
}

/** The one kind of item without a status. */
function isSummary({ type, status, encrypted_content: carrier }: Json): boolean {
  return type === "compaction" && status === undefined && /^gw3\..+$/.test(String(carrier));
}

function checkUsage(usage: Json): void {
  const { input_tokens: input, output_tokens: output, total_tokens: total } = usage as Record<string, number>;
  demand(total === input! + output!, "total_tokens is no sum");
  const cached = (usage["input_tokens_details"] as Record<string, number>)["cached_tokens"]!;
  const reasoning = (usage["output_tokens_details"] as Record<string, number>)["reasoning_tokens"]!;
  demand(cached >= 0 && cached <= input!, "more cached tokens than there are");
  demand(reasoning >= 0 && reasoning <= output!, "more reasoning tokens than there are");
}

interface OpenItem {
  readonly item: Json;
  readonly index: number;
  /** Parts that are done. */
  readonly parts: Json[];
  /** The open part, or the call itself. */
  open: { readonly type: string; text: string; isDone: boolean } | null;
}

class Checker {
  #state: "new" | "created" | "open" | "error" | ResponseEnding = "new";
  #id = "";
  readonly #items: OpenItem[] = [];
  readonly #done = new Map<number, Json>();

  read({ type, data }: ResponseEvent): void {
    demand(!ENDINGS.has(this.#state), "comes after the end");
    demand(this.#state !== "error" || type === "response.failed", "comes after the error");
    demand(
      !type.startsWith("response.") || !("error" in data),
      "has an error at the top, at which SDKs raise",
    );
    if (type === "response.created") this.#begin(data, "new", "created");
    else if (type === "response.in_progress") this.#begin(data, "created", "open");
    else if (type === "error") {
      demand(this.#state === "open", "comes before the response");
      const error = data["error"] as Json;
      demand(error["message"] === data["message"] && error["code"] === data["code"], "says two things");
      this.#state = "error";
    } else if (ENDINGS.has(type)) this.#finish(type as ResponseEnding, data["response"] as Json);
    else {
      demand(this.#state === "open", "comes before the response");
      this.#readItem(type, data);
    }
  }

  end(): ResponseEnding {
    if (ENDINGS.has(this.#state)) return this.#state as ResponseEnding;
    throw new Error(`the stream ends in state ${this.#state}`);
  }

  #begin(data: Json, from: string, to: "created" | "open"): void {
    demand(this.#state === from, "is not in its place");
    const response = data["response"] as Json;
    demand(response["status"] === "in_progress" && response["usage"] === null, "has progressed");
    demand((response["output"] as readonly unknown[]).length === 0, "has output");
    checkResponse(response);
    demand(this.#id === "" || this.#id === response["id"], "has another id");
    this.#id = String(response["id"]);
    this.#state = to;
  }

  #finish(type: ResponseEnding, response: Json): void {
    demand(
      this.#state === "open" || (this.#state === "error" && type === "response.failed"),
      "is not in its place",
    );
    checkResponse(response);
    demand(response["id"] === this.#id && `response.${String(response["status"])}` === type, "is another's");
    const output = response["output"] as readonly Json[];
    demand(output.length === this.#items.length, `has ${output.length} items of ${this.#items.length}`);
    for (const [index, item] of output.entries()) {
      const done = this.#done.get(index);
      if (done === undefined) demand(type === "response.failed", `item ${index} is not done`);
      else demand(JSON.stringify(done) === JSON.stringify(item), `item ${index} is not as it was`);
    }
    this.#state = type;
  }

  #readItem(type: string, data: Json): void {
    const index = data["output_index"] as number;
    if (type === "response.output_item.added") {
      this.#add(index, data["item"] as Json);
      return;
    }
    const item = this.#items[index];
    if (item === undefined || this.#done.has(index)) throw new Error(`item ${index} is not open`);
    if (type === "response.output_item.done") {
      this.#endItem(item, data["item"] as Json);
      return;
    }
    demand(data["item_id"] === item.item["id"], "names another item");
    if (type === "response.content_part.added" || type === "response.reasoning_summary_part.added") {
      demand(item.open === null || item.open.isDone, "comes while a part is open");
      item.open = { type: String((data["part"] as Json)["type"]), text: "", isDone: false };
      this.#checkPlace(item, data);
    } else if (type === "response.content_part.done" || type === "response.reasoning_summary_part.done") {
      this.#checkPlace(item, data);
      const part = data["part"] as Json;
      demand(item.open?.isDone === true, "comes before its text is done");
      demand(part[TEXTS[item.open!.type]!.field] === item.open!.text, "has another text");
      item.parts.push(part);
      item.open = null;
    } else this.#readText(item, type, data);
  }

  #readText(item: OpenItem, type: string, data: Json): void {
    const { open } = item;
    if (open === null || open.isDone) throw new Error("has no open part");
    const text = TEXTS[open.type];
    if (text === undefined) throw new Error(`${open.type} has no text`);
    if (text.place !== "") this.#checkPlace(item, data);
    if (type === `${text.event}.delta`) {
      demand(typeof data["delta"] === "string" && data["delta"] !== "", "is empty");
      open.text += String(data["delta"]);
    } else if (type === `${text.event}.done`) {
      demand(data[text.field] === open.text, "is not the sum of its deltas");
      open.isDone = true;
    } else throw new Error("is unknown, or of another kind");
  }

  #checkPlace(item: OpenItem, data: Json): void {
    const place = TEXTS[item.open?.type ?? ""]?.place ?? "";
    demand(data[place] === item.parts.length, `is at ${String(data[place])}, not at ${item.parts.length}`);
  }

  #add(index: number, item: Json): void {
    demand(index === this.#items.length, `is at ${index}, not at ${this.#items.length}`);
    const type = String(item["type"]);
    const isCall = type.endsWith("_call");
    if (type !== "compaction") {
      demand(item["status"] === "in_progress", "has progressed");
      demand(!("encrypted_content" in item), "carries something already");
    } else demand(item["encrypted_content"] === "", "carries something already");
    if (isCall) demand(String(item["call_id"]) !== "" && item["name"] !== "", "has no id or no name");
    const previous = this.#items.at(-1)?.item["type"];
    const isProse = previous === "message" || previous === "reasoning";
    demand(!isProse || this.#done.has(index - 1), "begins before the one before it is done");
    const open = isCall && type !== "tool_search_call" ? { type, text: "", isDone: false } : null;
    this.#items.push({ item, index, parts: [], open });
  }

  #endItem({ item, index, open, parts }: OpenItem, done: Json): void {
    for (const field of ["id", "type", "call_id", "name", "namespace"]) {
      demand(done[field] === item[field], `changed its ${field}`);
    }
    demand(open === null || open.isDone, "comes before its text is done");
    if (open !== null) demand(done[TEXTS[open.type]!.field] === open.text, "has another text");
    const kept =
      item["type"] === "reasoning" && "content" in done
        ? done["content"]
        : (done["summary"] ?? done["content"]);
    const hasParts = open === null && Array.isArray(kept);
    demand(!hasParts || JSON.stringify(kept) === JSON.stringify(parts), "has other parts");
    this.#done.set(index, done);
  }
}

function demand(condition: boolean, problem: string): void {
  if (!condition) throw new Error(problem);
}
