import { type JsonObject, isJsonObject } from "../../../shared/text/json-object.ts";
import type { Answer, AnswerOutput, DescribeCost, Observation } from "../client-protocol.ts";
import type { GatewayError } from "../../../shared/contract/errors.ts";
import { KEEP_ALIVE } from "../sse/encoder.ts";
import { requireEnd } from "../upstream/end-reasons.ts";
import { isErrorBody } from "../upstream/error-text.ts";
import { GeneratedText } from "../upstream/generated-text.ts";
import { mapErrorInAnswer } from "../upstream/map-error.ts";
import { readFinishReason, requireMessage } from "../upstream/read-choice.ts";
import { AnswerStream } from "./answer-stream.ts";
import { ChunkRewriter } from "./chunk-rewriter.ts";
import type { UsageVisibility } from "./stream-options.ts";
import { parseAnswer, replaceMembers } from "./whole-answer.ts";

export interface ChoicesAnswerOptions {
  /** Value of `model` for the client. */
  readonly model: string;
  /** Whether the client requested a stream. */
  readonly stream: boolean;
  readonly usageVisibility: UsageVisibility;
  readonly requestId: string;
  readonly describeCost: DescribeCost | null;
}

/** Differences between the protocols whose answers have `choices`. */
export interface ChoicesProtocol {
  readonly name: "chat" | "completions";
  /** Returns the generated content of a choice, in a chunk or in a whole answer. */
  readonly readChoice: (choice: JsonObject) => JsonObject;
  /** Whether a chunk's text alone decides what it adds to the answer. If false, every chunk is parsed. */
  readonly usesTemplates: boolean;
  /** Formats a whole answer as the stream that the client requested. */
  readonly play: (completion: JsonObject, model: string, isUsageWanted: boolean) => string;
}

/** Answer with `choices` that passes through. */
export class ChoicesAnswer implements Answer {
  readonly keepAlive = KEEP_ALIVE;
  readonly contentType: Answer["contentType"];
  readonly #options: ChoicesAnswerOptions;
  readonly #protocol: ChoicesProtocol;
  readonly #generated: GeneratedText;
  /** Created once the upstream streams. */
  #stream: AnswerStream | null = null;

  constructor(options: ChoicesAnswerOptions, protocol: ChoicesProtocol) {
    this.#options = options;
    this.#protocol = protocol;
    this.#generated = new GeneratedText(options.describeCost);
    this.contentType = options.stream ? "text/event-stream" : "application/json";
  }

  get observation(): Observation {
    return this.#generated;
  }

  translateBody(body: Uint8Array): AnswerOutput {
    const { model, stream, usageVisibility } = this.#options;
    const answer = parseAnswer(body);
    const completion = answer.value;
    if (isErrorBody(completion)) {
      this.#generated.readError(completion);
      throw mapErrorInAnswer(completion, { protocol: this.#protocol.name, model });
    }
    // Read first: an unusable answer costs what its usage reports.
    this.#generated.readUsage(completion);
    for (const [place, choice] of requireMessage(completion).entries()) {
      if (isJsonObject(choice)) this.#readChoice(choice, place);
    }
    const reported = this.#addCost(completion);
    const { usage } = reported;
    const output = stream
      ? this.#protocol.play(reported, model, usageVisibility !== "none")
      : replaceMembers(answer, reported === completion ? { model } : { model, usage });
    return { bytes: Buffer.from(output, "utf8"), final: true, failed: null };
  }

  /** @throws GatewayError if the upstream aborted the choice. */
  #readChoice(choice: JsonObject, place: number): void {
    this.#generated.readChoice(this.#protocol.readChoice(choice), place);
    const reason = readFinishReason(choice);
    requireEnd(reason, true);
    this.#generated.noteFinishReason(reason);
  }

  /** Adds the cost to the completion's usage, if the client requested it. */
  #addCost(completion: JsonObject): JsonObject {
    const { usage } = completion;
    if (!this.#generated.wantsCost || !isJsonObject(usage)) return completion;
    return { ...completion, usage: { ...usage, ...this.#generated.describeCost() } };
  }

  push(chunk: Uint8Array): AnswerOutput {
    this.#stream ??= this.#createStream();
    return this.#stream.push(chunk);
  }

  end(): AnswerOutput {
    this.#stream ??= this.#createStream();
    return this.#stream.end();
  }

  fail(error: GatewayError): AnswerOutput {
    this.#stream ??= this.#createStream();
    return this.#stream.fail(error);
  }

  #createStream(): AnswerStream {
    const { model, usageVisibility, requestId } = this.#options;
    const { readChoice, usesTemplates } = this.#protocol;
    const generated = this.#generated;
    const rewriter = new ChunkRewriter({ model, usageVisibility, generated, readChoice, usesTemplates });
    return new AnswerStream(rewriter, requestId);
  }
}
