import type { Answer, AnswerOutput, Observation } from "../client-protocol.ts";
import { isJsonObject, type JsonObject } from "../../json-object.ts";
import { AnswerStream } from "../openai/answer-stream.ts";
import { ChunkRewriter } from "../openai/chunk-rewriter.ts";
import type { UsageVisibility } from "../openai/stream-options.ts";
import { brokenAnswer, parseAnswer, replaceModel } from "../openai/whole-answer.ts";
import { isUpstreamError } from "../upstream/error-text.ts";
import { GeneratedText } from "../upstream/generated-text.ts";
import { mapErrorInAnswer } from "../upstream/map-error.ts";
import { playStream } from "./response/play-completion.ts";

export interface CompletionsAnswerOptions {
  /** What the client reads as `model`. */
  readonly model: string;
  /** Whether the client asked for a stream. */
  readonly stream: boolean;
  readonly usageVisibility: UsageVisibility;
  /** Characters of the prompt that stand before the text of a choice. */
  readonly echoCharacters: (choice: unknown) => number;
  readonly requestId: string;
}

/** The answer to one completion request, passed through. */
export class CompletionsAnswer implements Answer {
  readonly contentType: Answer["contentType"];
  readonly #options: CompletionsAnswerOptions;
  readonly #generated = new GeneratedText();
  readonly #stream: AnswerStream;
  /** Choices whose echo has passed. */
  readonly #echoed = new Set<unknown>();

  constructor(options: CompletionsAnswerOptions) {
    this.#options = options;
    this.contentType = options.stream ? "text/event-stream" : "application/json";
    const { model, usageVisibility, requestId } = options;
    const rewriter = new ChunkRewriter({
      model,
      usageVisibility,
      generated: this.#generated,
      readDelta: (choice) => this.#readText(choice),
      // What a choice adds depends on what came before it.
      textKey: null,
    });
    this.#stream = new AnswerStream(rewriter, requestId);
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
      throw mapErrorInAnswer(completion, { protocol: "completions", model });
    }
    // First of all: an answer that cannot be used costs what its usage says.
    this.#generated.readUsage(completion);
    const { choices } = completion;
    if (!Array.isArray(choices)) throw brokenAnswer("it has no `choices`");
    for (const choice of choices) {
      if (isJsonObject(choice)) this.#generated.readMessage(this.#readText(choice));
    }
    const output = stream
      ? playStream(completion, model, usageVisibility !== "none")
      : replaceModel(answer, model);
    return { bytes: Buffer.from(output, "utf8"), final: true, failed: null };
  }

  push(chunk: Uint8Array): AnswerOutput {
    return this.#stream.push(chunk);
  }

  end(): AnswerOutput {
    return this.#stream.end();
  }

  /** What was generated: not an echo of the prompt, with which servers begin the first piece of a choice. */
  #readText({ text, index }: JsonObject): JsonObject {
    const echoed = this.#options.echoCharacters(index);
    if (echoed === 0 || typeof text !== "string" || this.#echoed.has(index)) return { content: text };
    this.#echoed.add(index);
    return { content: text.slice(echoed) };
  }
}
