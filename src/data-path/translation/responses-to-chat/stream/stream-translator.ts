import { GatewayError } from "../../../../shared/contract/errors.ts";
import { isJsonObject, type JsonObject } from "../../../../shared/text/json-object.ts";
import { NO_TOKENS } from "../../../../shared/usage/token-usage.ts";
import type { GeneratedText } from "../../upstream/generated-text.ts";
import { hasEndUsage, requireEnd } from "../../upstream/end-reasons.ts";
import { findChoice, readFinishReason, readLogprobs } from "../../upstream/read-choice.ts";
import { type AnswerPiece, AnswerReader } from "../../upstream/answer-reader.ts";
import { CallReasoning } from "../../upstream/call-reasoning.ts";
import { requireChunk } from "../../upstream/require-chunk.ts";
import { ToolCallTable } from "../../upstream/tool-call-table.ts";
import type { SplitText } from "../../upstream/think-tags.ts";
import type { AnswerSettings } from "../answer-settings.ts";
import { createResponseError } from "../error-body.ts";
import type { IdKind } from "../ids.ts";
import { mapEnding } from "../response/map-ending.ts";
import type { ItemEvent, OutputItem, ResponseEventType, ResponseObject } from "../response.ts";
import { formatUsage, type ResponseUsage } from "../usage.ts";
import { CompactionWriter } from "./compaction-writer.ts";
import { ItemSequencer } from "./item-sequencer.ts";
import type { ItemsWriter } from "./items-writer.ts";
import { OutputWriter } from "./output-writer.ts";

/** Estimated bytes per token, if an upstream reports no usage. */
const BYTES_PER_TOKEN = 4;

/** Outputs of a translation. */
export interface TranslatorOutput {
  readonly onItem: (event: ItemEvent) => void;
  readonly onResponse: (type: ResponseEventType, response: ResponseObject) => void;
  /** Records all output of the upstream, shown or not. */
  readonly generated: GeneratedText;
}

/**
 * Translates one answer: chunks of a chat completion in, events of a response out, each in the call that brought its
 * chunk. A whole completion is read as a single chunk, so that both ways yield the same items. The end of the response
 * waits for the end of the upstream's stream, because the usage follows the finish reason.
 */
export class StreamTranslator {
  readonly #settings: AnswerSettings;
  readonly #output: TranslatorOutput;
  readonly #writer: ItemsWriter;
  readonly #sequencer: ItemSequencer;
  readonly #reader: AnswerReader;
  readonly #calls: ToolCallTable;
  readonly #callReasoning: CallReasoning;
  readonly #id: string;
  #isStarted = false;
  #hasChoice = false;
  #finishReason = "";
  /** The final usage has arrived, and no part of the answer after it. */
  #isCounted = false;

