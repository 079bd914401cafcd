import type { GatewayError } from "../../../shared/contract/errors.ts";
import { isJsonObject, type JsonObject } from "../../../shared/text/json-object.ts";
import type { Answer, AnswerOutput, DescribeCost, Observation, ProtocolName } from "../client-protocol.ts";
import type { ModelProfile } from "../../../shared/contract/model-profile.ts";
import type { ToolNames } from "../conversation/tool-names.ts";
import { parseJsonText, tryParseJsonText } from "../json/parse-json-text.ts";
import { SseDecoder, type SseEvent } from "../sse/decoder.ts";
import { decodeCharacters, type EventBlock } from "../sse/event-block.ts";
import { type EventReader, feedEvents } from "../sse/event-feed.ts";
import { isErrorBody } from "./error-text.ts";
import { GeneratedText } from "./generated-text.ts";
import { mapErrorInAnswer } from "./map-error.ts";
import { findChoice, readFinishReason, readLogprobs, readMatchedStop } from "./read-choice.ts";
import { asGatewayError, isBlank, isDone, MAX_EVENT_BYTES, parseCompletion } from "./read-stream.ts";
import { MAX_TEMPLATES, TextTemplate } from "./text-template.ts";

/** Facts about the request that the translation of every answer needs. */
export interface ConversationSettings {
  /** Catalog id, the client's `model`. */
  readonly model: string;
  /** Whether the client requested a stream. */
  readonly stream: boolean;
  /** Maps the upstream's tool names to the client's. */
  readonly toolNames: ToolNames;
  /** Tags that mark reasoning in the upstream's content. */
  readonly thinkTags: ModelProfile["thinkTags"];
  readonly estimatedInputTokens: number;
  /** Included in errors inside a stream. */
  readonly requestId: string;
  readonly describeCost: DescribeCost | null;
}

interface ConversationAnswerOptions extends Pick<ConversationSettings, "model" | "stream" | "describeCost"> {
  readonly protocol: ProtocolName;
}

/**
 * Translation of an answer from an upstream that speaks chat completions. Holds the parts that all client protocols
 * share: reading the upstream's events, detecting the end of the answer, and buffering output.
 */
export abstract class ConversationAnswer implements Answer {
  readonly contentType: Answer["contentType"];
  abstract readonly keepAlive: string;
  protected readonly generated: GeneratedText;
  readonly #options: ConversationAnswerOptions;
  readonly #decoder = new SseDecoder({ maxEventBytes: MAX_EVENT_BYTES });
  readonly #reader: EventReader;
  /** Template of the last parsed chunk that contained only text. */
  #template: TextTemplate | null = null;
  #remainingTemplates = MAX_TEMPLATES;
  #output = "";
  /** `#output` contains more than keep-alives. */
  #hasAnswer = false;
  #isFinal = false;
  #failed: GatewayError | null = null;

  constructor(options: ConversationAnswerOptions) {
    this.#options = options;
    this.generated = new GeneratedText(options.describeCost);
    this.contentType = options.stream ? "text/event-stream" : "application/json";
    this.#reader = this.#createReader();
  }

  get observation(): Observation {
    return this.generated;
  }

  translateBody(body: Uint8Array): AnswerOutput {
    const completion = parseCompletion(body);
    if (isErrorBody(completion) || !isJsonObject(completion)) {
      this.generated.readError(completion);
      throw mapErrorInAnswer(completion, this.#options);
    }
    this.writeCompletion(completion);
    this.#isFinal = true;
    return this.#takeOutput();
  }

  push(chunk: Uint8Array): AnswerOutput {
    return this.#advance(() => {
      feedEvents(chunk, this.#reader);
    });
  }

  end(): AnswerOutput {
    return this.#advance(() => {
      for (const event of this.#decoder.end()) this.#readEvent(event);
      if (!this.#isFinal) this.#end(false);
    });
  }

  fail(error: GatewayError): AnswerOutput {
    return this.#advance(() => {
      throw error;
    });
  }

  /** Writes a whole answer, as one body or as the stream that the client requested. */
  protected abstract writeCompletion(completion: JsonObject): void;

  /** Converts one chunk of the upstream's stream. */
  protected abstract writeChunk(chunk: unknown): void;

  /** Converts a chunk that differs from the previous one only in this text. */
  protected abstract writeText(text: string): void;

  /** Writes the end; `isDone` if the upstream marked it and did not just close. */
  protected abstract writeEnd(isDone: boolean): void;

  /** Writes an error in mid-stream. */
  protected abstract writeFailure(error: GatewayError): void;

  /** Writes text for the client, sent together with the upstream bytes that caused it. */
  protected write(text: string): void {
    this.#hasAnswer = true;
    this.#output += text;
  }

  #advance(read: () => void): AnswerOutput {
    if (!this.#isFinal && this.#failed === null) {
      try {
        read();
      } catch (error) {
        this.#failed = asGatewayError(error);
        this.writeFailure(this.#failed);
      }
    }
    return this.#takeOutput();
  }

  #createReader(): EventReader {
    return {
      isOver: () => this.#isFinal,
      mayBeSimilar: () => this.#template !== null && this.#decoder.isBetweenEvents,
      readSimilar: (block) => this.#readSimilar(block),
      read: (bytes) => {
        for (const event of this.#decoder.push(bytes)) this.#readEvent(event);
      },
    };
  }

  /** Reads chunks that differ from the template only in their text, without parsing them. */
  #readSimilar(block: EventBlock): void {
    const template = this.#template;
    if (template === null) return;
    this.generated.startChunk();
    for (let text = template.take(block); text !== null; text = template.take(block)) {
      this.writeText(text.unescaped ?? decodeCharacters(text.escaped));
    }
  }

  #readEvent({ event, data }: SseEvent): void {
    // Ignore everything after [DONE].
    if (this.#isFinal) return;
    if (event === "error") throw this.#readError(data);
    if (isBlank(data)) {
      this.#output += this.keepAlive;
      return;
    }
    if (isDone(data)) {
      this.#end(true);
      return;
    }
    const chunk = parseJsonText(data);
    this.generated.startChunk();
    this.writeChunk(chunk);
    if (this.#remainingTemplates > 0) this.#learn(data, chunk);
  }

  /** An event of that name is an error, whatever its data. */
  #readError(data: string): GatewayError {
    const error = tryParseJsonText(data) ?? data;
    this.generated.readError(error);
    return mapErrorInAnswer(error, this.#options);
  }

  #learn(text: string, chunk: unknown): void {
    const choice = isJsonObject(chunk) && !isJsonObject(chunk["usage"]) ? findChoice(chunk) : null;
    if (choice === null || readFinishReason(choice) !== "" || readMatchedStop(choice) !== null) return;
    if (readLogprobs(choice).length > 0) return;
    const template = TextTemplate.create(text);
    if (template === null) return;
    this.#template = template;
    this.#remainingTemplates -= 1;
  }

  #end(isDone: boolean): void {
    this.writeEnd(isDone);
    this.#isFinal = true;
  }

  #takeOutput(): AnswerOutput {
    const bytes = Buffer.from(this.#output, "utf8");
    this.#output = "";
    const isKeepAlive = !this.#hasAnswer;
    this.#hasAnswer = false;
    return { bytes, final: this.#isFinal, failed: this.#failed, isKeepAlive };
  }
}
