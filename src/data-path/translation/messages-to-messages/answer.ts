import type { GatewayError } from "../../../shared/contract/errors.ts";
import { isJsonObject, type JsonObject } from "../../../shared/text/json-object.ts";
import { formatStreamError } from "../messages-to-chat/error-body.ts";
import { playEvents } from "../messages-to-chat/stream/play-events.ts";
import { type EventMeaning, ORDINARY, PassThroughAnswer, requireList } from "../pass-through/answer.ts";
import { formatEvent, KEEP_ALIVE, PING } from "../sse/encoder.ts";
import { isErrorBody } from "../upstream/error-text.ts";
import { isAboutAccount, isOverflow } from "../upstream/map-error.ts";
import { redactAccount } from "../upstream/redact-account.ts";
import { mergeMessageUsage, readMessageUsage } from "../upstream/usage.ts";
import { mapStreamError } from "./stream/map-stream-error.ts";

/** Answer of an upstream that speaks Messages. */
export class MessagesAnswer extends PassThroughAnswer {
  protected override readonly outputEvents = "content_block";
  /** Usage of `message_start`. */
  #startUsage: JsonObject = {};
  /** Usage of the stream so far. */
  #usage: JsonObject = {};
  #hasStarted = false;
  #hasStopReason = false;

  /** `message_start` must be the first event. */
  override get keepAlive(): string {
    return this.#hasStarted ? PING : KEEP_ALIVE;
  }

  protected override isError(answer: JsonObject): boolean {
    return isErrorBody(answer);
  }

  protected override readWhole(message: JsonObject): void {
    this.generated.report(readMessageUsage(message["usage"]), message);
    this.generated.noteUsage(message["usage"]);
    for (const block of requireList(message, "content")) this.#readBlock(block);
  }

  protected override play(message: JsonObject): string {
    const { content, stop_reason, stop_sequence, stop_details, usage } = message;
    return playEvents({
      message: { ...message, content: [], stop_reason: null, stop_sequence: null },
      content,
      delta: { stop_reason, stop_sequence, ...(stop_details === undefined ? {} : { stop_details }) },
      usage,
    });
  }

  protected override readEvent(type: string, event: JsonObject): EventMeaning {
    switch (type) {
      case "message_start":
        return this.#readStart(event["message"]);
      case "content_block_start":
        this.#readBlockStart(event);
        return ORDINARY;
      case "content_block_delta":
        this.#readBlockDelta(event);
        return ORDINARY;
      case "content_block_stop":
        this.generated.readAnswer(event["content_block"]);
        return ORDINARY;
      case "message_delta":
        return this.#readDelta(event);
      case "message_stop":
        this.#readWhole(event["message"]);
        return { ...ORDINARY, isLast: true };
      case "error":
        return this.#readError(event);
      default:
        if (type.startsWith(this.outputEvents)) this.generated.readPiece(event);
        else this.generated.readOutside(event);
        return ORDINARY;
    }
  }

  /** After the stop reason, only the last event is missing. */
  protected override completeStream(): string | null {
    return this.#hasStopReason ? formatEvent("message_stop", { type: "message_stop" }) : null;
  }

  protected override mapError(value: unknown): GatewayError {
    return isJsonObject(value) ? mapStreamError(value, this.options.model) : super.mapError(value);
  }

  protected override formatFailure(error: GatewayError): string {
    return formatStreamError(error, this.options.requestId);
  }

  #readStart(message: unknown): EventMeaning {
    this.#hasStarted = true;
    if (!isJsonObject(message)) return ORDINARY;
    const { usage } = message;
    // The output figure here is preliminary; the final one follows at the end.
    if (isJsonObject(usage)) this.#startUsage = { ...usage, output_tokens: 0 };
    this.#usage = this.#startUsage;
    this.generated.report(readMessageUsage(this.#usage), message);
    this.#readWhole(message);
    const { model } = this.options;
    return { ...ORDINARY, replacement: { member: "message", values: { model } } };
  }

  #readDelta({ delta, usage }: JsonObject): EventMeaning {
    this.generated.readPiece(delta);
    if (isJsonObject(delta) && typeof delta["stop_reason"] === "string") this.#hasStopReason = true;
    if (!isJsonObject(usage)) return ORDINARY;
    this.#usage = mergeMessageUsage(this.#usage, usage, this.#startUsage);
    // Tool figures of `message_start` are preliminary, so only those of the delta count.
    this.generated.noteUsage(this.#usage, usage);
    // The service tier may only be part of `message_start`.
    this.generated.report(readMessageUsage(this.#usage), { usage: { ...this.#usage, ...usage } });
    const described = this.describeUsage(usage);
    return described === null
      ? ORDINARY
      : { ...ORDINARY, replacement: { member: null, values: { usage: described } } };
  }

  /** Some servers begin a call with its whole input and repeat it in deltas. */
  #readBlockStart({ index, content_block: block }: JsonObject): void {
    if (!isJsonObject(block) || typeof index !== "number") {
      this.#readBlock(block);
      return;
    }
    const { input } = block;
    this.#readBlock({ ...block, input: null });
    this.generated.readFieldPiece(index, "whole input", { input }, "input");
  }

  #readBlockDelta({ index, delta }: JsonObject): void {
    const isInput = isJsonObject(delta) && "partial_json" in delta;
    if (isInput && typeof index === "number") this.generated.readFieldPiece(index, "input", delta);
    else this.generated.readPiece(delta);
  }

  #readBlock(block: unknown): void {
    if (isJsonObject(block)) this.generated.tools.readBlock(block);
    this.generated.readPiece(block);
  }

  /** Reads a message inside an event; counts the part that its blocks did not contain. */
  #readWhole(message: unknown): void {
    if (isJsonObject(message)) this.generated.readAnswer(message["content"]);
  }

  #readError(event: JsonObject): EventMeaning {
    this.generated.readError(event);
    const failed = mapStreamError(event, this.options.model);
    const { error } = event;
    const isRead =
      isJsonObject(error) && error["message"] === failed.message && error["type"] === failed.type;
    const isHidden = isAboutAccount(failed) || (isOverflow(failed) && !isRead);
    return { ...ORDINARY, replacement: { member: null, values: redactAccount(event) }, failed, isHidden };
  }
}