  constructor(settings: AnswerSettings, output: TranslatorOutput) {
    this.#settings = settings;
    this.#reader = new AnswerReader(settings.thinkTags);
    this.#output = output;
    this.#id = settings.createId("resp" satisfies IdKind);
    this.#writer =
      settings.compaction === null
        ? new OutputWriter(output.onItem, settings)
        : new CompactionWriter(output.onItem, settings.createId);
    this.#callReasoning = new CallReasoning(settings);
    this.#sequencer = new ItemSequencer(this.#writer, settings, this.#callReasoning);
    this.#calls = new ToolCallTable({
      createCallId: () => settings.createId("call"),
      toolNames: settings.toolNames,
      onUpdate: (updated) => this.#sequencer.updateCall(updated),
    });
  }

  /**
   * Translates one parsed chunk or a whole completion.
   * @param generated The chunk as the server wrote it.
   * @throws GatewayError The upstream's error, or `upstream_error` if it violates the protocol. Only `fail` may
   * follow.
   */
  readChunk(chunk: unknown, generated: unknown = chunk): void {
    const { model } = this.#settings;
    requireChunk(chunk, this.#output.generated, { protocol: "responses", model });
    this.#start();
    const choice = findChoice(chunk);
    if (!this.#isOver && isJsonObject(generated)) this.#output.generated.readChoices(generated["choices"]);
    if (choice !== null && !this.#isOver) this.#readChoice(choice);
    this.#isCounted = hasEndUsage(chunk, this.#isCounted);
  }

  /** Like `readChunk`, for a chunk that differs from an earlier one only in this text. */
  readText(text: string): void {
    if (this.#isOver) return;
    this.#isCounted = false;
    this.#output.generated.readText(text);
    this.#writeProse(this.#reader.readText(text));
  }

  /** The final usage came after a finish reason, so nothing that follows is part of the answer. */
  get #isOver(): boolean {
    return this.#isCounted && this.#finishReason !== "";
  }

  /**
   * Ends the answer after the upstream's.
   * @param isWhole The upstream marked the end, by `[DONE]` or by sending JSON.
   * @throws GatewayError if the answer is incomplete: it must never look complete.
   */
  end(isWhole: boolean): ResponseObject {
    const reason = requireEnd(this.#finishReason, isWhole || this.#isCounted);
    this.#output.generated.noteFinishReason(this.#finishReason);
    if (!this.#hasChoice) {
      throw new GatewayError("upstream_error", { cause: new Error("a response without a choice") });
    }
    const ending = mapEnding(reason);
    this.#writeProse(this.#reader.end());
    this.#sequencer.end();
    const output = this.#writer.end(ending.status === "incomplete");
    const response = {
      ...this.#createResponse(output),
      ...ending,
      completed_at: ending.status === "completed" ? this.#settings.now() : null,
      usage: this.#countUsage(),
    };
    this.#output.onResponse(`response.${ending.status}`, response);
    return response;
  }

  /** Starts the response if necessary: clients accept no other event as the first. */
  startFailure(): void {
    this.#start();
  }

  /** Writes the last event of a failed response, with the output so far. */
  fail(error: GatewayError): void {
    const { generated, onResponse } = this.#output;
    const hasUsage = generated.usage !== null || generated.generatedDeltas > 0;
    onResponse("response.failed", {
      ...this.#createResponse(this.#writer.abandon()),
      status: "failed",
      error: createResponseError(error),
      usage: hasUsage ? this.#countUsage() : null,
    });
  }

  #start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const response = this.#createResponse([]);
    this.#output.onResponse("response.created", response);
    this.#output.onResponse("response.in_progress", response);
  }

  #createResponse(output: readonly OutputItem[]): ResponseObject {
    return {
      id: this.#id,
      object: "response",
      created_at: this.#settings.createdAt,
      completed_at: null,
      status: "in_progress",
      error: null,
      incomplete_details: null,
      model: this.#settings.model,
      output,
      usage: null,
      service_tier: this.#output.generated.serviceTier ?? "default",
    };
  }

  /** Returns the upstream's usage or, without one, an estimate: clients compute their remaining context from it. */
  #countUsage(): ResponseUsage {
    const { usage, generatedBytes, generatedDeltas } = this.#output.generated;
    if (usage !== null) return this.#output.generated.withCost(formatUsage(usage));
    return formatUsage({
      ...NO_TOKENS,
      inputTokens: this.#settings.estimatedInputTokens,
      outputTokens: Math.max(generatedDeltas, Math.ceil(generatedBytes / BYTES_PER_TOKEN)),
    });
  }

  #readChoice(choice: JsonObject): void {
    this.#hasChoice = true;
    const piece = this.#reader.read(choice);
    if (piece !== null) this.#writePiece(piece, readLogprobs(choice));
    // Some servers send a finish reason with each piece; the last one counts.
    this.#finishReason = readFinishReason(choice) || this.#finishReason;
  }

  #writePiece({ reasoning, text, refusal, fields }: AnswerPiece, logprobs: readonly JsonObject[]): void {
    this.#writeProse({ reasoning: reasoning.text, text }, logprobs);
    if (refusal !== "") this.#sequencer.addProse("refusal", refusal);
    this.#callReasoning.readMessage(fields);
    this.#calls.read(fields);
  }

  #writeProse({ reasoning, text }: SplitText, logprobs: readonly JsonObject[] = []): void {
    const isShown = this.#settings.reasoning !== "hidden";
    if (reasoning !== "" && isShown) this.#sequencer.addProse("reasoning", reasoning);
    if (text !== "") this.#sequencer.addProse("text", text, logprobs);
  }
}
