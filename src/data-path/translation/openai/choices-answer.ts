import { type JsonObject, isJsonObject } from "../../../shared/text/json-object.ts";
import type { Answer, AnswerOutput, DescribeCost, Observation } from "../client-protocol.ts";
import type { GatewayError } from "../../../shared/contract/errors.ts";
import { KEEP_ALIVE } from "../sse/encoder.ts";
import { requireEnd } from "../upstream/end-reasons.ts";
import { isUpstreamError } from "../upstream/error-text.ts";
import { GeneratedText } from "../upstream/generated-text.ts";
import { mapErrorInAnswer } from "../upstream/map-error.ts";
import { readFinishReason } from "../upstream/read-choice.ts";
import { AnswerStream } from "./answer-stream.ts";
import { ChunkRewriter } from "./chunk-rewriter.ts";
import type { UsageVisibility } from "./stream-options.ts";
import { brokenAnswer, parseAnswer, replaceModel } from "./whole-answer.ts";

export interface ChoicesAnswerOptions {
  /** What the client reads as `model`. */
  readonly model: string;
  /** Whether the client asked for a stream. */
  readonly stream: boolean;
  readonly usageVisibility: UsageVisibility;
  readonly requestId: string;
  readonly describeCost: DescribeCost | null;
}

/** What differs between the protocols that answer in choices. */
export interface ChoicesProtocol {
  readonly name: "chat" | "completions";
  /** What was generated of a choice, of a chunk or of a whole answer. */
  readonly readChoice: (choice: JsonObject) => JsonObject;
  /** The text of a chunk decides what it adds to its answer; false: every chunk is parsed. */
  readonly learns: boolean;
  /** A whole answer as the stream that the client asked for. */
  readonly play: (completion: JsonObject, model: string, isUsageWanted: boolean) => string;
}

/** The answer to one request for choices, passed through. */
export class ChoicesAnswer implements Answer {
  readonly keepAlive = KEEP_ALIVE;
  readonly contentType: Answer["contentType"];
  readonly #options: ChoicesAnswerOptions;
  readonly #protocol: ChoicesProtocol;
  readonly #generated: GeneratedText;
  /** Made when the upstream streams. */
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
    if (isUpstreamError(completion)) {
      this.#generated.readError(completion);
      throw mapErrorInAnswer(completion, { protocol: this.#protocol.name, model });
    }
    // First of all: an answer that cannot be used costs what its usage says.
    this.#generated.readUsage(completion);
    const { choices } = completion;
    if (!Array.isArray(choices)) throw brokenAnswer("it has no `choices`");
    for (const [place, choice] of choices.entries()) {
      if (isJsonObject(choice)) this.#readChoice(choice, place);
    }
    const told = this.#tellCost(completion);
    const output = stream
      ? this.#protocol.play(told, model, usageVisibility !== "none")
      : replaceModel(answer, model, told === completion ? null : told["usage"]);
    return { bytes: Buffer.from(output, "utf8"), final: true, failed: null };
  }

  /** @throws GatewayError when the upstream broke it off. */
  #readChoice(choice: JsonObject, place: number): void {
    this.#generated.readChoice(this.#protocol.readChoice(choice), place);
    const reason = readFinishReason(choice);
    requireEnd(reason, true);
    this.#generated.noteFinishReason(reason);
  }

  /** The completion with its cost among its usage, where the client has asked for it. */
  #tellCost(completion: JsonObject): JsonObject {
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
    const { readChoice, learns } = this.#protocol;
    const generated = this.#generated;
    const rewriter = new ChunkRewriter({ model, usageVisibility, generated, readChoice, learns });
    return new AnswerStream(rewriter, requestId);
  }
}
