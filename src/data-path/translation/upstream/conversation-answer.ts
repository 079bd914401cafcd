import type { GatewayError } from "../../../shared/contract/errors.ts";
import { isJsonObject, type JsonObject } from "../../../shared/text/json-object.ts";
import type { Answer, AnswerOutput, DescribeCost, Observation, ProtocolName } from "../client-protocol.ts";
import type { ModelProfile } from "../../../shared/contract/model-profile.ts";
import type { ToolNames } from "../conversation/tool-names.ts";
import { parseJsonText, tryParseJsonText } from "../json/parse-json-text.ts";
import { SseDecoder, type SseEvent } from "../sse/decoder.ts";
import { decodeCharacters, type EventBlock } from "../sse/event-block.ts";
import { type EventReader, feedEvents } from "../sse/event-feed.ts";
import { isUpstreamError } from "./error-text.ts";
import { GeneratedText } from "./generated-text.ts";
import { mapErrorInAnswer } from "./map-error.ts";
import { findChoice, readFinishReason, readLogprobs, readMatchedStop } from "./read-choice.ts";
import { asGatewayError, isBlank, isDone, MAX_EVENT_BYTES, parseCompletion } from "./read-stream.ts";
import { MAX_TEMPLATES, TextTemplate } from "./text-template.ts";

/** What every answer's translation needs to know of the request. */
export interface ConversationSettings {
  /** Catalog id, what the client reads as `model`. */
  readonly model: string;
  /** Whether the client asked for a stream. */
  readonly stream: boolean;
  /** Upstream's names to the client's. */
  readonly toolNames: ToolNames;
  /** Where the upstream's content has reasoning. */
  readonly thinkTags: ModelProfile["thinkTags"];
  readonly estimatedInputTokens: number;
  /** Errors inside a stream name it. */
  readonly requestId: string;
  readonly describeCost: DescribeCost | null;
}

interface ConversationAnswerOptions extends Pick<ConversationSettings, "model" | "stream" | "describeCost"> {
  readonly protocol: ProtocolName;
}

/**
 * One answer of a chat completion upstream on its way to a client of a protocol that is translated. What is the same in
 * each of them is here: how the upstream's events are read, when the answer is over, what is held for the client.
 */
export abstract class ConversationAnswer implements Answer {
  readonly contentType: Answer["contentType"];
  abstract readonly keepAlive: string;
  protected readonly generated: GeneratedText;
  readonly #options: ConversationAnswerOptions;
  readonly #decoder = new SseDecoder({ maxEventBytes: MAX_EVENT_BYTES });
  readonly #reader: EventReader;
  /** The template of the last chunk that was parsed and had text alone. */
  #template: TextTemplate | null = null;
  #templatesLeft = MAX_TEMPLATES;
  #output = "";
  /** Something in it is more than a sign of life. */
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
    if (isUpstreamError(completion) || !isJsonObject(completion)) {
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

  /** The whole answer, as one body or, where the client asked for a stream, as that stream. */
  protected abstract writeCompletion(completion: JsonObject): void;

  /** What one chunk of the upstream's stream means to the client. */
  protected abstract writeChunk(chunk: unknown): void;

  /** The same of a chunk that adds this text, and differs from the one before in nothing else. */
  protected abstract writeText(text: string): void;

  /** What comes last; `isDone` where the upstream said that it is the end, and did not just close. */
  protected abstract writeEnd(isDone: boolean): void;

  /** What tells a client in mid-stream that the answer has failed. */
  protected abstract writeFailure(error: GatewayError): void;

  /** Text for the client; it goes out with the bytes that brought it. */
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
      knowsAlike: () => this.#template !== null && this.#decoder.isBetweenEvents,
      readAlike: (block) => this.#readAlike(block),
      read: (bytes) => {
        for (const event of this.#decoder.push(bytes)) this.#readEvent(event);
      },
    };
  }

  /** Chunks that differ from the last one that was learned in their text alone are not parsed. */
  #readAlike(block: EventBlock): void {
    const template = this.#template;
    if (template === null) return;
    this.generated.startChunk();
    for (let text = template.take(block); text !== null; text = template.take(block)) {
      this.writeText(text.unescaped ?? decodeCharacters(text.escaped));
    }
  }

  #readEvent({ event, data }: SseEvent): void {
    // After [DONE] nothing counts.
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
    if (this.#templatesLeft > 0) this.#learn(data, chunk);
  }

  /** An event of that name is an error whatever its data is. */
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
    this.#templatesLeft -= 1;
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
