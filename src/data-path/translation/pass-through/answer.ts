import type { GatewayError } from "../../../shared/contract/errors.ts";
import { isJsonObject, type JsonObject } from "../../../shared/text/json-object.ts";
import type { Answer, AnswerOutput, DescribeCost, Observation, ProtocolName } from "../client-protocol.ts";
import { boundJsonText, isUnreadable } from "../json/parse-json-text.ts";
import { parseAnswer, replaceModel } from "../openai/whole-answer.ts";
import { EventSlicer } from "../sse/event-slicer.ts";
import { parseEvent } from "../sse/parse-event.ts";
import { isUpstreamError } from "../upstream/error-text.ts";
import { GeneratedText } from "../upstream/generated-text.ts";
import { mapErrorInAnswer } from "../upstream/map-error.ts";
import { createBrokenOff } from "../upstream/end-reasons.ts";
import { asGatewayError, isBlank, isDone, MAX_EVENT_BYTES } from "../upstream/read-stream.ts";
import { type Replacement, replaceValues } from "./replace-values.ts";

export interface PassThroughAnswerOptions {
  readonly protocol: ProtocolName;
  /** Catalog id, what the client reads as `model`. */
  readonly model: string;
  /** Whether the client asked for a stream. */
  readonly stream: boolean;
  /** Errors inside a stream name it. */
  readonly requestId: string;
  /** The client has asked for the cost in the usage; null: it has not. */
  readonly describeCost: DescribeCost | null;
}

/** What an event means to the gateway; to the client it goes as it is. */
export interface EventMeaning {
  /** What the client reads in place of the upstream's; null: nothing. */
  readonly replacement: Replacement | null;
  /** The answer is over with it. */
  readonly isLast: boolean;
  /** The upstream says that the answer has failed: nothing follows this event. */
  readonly failed: GatewayError | null;
  /** It is not for the client, who is told `failed` in our own words. */
  readonly isHidden: boolean;
}

const ENCODER = new TextEncoder();

/** An event that goes on as it is, and is not the last. */
export const ORDINARY: EventMeaning = Object.freeze({
  replacement: null,
  isLast: false,
  failed: null,
  isHidden: false,
});

/**
 * One answer of an upstream that speaks the client's own protocol: every byte goes on as it is, but for the model's
 * name. What is the same for each protocol is here; the protocols say what an event means.
 */
export abstract class PassThroughAnswer implements Answer {
  readonly contentType: Answer["contentType"];
  abstract readonly keepAlive: string;
  /** How the names of events begin that have output in them. */
  protected abstract readonly outputEvents: string;
  protected readonly options: PassThroughAnswerOptions;
  protected readonly generated: GeneratedText;
  readonly #slicer: EventSlicer;
  #output: Uint8Array[] = [];
  #isFinal = false;
  #failed: GatewayError | null = null;

