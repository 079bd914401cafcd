import type { GatewayError } from "../../../shared/contract/errors.ts";
import { isJsonObject, toArray, type JsonObject } from "../../../shared/text/json-object.ts";
import { formatJson } from "../json/exact-json.ts";
import {
  type EventMeaning,
  ORDINARY,
  PassThroughAnswer,
  type PassThroughAnswerOptions,
  requireList,
} from "../pass-through/answer.ts";
import { createErrorFields, createResponseError } from "../responses-to-chat/error-body.ts";
import { formatEvent, KEEP_ALIVE } from "../sse/encoder.ts";
import type { FieldName } from "../upstream/counted-output.ts";
import { isErrorBody } from "../upstream/error-text.ts";
import { isAboutAccount, isOverflow, mapErrorInAnswer } from "../upstream/map-error.ts";
import { redactAccount } from "../upstream/redact-account.ts";
import { readResponseUsage } from "../upstream/usage.ts";
import { playResponse } from "./response/play-response.ts";

/** Events that end a response. */
const LAST: ReadonlySet<string> = new Set(["response.completed", "response.incomplete", "response.failed"]);
/** All events that contain the whole response. */
const WITH_RESPONSE: ReadonlySet<string> = new Set([
  "response.created",
  "response.queued",
  "response.in_progress",
  ...LAST,
]);

/** Characters of finished items that are kept for the last event of an aborted stream; further items are dropped. */
const MAX_ITEM_CHARACTERS = 4 * 1_048_576;

/** Answer of an upstream that speaks Responses. */
export class ResponsesAnswer extends PassThroughAnswer {
  readonly keepAlive = KEEP_ALIVE;
  protected override readonly outputEvents = "response.";
  readonly #nowMs: () => number;
  /** The response in the last event that contained one. */
  #response: JsonObject | null = null;
  readonly #items: unknown[] = [];
  #itemCharacters = 0;
  #sequenceNumber = -1;
  #hasError = false;

  constructor(options: PassThroughAnswerOptions, nowMs: () => number) {
    super(options);
    this.#nowMs = nowMs;
  }

  /** A failed response is forwarded with its error, unless the client must see another error. */
  protected override isError(answer: JsonObject): boolean {
    if (!isErrorBody(answer)) return false;
    return answer["object"] !== "response" || isHiddenFailure(mapErrorInAnswer(answer, this.options), answer);
  }

  protected override readWhole(response: JsonObject): void {
    this.#readUsage(response);
    const items = isErrorBody(response) ? toArray(response["output"]) : requireList(response, "output");
    for (const [place, item] of items.entries()) this.generated.readItem(place, item);
  }

  protected override play(response: JsonObject): string {
    return playResponse(response);
  }

  protected override readEvent(type: string, event: JsonObject): EventMeaning {
    const { sequence_number: sequenceNumber, item, response } = event;
    if (typeof sequenceNumber === "number") this.#sequenceNumber = sequenceNumber;
    if (type.startsWith(this.outputEvents)) this.#readOutput(type, event);
    else this.generated.readOutside(event);
    if (type === "response.output_item.done") {
      this.#collectItem(item);
      this.generated.tools.readItem(item);
    }
    if (type === "error") return this.#readError(event);
    return WITH_RESPONSE.has(type) && isJsonObject(response) ? this.#readResponse(type, response) : ORDINARY;
  }

  protected override completeStream(): null {
    return null;
  }

  /** SDKs raise at `error`; Codex only reads `response.failed`. */
  protected override formatFailure(error: GatewayError): string {
    const fields = createErrorFields(error, this.options.requestId);
    const errorEvent = this.#hasError
      ? ""
      : formatEvent("error", { type: "error", sequence_number: this.#next(), ...fields });
    if (this.#response === null) return errorEvent;
    const response = {
      ...this.#response,
      model: this.options.model,
      status: "failed",
      completed_at: null,
      failed_at: Math.floor(this.#nowMs() / 1000),
      error: createResponseError(error),
      output: this.#items,
    };
    const failed = { type: "response.failed", sequence_number: this.#next(), response };
    return errorEvent + formatEvent("response.failed", failed);
  }

  /** A delta extends a part of an item; other events contain a part, an item or the whole response. */
  #readOutput(type: string, event: JsonObject): void {
    const { output_index: index, delta, item, response } = event;
    const place = typeof index === "number" ? index : null;
    if (isJsonObject(response)) {
      this.generated.readAnswer(response["output"]);
    } else if (item !== undefined) {
      this.generated.readItem(place, item);
    } else if (type.endsWith(".delta")) {
      const piece = type.endsWith("audio.delta")
        ? { data: delta }
        : typeof delta === "string"
          ? delta
          : event;
      this.generated.readFieldPiece(place, namePart(type, event), piece);
    } else {
      // The name of a call comes with its item.
      this.generated.readField(place, namePart(type, event), { ...event, name: null });
    }
  }

  /** An error ends the answer, but clients act on `response.failed`, which may follow. */
  #readError(event: JsonObject): EventMeaning {
    const failed = mapErrorInAnswer(event, this.options);
    if (isHiddenFailure(failed, event)) return { ...ORDINARY, failed, isHidden: true };
    this.#hasError = true;
    return { ...ORDINARY, replacement: { member: null, values: redactAccount(event) } };
  }

  #readResponse(type: string, response: JsonObject): EventMeaning {
    this.#response = response;
    const isLast = LAST.has(type);
    if (isLast) this.#readUsage(response);
    const usage = isLast ? this.describeUsage(response["usage"]) : null;
    const error = redactAccount(response["error"]);
    const values = { model: this.options.model, error, ...(usage === null ? {} : { usage }) };
    const failed = type === "response.failed" ? this.#readFailure(response) : null;
    const replacement = { member: "response", values };
    return { replacement, isLast, failed, isHidden: failed !== null && isHiddenFailure(failed, response) };
  }

  #readFailure(response: JsonObject): GatewayError {
    this.generated.noteRefusal();
    return mapErrorInAnswer({ error: response["error"] ?? {} }, this.options);
  }

  #readUsage(response: JsonObject): void {
    const { usage, output } = response;
    this.generated.tools.readItems(output);
    this.generated.noteUsage(usage);
    this.generated.report(readResponseUsage(usage), response);
  }

  #collectItem(item: unknown): void {
    this.#itemCharacters += formatJson(item ?? null).length;
    if (this.#itemCharacters <= MAX_ITEM_CHARACTERS) this.#items.push(item);
  }

  #next(): number {
    this.#sequenceNumber += 1;
    return this.#sequenceNumber;
  }
}

/** Returns the part of an item that an event is about. */
function namePart(type: string, { content_index: content, summary_index: summary }: JsonObject): FieldName {
  if (typeof content === "number") return content;
  return typeof summary === "number" ? -1 - summary : type.slice(0, type.lastIndexOf("."));
}

/**
 * Returns whether the gateway rewrites the failure: it is about the gateway's account, or an overflow without the code
 * by which agents recognize one, without which they repeat the same request forever. @param source Value with the
 * upstream's error.
 */
function isHiddenFailure(failed: GatewayError, source: JsonObject): boolean {
  const { code, error } = source;
  const upstreamCode = isJsonObject(error) ? error["code"] : code;
  return isAboutAccount(failed) || (isOverflow(failed) && upstreamCode !== failed.publicCode);
}
