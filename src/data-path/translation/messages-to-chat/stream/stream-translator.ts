import { GatewayError } from "../../../../shared/contract/errors.ts";
import type { StreamEvent } from "../message.ts";
import { convertUsage, createUsage, formatDeltaUsage, type MessageUsage } from "../usage.ts";
import type { JsonObject } from "../../../../shared/text/json-object.ts";
import type { GeneratedText } from "../../upstream/generated-text.ts";
import type { SplitText } from "../../upstream/think-tags.ts";
import type { AnswerSettings } from "../answer-settings.ts";
import { mapStopReason } from "../response/map-stop-reason.ts";
import { hasEndUsage, requireEnd } from "../../upstream/end-reasons.ts";
import { findChoice, readFinishReason, readMatchedStop } from "../../upstream/read-choice.ts";
import { type AnswerPiece, AnswerReader } from "../../upstream/answer-reader.ts";
import { findUsage } from "../../upstream/usage.ts";
import { BlockWriter } from "./block-writer.ts";
import type { CallReasoning } from "../../upstream/call-reasoning.ts";
import { createCallReasoning } from "../response/create-call-reasoning.ts";
import { DeltaSequencer } from "../../upstream/delta-sequencer.ts";
import { requireChunk } from "../../upstream/require-chunk.ts";
import { ToolCallTable } from "../../upstream/tool-call-table.ts";

/** Longest refusal repeated as the explanation in `stop_details`. */
const MAX_EXPLANATION_CHARACTERS = 16_384;

/** Chunks without visible output (hidden reasoning) before a `ping` shows the client that the stream is alive. */
const SILENT_CHUNKS_PER_PING = 32;

/** Outputs of a translation. */
export interface TranslatorOutput {
  readonly emit: (event: StreamEvent) => void;
  /** Records all output of the upstream, shown or not. */
  readonly generated: GeneratedText;
}

/**
 * Translates one streamed answer: chunks of a chat completion in, events of a message out, each in the call that
 * brought its chunk. `message_start` comes with the first chunk; the end of the message waits for the end of the
 * upstream's stream, because the usage follows the finish reason.
 */
export class StreamTranslator {
  readonly #settings: AnswerSettings;
  readonly #emit: (event: StreamEvent) => void;
  readonly #writer: BlockWriter;
  readonly #sequencer: DeltaSequencer;
  readonly #reader: AnswerReader;
  readonly #calls: ToolCallTable;
  readonly #callReasoning: CallReasoning;
  readonly #generated: GeneratedText;
  #startUsage: MessageUsage | null = null;
  #usage: MessageUsage | null = null;
  #hasChoice = false;
  #finishReason = "";
  /** The final usage has arrived, and no part of the answer after it. */
  #isCounted = false;
  #matchedStop: string | null = null;
  #refusal = "";
  #silentChunks = 0;

