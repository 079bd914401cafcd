/** What every reader of an upstream's answer has in common. */
import { asBuffer } from "../../../shared/text/as-buffer.ts";
import { GatewayError } from "../../../shared/contract/errors.ts";
import { isUnreadable, parseJsonText } from "../json/parse-json-text.ts";
import { SseLimitError } from "../sse/line-splitter.ts";

/** The largest event that is read: far above any chunk, even one with an image or all arguments of a tool call in it. */
export const MAX_EVENT_BYTES = 16 * 1_048_576;

/** The data of the event that ends a stream. */
export const DONE = "[DONE]";

/** What is longer is no keep-alive. */
const MAX_BLANK_CHARACTERS = 64;

/** Whether an event's data says that the stream is over. */
export function isDone(data: string): boolean {
  return data.includes(DONE) && data.trim() === DONE;
}

/** Whether an event's data says nothing: white space, or the `null` that llama.cpp begins some streams with. */
export function isBlank(data: string): boolean {
  if (data.length > MAX_BLANK_CHARACTERS) return false;
  const text = data.trim();
  return text === "" || text === "null";
}

/** A whole answer. @throws GatewayError `upstream_error` when it is no JSON. */
export function parseCompletion(body: Uint8Array): unknown {
  try {
    return parseJsonText(asBuffer(body).toString("utf8"));
  } catch (error) {
    throw asGatewayError(error);
  }
}

/** What the upstream did wrong is told as such; anything else is ours. */
export function asGatewayError(error: unknown): GatewayError {
  const isProtocolError = isUnreadable(error) || error instanceof SseLimitError;
  return isProtocolError ? new GatewayError("upstream_error", { cause: error }) : GatewayError.from(error);
}
