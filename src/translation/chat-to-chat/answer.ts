import type { Answer, AnswerOutput, DescribeCost, ModelTarget, Observation } from "../client-protocol.ts";
import { isJsonObject, type JsonObject } from "../../json-object.ts";
import { mapErrorInAnswer } from "../upstream/map-error.ts";
import { AnswerStream } from "../openai/answer-stream.ts";
import { ChunkRewriter } from "../openai/chunk-rewriter.ts";
import { GeneratedText } from "../upstream/generated-text.ts";
import { playStream } from "./response/play-completion.ts";
import type { UsageVisibility } from "../openai/stream-options.ts";
import { brokenAnswer, parseAnswer, replaceModel } from "../openai/whole-answer.ts";
import { isUpstreamError } from "../upstream/error-text.ts";

export interface ChatAnswerOptions {
  readonly model: ModelTarget;
  /** Whether the client asked for a stream. */
  readonly stream: boolean;
  readonly usageVisibility: UsageVisibility;
  readonly requestId: string;
  readonly describeCost: DescribeCost | null;
}

/** The answer to one chat completion request, passed through. */
export class ChatAnswer implements Answer {
  readonly contentType: Answer["contentType"];
  readonly #options: ChatAnswerOptions;
  readonly #generated: GeneratedText;
  readonly #stream: AnswerStream;

  constructor(options: ChatAnswerOptions) {
    this.#options = options;
    this.#generated = new GeneratedText(options.describeCost);
    this.contentType = options.stream ? "text/event-stream" : "application/json";
    this.#stream = new AnswerStream(
      new ChunkRewriter({
        model: options.model.id,
        usageVisibility: options.usageVisibility,
        generated: this.#generated,
        readDelta: (choice) => choice["delta"],
        textKey: "content",
      }),
      options.requestId,
    );
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
      throw mapErrorInAnswer(completion, { protocol: "chat", model: model.id });
    }
    const { choices } = completion;
    // First of all: an answer that cannot be used costs what its usage says.
    this.#generated.readUsage(completion);
    if (!Array.isArray(choices)) throw brokenAnswer("it has no `choices`");
    for (const choice of choices) {
      if (isJsonObject(choice)) this.#generated.readMessage(choice["message"]);
    }
    const told = this.#tellCost(completion);
    const output = stream
      ? playStream(told, model.id, usageVisibility !== "none")
      : replaceModel(answer, model.id, told === completion ? null : told["usage"]);
    return { bytes: Buffer.from(output, "utf8"), final: true, failed: null };
  }

  /** The completion with its cost among its usage, where the client has asked for it. */
  #tellCost(completion: JsonObject): JsonObject {
    const { usage } = completion;
    if (!this.#generated.wantsCost || !isJsonObject(usage)) return completion;
    return { ...completion, usage: { ...usage, ...this.#generated.describeCost() } };
  }

  push(chunk: Uint8Array): AnswerOutput {
    return this.#stream.push(chunk);
  }

  end(): AnswerOutput {
    return this.#stream.end();
  }
}
