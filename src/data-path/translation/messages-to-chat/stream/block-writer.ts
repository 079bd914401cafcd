import type { AnswerWriter } from "../../upstream/delta-sequencer.ts";
import type { BlockDelta, ContentBlock, StreamEvent } from "../message.ts";
import type { AnswerSettings } from "../answer-settings.ts";
import { ThinkingSignature } from "../response/thinking-signature.ts";

/** A refusal is text in a separate block. */
type BlockKind = "text" | "refusal" | "thinking" | "redacted_thinking" | "tool_use";

type BlockSettings = Pick<AnswerSettings, "thinking" | "carriesReasoning">;

/** More leading white space than this is written by the model, not left over from a template. */
const MAX_BUFFERED_CHARACTERS = 1_024;

/**
 * Writes content blocks one after the other: opens a block at its first delta, closes it when another kind follows.
 * Holds back leading white space of a text, and drops it if a tool call follows.
 */
export class BlockWriter implements AnswerWriter {
  readonly #emit: (event: StreamEvent) => void;
  readonly #settings: BlockSettings;
  #index = -1;
  #open: BlockKind | null = null;
  #signature: ThinkingSignature | null = null;
  #bufferedSpace = "";
  #hasToolUse = false;

  constructor(emit: (event: StreamEvent) => void, settings: BlockSettings) {
    this.#emit = emit;
    this.#settings = settings;
  }

  get hasToolUse(): boolean {
    return this.#hasToolUse;
  }

  writeThinking(thinking: string): void {
    const isOmitted = this.#settings.thinking === "omitted";
    if (this.#open !== "thinking") {
      this.#start("thinking", { type: "thinking", thinking: "", signature: "" });
      this.#signature = new ThinkingSignature({ carries: isOmitted && this.#settings.carriesReasoning });
    }
    this.#signature?.add(thinking);
    if (!isOmitted) this.#delta({ type: "thinking_delta", thinking });
  }

  /** Sets the upstream's signature of the open thinking block, written when the block closes. */
  setSignature(signature: string): void {
    this.#signature?.set(signature);
  }

  writeText(text: string): void {
    if (this.#open === "text") {
      this.#delta({ type: "text_delta", text });
      return;
    }
    this.#bufferedSpace += text;
    if (this.#bufferedSpace.length > MAX_BUFFERED_CHARACTERS || /\S/.test(text)) this.#releaseSpace();
  }

  writeRefusal(text: string): void {
    if (this.#open !== "refusal") {
      this.#releaseSpace();
      this.#start("refusal", { type: "text", text: "" });
    }
    this.#delta({ type: "text_delta", text });
  }

  writeCallCarrier(data: string): void {
    this.#bufferedSpace = "";
    this.#start("redacted_thinking", { type: "redacted_thinking", data });
  }

  startToolCall(id: string, name: string): void {
    this.#bufferedSpace = "";
    this.#hasToolUse = true;
    this.#start("tool_use", { type: "tool_use", id, name, input: {} });
  }

  /** Writes arguments of the last started tool call. */
  writeArguments(json: string): void {
    if (json !== "") this.#delta({ type: "input_json_delta", partial_json: json });
  }

  /** Closes the last block. */
  end(): void {
    if (!this.#hasToolUse) this.#releaseSpace();
    this.#close();
  }

  #releaseSpace(): void {
    if (this.#bufferedSpace === "") return;
    const text = this.#bufferedSpace;
    this.#bufferedSpace = "";
    this.#start("text", { type: "text", text: "" });
    this.#delta({ type: "text_delta", text });
  }

  #start(kind: BlockKind, block: ContentBlock): void {
    this.#close();
    this.#index += 1;
    this.#open = kind;
    this.#emit({ type: "content_block_start", index: this.#index, content_block: block });
  }

  #delta(delta: BlockDelta): void {
    this.#emit({ type: "content_block_delta", index: this.#index, delta });
  }

  #close(): void {
    if (this.#open === null) return;
    if (this.#signature !== null) {
      this.#delta({ type: "signature_delta", signature: this.#signature.end() });
      this.#signature = null;
    }
    this.#open = null;
    this.#emit({ type: "content_block_stop", index: this.#index });
  }
}