  constructor(options: PassThroughAnswerOptions) {
    this.options = options;
    this.generated = new GeneratedText(options.describeCost);
    this.contentType = options.stream ? "text/event-stream" : "application/json";
    this.#slicer = new EventSlicer({
      maxEventBytes: MAX_EVENT_BYTES,
      consume: (raw) => {
        if (!this.#isOver()) this.#pass(raw);
      },
    });
  }

  get observation(): Observation {
    return this.generated;
  }

  translateBody(body: Uint8Array): AnswerOutput {
    const answer = parseAnswer(body);
    if (this.isError(answer.value)) {
      this.generated.readError(answer.value);
      throw mapErrorInAnswer(answer.value, this.options);
    }
    this.readWhole(answer.value);
    const { model, stream } = this.options;
    const usage = this.describeUsage(answer.value["usage"]);
    const text = stream
      ? this.play({ ...answer.value, model, ...(usage === null ? {} : { usage }) })
      : replaceModel(answer, model, usage);
    return { bytes: Buffer.from(text, "utf8"), final: true, failed: null };
  }

  push(chunk: Uint8Array): AnswerOutput {
    return this.#advance(() => {
      this.#slicer.push(chunk);
    });
  }

  end(): AnswerOutput {
    return this.#advance(() => {
      this.#slicer.end();
      if (!this.#isOver()) this.#end();
    });
  }

  fail(error: GatewayError): AnswerOutput {
    return this.#advance(() => this.#fail(error));
  }

  /** Whether a whole answer is an error in the place of one. */
  protected abstract isError(answer: JsonObject): boolean;

  /** Reads what a whole answer came to. */
  protected abstract readWhole(answer: JsonObject): void;

  /** A whole answer as the stream that the client asked for. */
  protected abstract play(answer: JsonObject): string;

  /** Reads one event. @param type Its data's `type`, else its name. */
  protected abstract readEvent(type: string, event: JsonObject): EventMeaning;

  /** What completes a stream that its upstream closed without its last event; null: it is not complete. */
  protected abstract completeStream(): string | null;

  /** What an error means that the upstream tells in its own way. @param value Its data, parsed where it is JSON. */
  protected mapError(value: unknown): GatewayError {
    return mapErrorInAnswer(value, this.options);
  }

  /** What tells a client in mid-stream that the answer has failed. */
  protected abstract formatFailure(error: GatewayError): string;

  /** The usage with its cost, where the client has asked for it; else null. */
  protected describeUsage(usage: unknown): JsonObject | null {
    if (this.options.describeCost === null || !isJsonObject(usage)) return null;
    return { ...usage, ...this.generated.describeCost() };
  }

  #isOver(): boolean {
    return this.#isFinal || this.#failed !== null;
  }

  #advance(read: () => void): AnswerOutput {
    if (!this.#isOver()) {
      try {
        read();
      } catch (error) {
        // What is too long may have come after the end.
        if (!this.#isOver()) this.#fail(asGatewayError(error));
      }
    }
    const bytes = Buffer.concat(this.#output);
    this.#output = [];
    return { bytes, final: this.#isFinal, failed: this.#failed };
  }

  #pass(raw: Buffer): void {
    const text = raw.toString("utf8");
    const { name, data } = parseEvent(text);
    if (data === null) {
      this.#write(Buffer.from(raw));
    } else if (isDone(data)) {
      // A word of another protocol, which some servers write in place of the last event, or add behind it.
      this.#end();
    } else if (name === "error" || !isBlank(data)) {
      this.#passEvent(raw, { text, name, data });
    }
  }

  #passEvent(raw: Buffer, { text, name, data }: { text: string; name: string | null; data: string }): void {
    this.generated.startChunk();
    const event = parseObject(data);
    const type = typeof event?.["type"] === "string" ? event["type"] : name;
    if (isForeignError(type, name, event)) {
      this.generated.readError(event);
      this.#fail(this.mapError(event ?? data));
      return;
    }
    if (event === null) {
      if (name?.startsWith(this.outputEvents) ?? data.startsWith("{")) this.generated.readText(data);
      this.#write(Buffer.from(raw));
      return;
    }
    const meaning = this.readEvent(type ?? "", event);
    if (meaning.failed !== null && meaning.isHidden) {
      this.#fail(meaning.failed);
      return;
    }
    // The bytes of the event are valid during this call only.
    const { replacement } = meaning;
    if (replacement === null) this.#write(Buffer.from(raw));
    else this.#write(ENCODER.encode(replaceValues(text, data, replacement)));
    this.#isFinal = meaning.isLast && meaning.failed === null;
    this.#failed = meaning.failed;
  }

  #end(): void {
    const rest = this.completeStream();
    if (rest === null) {
      throw createBrokenOff();
    }
    this.#write(ENCODER.encode(rest));
    this.#isFinal = true;
  }

  #fail(error: GatewayError): void {
    this.#failed = error;
    this.#write(ENCODER.encode(this.formatFailure(error)));
  }

  #write(bytes: Uint8Array): void {
    this.#output.push(bytes);
  }
}

/**
 * An error that is not in the protocol's form, by the name of its event or by what its data has in it: the client, which
 * looks for the type `error`, would not see it.
 */
function isForeignError(type: string | null, name: string | null, event: JsonObject | null): boolean {
  if (type === "error" && event !== null && event["type"] === "error") return false;
  return name === "error" || (type === null && isUpstreamError(event));
}

/** Null for what is no JSON object, or too deep to read: it is passed on, and output in it counts by its bytes. */
function parseObject(data: string): JsonObject | null {
  try {
    boundJsonText(data);
    const value: unknown = JSON.parse(data);
    return isJsonObject(value) ? value : null;
  } catch (error) {
    if (isUnreadable(error)) return null;
    throw error;
  }
}
