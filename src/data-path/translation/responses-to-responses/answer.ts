import type { GatewayError } from "../../../shared/contract/errors.ts";
import { isJsonObject, toArray, type JsonObject } from "../../../shared/text/json-object.ts";
import { BoundedItems } from "./stream/bounded-items.ts";
import {
  type EventMeaning,
  ORDINARY,
  PassThroughAnswer,
  type PassThroughAnswerOptions,
} from "../pass-through/answer.ts";
import { createErrorFields, createResponseError } from "../responses-to-chat/error-body.ts";
import { formatEvent, KEEP_ALIVE } from "../sse/encoder.ts";
import type { FieldName } from "../upstream/counted-output.ts";
import { isUpstreamError } from "../upstream/error-text.ts";
import { isAboutAccount, isOverflow, mapErrorInAnswer } from "../upstream/map-error.ts";
import { readResponseUsage } from "../upstream/usage.ts";
import { playResponse } from "./response/play-response.ts";

/** Events that end a response. */
const LAST: ReadonlySet<string> = new Set(["response.completed", "response.incomplete", "response.failed"]);
/** Other events that have the whole response in them. */
const WITH_RESPONSE: ReadonlySet<string> = new Set([
  "response.created",
  "response.queued",
  "response.in_progress",
  ...LAST,
]);

/** One answer of an upstream that speaks Responses. */
export class ResponsesAnswer extends PassThroughAnswer {
  readonly keepAlive = KEEP_ALIVE;
  protected override readonly outputEvents = "response.";
  readonly #nowMs: () => number;
  /** The last that an event had in it. */
  #response: JsonObject | null = null;
  readonly #items = new BoundedItems();
  #sequenceNumber = -1;
  #hasError = false;

  constructor(options: PassThroughAnswerOptions, nowMs: () => number) {
    super(options);
    this.#nowMs = nowMs;
  }

  /** A response that failed is a response, with its error in it, but where the client is to read another one. */
  protected override isError(answer: JsonObject): boolean {
    if (!isUpstreamError(answer)) return false;
    return answer["object"] !== "response" || isHiddenFailure(mapErrorInAnswer(answer, this.options), answer);
  }

  protected override readWhole(response: JsonObject): void {
    this.#readUsage(response);
    for (const [place, item] of toArray(response["output"]).entries()) this.generated.readItem(place, item);
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
      this.#items.add(item);
      this.generated.tools.readItem(item);
    }
    if (type === "error") return this.#readError(event);
    return WITH_RESPONSE.has(type) && isJsonObject(response) ? this.#readResponse(type, response) : ORDINARY;
  }

  protected override completeStream(): null {
    return null;
  }

  /** SDKs raise at `error`, Codex reads `response.failed` alone. */
  protected override formatFailure(error: GatewayError): string {
    const fields = createErrorFields(error, this.options.requestId);
    const told = this.#hasError
      ? ""
      : formatEvent("error", { type: "error", sequence_number: this.#next(), ...fields });
    if (this.#response === null) return told;
    const response = {
      ...this.#response,
      model: this.options.model,
      status: "failed",
      completed_at: null,
      failed_at: Math.floor(this.#nowMs() / 1000),
      error: createResponseError(error),
      output: this.#items.items,
    };
    const failed = { type: "response.failed", sequence_number: this.#next(), response };
    return told + formatEvent("response.failed", failed);
  }

  /** A delta goes on with a part of an item; other events have a part, an item or the whole response in them. */
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
      // The name of a call has come with its item.
      this.generated.readField(place, namePart(type, event), { ...event, name: null });
    }
  }

  /** It is the end of the answer, but clients act on the response that failed, which may follow. */
  #readError(event: JsonObject): EventMeaning {
    const failed = mapErrorInAnswer(event, this.options);
    if (isHiddenFailure(failed, event)) return { ...ORDINARY, failed, isHidden: true };
    this.#hasError = true;
    return ORDINARY;
  }

  #readResponse(type: string, response: JsonObject): EventMeaning {
    this.#response = response;
    const isLast = LAST.has(type);
    if (isLast) this.#readUsage(response);
    const usage = isLast ? this.describeUsage(response["usage"]) : null;
    const values = { model: this.options.model, ...(usage === null ? {} : { usage }) };
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

  #next(): number {
    this.#sequenceNumber += 1;
    return this.#sequenceNumber;
  }
}

/** The part of an item that an event is about. */
function namePart(type: string, { content_index: content, summary_index: summary }: JsonObject): FieldName {
  if (typeof content === "number") return content;
  return typeof summary === "number" ? -1 - summary : type.slice(0, type.lastIndexOf("."));
}

/**
 * Whether the client gets the failure in the gateway's words: it is about the gateway's account, or an overflow without
 * the code by which agents know one, since they repeat the same request for ever. @param told Has the upstream's error.
 */
function isHiddenFailure(failed: GatewayError, told: JsonObject): boolean {
  const { code, error } = told;
  const upstreamCode = isJsonObject(error) ? error["code"] : code;
  return isAboutAccount(failed) || (isOverflow(failed) && upstreamCode !== failed.publicCode);
}