  constructor(settings: AnswerSettings, output: TranslatorOutput) {
    this.#settings = settings;
    this.#reader = new AnswerReader(settings.thinkTags);
    this.#generated = output.generated;
    this.#emit = (event) => {
      this.#silentChunks = 0;
      output.emit(event);
    };
    this.#writer = new BlockWriter(this.#emit, settings);
    const createCallId = (): string => settings.ids.toolUseId();
    this.#callReasoning = createCallReasoning(settings);
    const { toolNames } = settings;
    const sequencing = { toolNames, createCallId, callReasoning: this.#callReasoning };
    this.#sequencer = new DeltaSequencer(this.#writer, sequencing);
    this.#calls = new ToolCallTable({
      createCallId,
      toolNames: settings.toolNames,
      onUpdate: (updated) => this.#sequencer.updateCall(updated),
    });
  }

  /** The final usage came after a finish reason, so nothing that follows is part of the answer. */
  get #isOver(): boolean {
    return this.#isCounted && this.#finishReason !== "";
  }

  /** Whether `message_start` was sent. */
  get hasStarted(): boolean {
    return this.#startUsage !== null;
  }

  /**
   * Translates one parsed chunk.
   * @throws GatewayError The upstream's error, or `upstream_error` if it violates the protocol. No call may follow.
   */
  readChunk(chunk: unknown): void {
    requireChunk(chunk, this.#generated, { protocol: "messages", model: this.#settings.model });
    this.#usage = convertUsage(findUsage(chunk)) ?? this.#usage;
    if (this.#startUsage === null) this.#start();
    const choice = findChoice(chunk);
    if (!this.#isOver) this.#generated.readChoices(chunk["choices"]);
    if (choice !== null && !this.#isOver) this.#readChoice(choice);
    this.#isCounted = hasEndUsage(chunk, this.#isCounted);
    this.#pingAfterSilence();
  }

  /** Like `readChunk`, for a chunk that differs from an earlier one only in this text. */
  readText(text: string): void {
    if (!this.#isOver) {
      this.#isCounted = false;
      this.#generated.readText(text);
      this.#writeProse(this.#reader.readText(text));
    }
    this.#pingAfterSilence();
  }

  /**
   * Ends the answer after the upstream's stream.
   * @param isDone The stream ended with `[DONE]`.
   * @throws GatewayError if the answer is incomplete: it must never look complete.
   */
  end(isDone: boolean): void {
    const reason = requireEnd(this.#finishReason, isDone || this.#isCounted);
    this.#generated.noteFinishReason(this.#finishReason);
    if (!this.#hasChoice || this.#startUsage === null) {
      throw new GatewayError("upstream_error", { cause: new Error("a stream without a choice") });
    }
    this.#writeProse(this.#reader.end());
    this.#sequencer.end();
    const ending = {
      reason,
      matchedStop: this.#matchedStop,
      hasToolUse: this.#writer.hasToolUse,
      refusal: this.#refusal,
    };
    const { stop_reason, stop_sequence, stop_details } = mapStopReason(ending, this.#settings.stopSequences);
    this.#emit({
      type: "message_delta",
      delta: { stop_reason, stop_sequence, stop_details, container: null },
      usage: this.#generated.withCost(formatDeltaUsage(this.#usage ?? this.#startUsage)),
    });
    this.#emit({ type: "message_stop" });
  }

  #start(): void {
    const { ids, model, estimatedInputTokens } = this.#settings;
    this.#startUsage = this.#usage ?? createUsage(estimatedInputTokens);
    this.#emit({
      type: "message_start",
      message: {
        id: ids.messageId(),
        type: "message",
        role: "assistant",
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        stop_details: null,
        container: null,
        diagnostics: null,
        usage: this.#startUsage,
      },
    });
  }

  #readChoice(choice: JsonObject): void {
    this.#hasChoice = true;
    this.#matchedStop = readMatchedStop(choice) ?? this.#matchedStop;
    const piece = this.#reader.read(choice);
    if (piece !== null) this.#writePiece(piece);
    // Some servers send a finish reason with each piece; the last one counts.
    this.#finishReason = readFinishReason(choice) || this.#finishReason;
  }

  #writePiece({ reasoning, text, refusal, fields }: AnswerPiece): void {
    this.#writeProse({ reasoning: reasoning.text, text: "" });
    if (this.#settings.thinking !== "hidden" && reasoning.signature !== null) {
      this.#sequencer.addProse("signature", reasoning.signature);
    }
    this.#writeProse({ reasoning: "", text });
    if (refusal !== "") this.#addRefusal(refusal);
    this.#callReasoning.readMessage(fields);
    this.#calls.read(fields);
  }

  #writeProse({ reasoning, text }: SplitText): void {
    const isShown = this.#settings.thinking !== "hidden";
    if (reasoning !== "" && isShown) this.#sequencer.addProse("thinking", reasoning);
    if (text !== "") this.#sequencer.addProse("text", text);
  }

  #addRefusal(refusal: string): void {
    this.#refusal = (this.#refusal + refusal).slice(0, MAX_EXPLANATION_CHARACTERS);
    this.#sequencer.addProse("refusal", refusal);
  }

  #pingAfterSilence(): void {
    this.#silentChunks += 1;
    if (this.#silentChunks > SILENT_CHUNKS_PER_PING) this.#emit({ type: "ping" });
  }
}
