import type { GatewayError } from "../../../shared/contract/errors.ts";
import { isJsonObject, type JsonObject } from "../../../shared/text/json-object.ts";
import type { Answer, AnswerOutput, DescribeCost, Observation, ProtocolName } from "../client-protocol.ts";
import { boundJsonText, isUnreadable } from "../json/parse-json-text.ts";
import { parseAnswer, replaceMembers } from "../openai/whole-answer.ts";
import { brokenAnswer } from "../upstream/broken-answer.ts";
import { EventSlicer } from "../sse/event-slicer.ts";
import { parseEvent } from "../sse/parse-event.ts";
import { isUpstreamError } from "../upstream/error-text.ts";
import { GeneratedText } from "../upstream/generated-text.ts";
import { mapErrorInAnswer } from "../upstream/map-error.ts";
import { redactAccount } from "../upstream/redact-account.ts";
import { createBrokenOff } from "../upstream/end-reasons.ts";
import { asGatewayError, isBlank, isDone, MAX_EVENT_BYTES } from "../upstream/read-stream.ts";
import { findMembers } from "../json/object-spans.ts";

export interface PassThroughAnswerOptions {
  readonly protocol: ProtocolName;
  /** Catalog id, the client's `model`. */
  readonly model: string;
  /** Whether the client requested a stream. */
  readonly stream: boolean;
  /** Included in errors inside a stream. */
  readonly requestId: string;
  /** Null if the client did not request the cost in the usage. */
  readonly describeCost: DescribeCost | null;
}

/** Meaning of an event for the gateway; the client gets it unchanged. */
export interface EventMeaning {
  /** New values for the client; null: none. */
  readonly replacement: Replacement | null;
  /** The event ends the answer. */
  readonly isLast: boolean;
  /** The answer has failed; no event follows. */
  readonly failed: GatewayError | null;
  /** Replaces the event by `failed` in the gateway's words. */
  readonly isHidden: boolean;
}

const ENCODER = new TextEncoder();

/** An event that is forwarded unchanged and is not the last. */
export const ORDINARY: EventMeaning = Object.freeze({
  replacement: null,
  isLast: false,
  failed: null,
  isHidden: false,
});

/**
 * Answer of an upstream that speaks the client's protocol: every byte is forwarded except the model's name. Holds the
 * parts that all protocols share; subclasses interpret the events.
 */
export abstract class PassThroughAnswer implements Answer {
  readonly contentType: Answer["contentType"];
  abstract readonly keepAlive: string;
  /** Prefix of the names of events with output. */
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
    const error = redactAccount(answer.value["error"]);
    const values = { model, error, ...(usage === null ? {} : { usage }) };
    const text = stream ? this.play({ ...answer.value, ...values }) : replaceMembers(answer, values);
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

  /** Returns whether a whole answer is an error instead. */
  protected abstract isError(answer: JsonObject): boolean;

  /** Reads the usage and output of a whole answer. */
  protected abstract readWhole(answer: JsonObject): void;

  /** Formats a whole answer as the stream that the client requested. */
  protected abstract play(answer: JsonObject): string;

  /** Reads one event. @param type The `type` of its data, otherwise its name. */
  protected abstract readEvent(type: string, event: JsonObject): EventMeaning;

  /**
   * Returns the missing end of a stream that the upstream closed without its last event; null if the stream is
   * incomplete.
   */
  protected abstract completeStream(): string | null;

  /** Maps an error in a form of the upstream's own. @param value Its data, parsed if it is JSON. */
  protected mapError(value: unknown): GatewayError {
    return mapErrorInAnswer(value, this.options);
  }

  /** Formats an error in mid-stream. */
  protected abstract formatFailure(error: GatewayError): string;

  /** Adds the cost to the usage; null if the client did not request it. */
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
        // An event that is too large may follow the end.
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
      // Some servers send this marker of another protocol instead of the last event or after it.
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
    // The bytes of the event are only valid during this call.
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

/** @throws GatewayError `upstream_error` if a member of a whole answer is not a list. */
export function requireList(answer: JsonObject, name: string): readonly unknown[] {
  const list = answer[name];
  if (!Array.isArray(list)) throw brokenAnswer(`\`${name}\` is not a list`);
  return list;
}

/**
 * Returns whether an error has another form than the protocol's, judged by the event's name or its data. The client,
 * which looks for the type `error`, would not see it.
 */
function isForeignError(type: string | null, name: string | null, event: JsonObject | null): boolean {
  if (type === "error" && event !== null && event["type"] === "error") return false;
  return name === "error" || (type === null && isUpstreamError(event));
}

/**
 * Returns null if the data is not a JSON object or exceeds the bounds. It is forwarded, and output in it counts by its
 * bytes.
 */
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

/** New values for one object in an event. */
interface Replacement {
  /** Member of the event that holds the object; null: the event itself. */
  readonly member: string | null;
  /** New values by key; missing keys are not added. */
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * Replaces values in an event; every other character stays.
 * @param text The event's lines.
 * @param data Its data as read by `parseEvent`, a JSON object.
 */
function replaceValues(text: string, data: string, replacement: Replacement): string {
  const edited = editData(data, replacement);
  const start = text.lastIndexOf(data);
  if (start !== -1) return text.slice(0, start) + edited + text.slice(start + data.length);
  // JSON in several data lines: format them again, after the other lines.
  const otherLines = text.split(/\r\n|\r|\n/).filter((line) => line !== "" && !line.startsWith("data:"));
  return `${[...otherLines, ...edited.split("\n").map((line) => `data: ${line}`)].join("\n")}\n\n`;
}

function editData(json: string, { member, values }: Replacement): string {
  const outer = findMembers(json) ?? [];
  const members =
    member === null
      ? outer
      : outer
          .filter(({ key }) => key === member)
          .flatMap(({ valueStart }) => findMembers(json, valueStart) ?? []);
  return replaceMembers({ text: json, members }, values);
}
