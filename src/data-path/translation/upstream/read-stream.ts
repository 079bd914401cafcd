/** Helpers of all readers of upstream answers. */
import { asBuffer } from "../../../shared/text/as-buffer.ts";
import { GatewayError } from "../../../shared/contract/errors.ts";
import { isUnreadable, parseJsonText } from "../json/parse-json-text.ts";
import { SseLimitError } from "../sse/line-splitter.ts";

/** Largest event that is read: far above any chunk, even one with an image or all arguments of a tool call. */
export const MAX_EVENT_BYTES = 16 * 1_048_576;

/** Data of the event that ends a stream. */
export const DONE = "[DONE]";

/** Longer data is not a keep-alive. */
const MAX_BLANK_CHARACTERS = 64;

/** Returns whether an event's data ends the stream. */
export function isDone(data: string): boolean {
  return data.includes(DONE) && data.trim() === DONE;
}

/** Returns whether an event's data is empty: white space, or the `null` with which llama.cpp begins some streams. */
export function isBlank(data: string): boolean {
  if (data.length > MAX_BLANK_CHARACTERS) return false;
  const text = data.trim();
  return text === "" || text === "null";
}

/** Parses a whole answer. @throws GatewayError `upstream_error` if it is not JSON. */
export function parseCompletion(body: Uint8Array): unknown {
  try {
    return parseJsonText(asBuffer(body).toString("utf8"));
  } catch (error) {
    throw asGatewayError(error);
  }
}

/** Converts protocol violations to `upstream_error`; any other error is internal. */
export function asGatewayError(error: unknown): GatewayError {
  const isProtocolError = isUnreadable(error) || error instanceof SseLimitError;
  return isProtocolError ? new GatewayError("upstream_error", { cause: error }) : GatewayError.from(error);
}
