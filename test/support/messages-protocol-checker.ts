/** One server-sent event of a Messages stream, parsed. */
export interface MessageEvent {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const DELTAS_OF_BLOCK: Readonly<Record<string, readonly string[]>> = {
  text: ["text_delta"],
  thinking: ["thinking_delta", "signature_delta"],
  redacted_thinking: [],
  tool_use: ["input_json_delta"],
};

/** Reads the text of a stream. Throws on anything but `event:` and `data:` lines, comments and single blank lines. */
export function parseMessageEvents(text: string): MessageEvent[] {
  if (text === "") return [];
  demand(text.endsWith("\n\n"), `the stream does not end with an event's end: ${text.slice(-80)}`);
  return text
    .slice(0, -2)
    .split("\n\n")
    .filter((block) => !/^:[^\n]*$/.test(block))
    .map((block) => {
      const match = /^event: ([a-z_]+)\ndata: (\{[^\n]*\})$/.exec(block);
      if (match === null) throw new Error(`not an event: ${block.slice(0, 200)}`);
      return { event: match[1]!, data: JSON.parse(match[2]!) as Record<string, unknown> };
    });
}

/**
 * Holds a whole stream against the protocol: one `message_start` first, blocks with increasing indexes one at a time,
 * deltas only of the open block's kind, one `message_delta` and one `message_stop`, or an `error` at the end.
 * @returns how the stream ended.
 * @throws Error naming the first violation.
 */
export function checkMessageStream(events: readonly MessageEvent[]): "message_stop" | "error" {
  const checker = new Checker();
  for (const [position, event] of events.entries()) {
    try {
      checker.read(event);
    } catch (error) {
      throw new Error(`event ${position} (${event.event}): ${(error as Error).message}`, { cause: error });
    }
  }
  return checker.end();
}

class Checker {
  #state: "new" | "content" | "delta_sent" | "message_stop" | "error" = "new";
  #open: { index: number; type: string; isSigned: boolean } | null = null;
  #blocks = 0;

  read({ event, data }: MessageEvent): void {
    demand(data["type"] === event, `its data has the type ${String(data["type"])}`);
    demand(this.#state !== "message_stop" && this.#state !== "error", "comes after the end");
    if (event === "ping") return;
    if (event === "error") {
      this.#checkError(data);
      this.#state = "error";
    } else if (event === "message_start") this.#start(data);
    else if (event === "content_block_start") this.#startBlock(data);
    else if (event === "content_block_delta") this.#delta(data);
    else if (event === "content_block_stop") this.#stopBlock(data);
    else if (event === "message_delta") this.#messageDelta(data);
    else if (event === "message_stop") {
      demand(this.#state === "delta_sent", "comes without message_delta");
      this.#state = "message_stop";
    } else throw new Error("is unknown");
  }

  end(): "message_stop" | "error" {
    if (this.#state === "message_stop" || this.#state === "error") return this.#state;
    throw new Error(`the stream ends in state ${this.#state}`);
  }

  #start(data: MessageEvent["data"]): void {
    demand(this.#state === "new", "is not the first");
    const message = asObject(data["message"]);
    demand(message["type"] === "message" && message["role"] === "assistant", "holds no message");
    demand(/^msg_[0-9A-Za-z]+$/.test(String(message["id"])), "its message has no id");
    demand(Array.isArray(message["content"]) && message["content"].length === 0, "its message has content");
    demand(message["stop_reason"] === null && message["stop_sequence"] === null, "its message has stopped");
    checkUsage(message["usage"]);
    this.#state = "content";
  }

  #startBlock(data: MessageEvent["data"]): void {
    demand(this.#state === "content", "comes outside of the content");
    demand(this.#open === null, "comes while a block is open");
    demand(data["index"] === this.#blocks, `has the index ${String(data["index"])}, not ${this.#blocks}`);
    const block = asObject(data["content_block"]);
    const type = String(block["type"]);
    demand(type in DELTAS_OF_BLOCK, `its block has the type ${type}`);
    if (type === "text") {
      demand(block["text"] === "" && !("citations" in block), "its text block is not empty");
    }
    if (type === "thinking") {
      demand(block["thinking"] === "" && block["signature"] === "", "its thinking block is not empty");
    }
    if (type === "tool_use") {
      demand(typeof block["id"] === "string" && block["id"] !== "", "its tool_use has no id");
      demand(typeof block["name"] === "string" && block["name"] !== "", "its tool_use has no name");
      demand(JSON.stringify(block["input"]) === "{}", "its tool_use has input");
    }
    this.#open = { index: this.#blocks, type, isSigned: false };
    this.#blocks += 1;
  }

  #delta(data: MessageEvent["data"]): void {
    const open = this.#open;
    if (open === null) throw new Error("comes without an open block");
    demand(data["index"] === open.index, `is for block ${String(data["index"])}, but ${open.index} is open`);
    const delta = asObject(data["delta"]);
    const type = String(delta["type"]);
    demand(DELTAS_OF_BLOCK[open.type]!.includes(type), `${type} in a ${open.type} block`);
    demand(!open.isSigned, "comes after the signature");
    const field = { text_delta: "text", thinking_delta: "thinking", signature_delta: "signature" }[type];
    const value = delta[field ?? "partial_json"];
    demand(typeof value === "string" && value !== "", "is empty");
    if (type === "signature_delta") open.isSigned = true;
  }

  #stopBlock(data: MessageEvent["data"]): void {
    const open = this.#open;
    if (open === null) throw new Error("comes without an open block");
    demand(data["index"] === open.index, `is for block ${String(data["index"])}, but ${open.index} is open`);
    demand(open.type !== "thinking" || open.isSigned, "ends an unsigned thinking block");
    this.#open = null;
  }

  #messageDelta(data: MessageEvent["data"]): void {
    demand(this.#state === "content" && this.#open === null, "comes while a block is open, or twice");
    const delta = asObject(data["delta"]);
    demand(typeof delta["stop_reason"] === "string", "has no stop_reason");
    demand("stop_sequence" in delta && "stop_details" in delta, "lacks stop fields");
    checkUsage(data["usage"]);
    this.#state = "delta_sent";
  }

  #checkError(data: MessageEvent["data"]): void {
    const error = asObject(data["error"]);
    demand(typeof error["type"] === "string" && typeof error["message"] === "string", "is no error object");
  }
}

function checkUsage(value: unknown): void {
  const usage = asObject(value);
  for (const field of [
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
  ]) {
    demand(Number.isInteger(usage[field]) && (usage[field] as number) >= 0, `usage.${field} is no count`);
  }
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) throw new Error("an object is missing");
  return value as Record<string, unknown>;
}

function demand(condition: boolean, violation: string): void {
  if (!condition) throw new Error(violation);
}
