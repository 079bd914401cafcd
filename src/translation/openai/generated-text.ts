import type { Observation, TokenUsage } from "../exchange.ts";
import { isJsonObject } from "../json/parse-body.ts";
import { parseUsage } from "./usage.ts";

/** As much text as a tokenizer is given when an upstream reports no usage. */
const MAX_TEXT_BYTES = 1_048_576;
const FIRST_TEXT_BYTES = 1024;

/**
 * Collects what an upstream generated, for the estimate that is charged when it reports no usage. A live view: the
 * fields go on changing with the answer.
 */
export class GeneratedText implements Observation {
  usage: TokenUsage | null = null;
  generatedBytes = 0;
  generatedDeltas = 0;
  /** One buffer: a string that grows by deltas takes many times the memory of its text. */
  #text: Buffer = Buffer.alloc(0);
  #textBytes = 0;
  #isTextFull = false;

  get generatedText(): string {
    return this.#text.toString("utf8", 0, this.#textBytes);
  }

  /** The `usage` of a chunk or an answer; the last one that is not null counts. */
  readUsage(value: unknown): void {
    this.usage = parseUsage(value) ?? this.usage;
  }

  /** The text of a choice's `message` or `delta`. */
  readMessage(message: unknown): void {
    if (!isJsonObject(message)) return;
    const before = this.generatedBytes;
    const { content, reasoning_content, reasoning, refusal, tool_calls, function_call } = message;
    // Servers that send both send the same text twice.
    this.#add(typeof reasoning_content === "string" ? reasoning_content : reasoning);
    this.#add(content);
    this.#add(refusal);
    if (Array.isArray(tool_calls)) {
      for (const call of tool_calls) if (isJsonObject(call)) this.#addCall(call["function"]);
    }
    this.#addCall(function_call);
    if (this.generatedBytes > before) this.generatedDeltas += 1;
  }

  #addCall(call: unknown): void {
    if (!isJsonObject(call)) return;
    this.#add(call["name"]);
    this.#add(call["arguments"]);
  }

  /** Text, or parts that hold text (Mistral: `{type: "thinking", thinking: [{type: "text", text}]}`). */
  #add(value: unknown): void {
    if (typeof value === "string") {
      if (value !== "") this.#append(value);
    } else if (Array.isArray(value)) {
      for (const part of value) {
        if (isJsonObject(part)) this.#add(part["text"] ?? part["thinking"]);
      }
    }
  }

  #append(text: string): void {
    const bytes = Buffer.byteLength(text);
    this.generatedBytes += bytes;
    if (this.#isTextFull) return;
    const needed = this.#textBytes + bytes;
    if (needed > MAX_TEXT_BYTES) {
      this.#isTextFull = true;
      return;
    }
    if (needed > this.#text.length) {
      const grown = Buffer.allocUnsafe(Math.max(FIRST_TEXT_BYTES, needed, 2 * this.#text.length));
      this.#text.copy(grown, 0, 0, this.#textBytes);
      this.#text = grown;
    }
    this.#textBytes += this.#text.write(text, this.#textBytes, "utf8");
  }
}
