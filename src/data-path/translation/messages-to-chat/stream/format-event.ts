import { formatJsonString } from "../../json/exact-json.ts";
import { formatEvent } from "../../sse/encoder.ts";
import type { StreamEvent } from "../message.ts";

/**
 * Formats one event of a message's stream. Nearly all are text deltas, which are assembled around their text in two
 * thirds of the time of formatting the whole event as JSON.
 */
export function formatStreamEvent(event: StreamEvent): string {
  if (event.type !== "content_block_delta" || event.delta.type !== "text_delta") {
    return formatEvent(event.type, event);
  }
  const { type, index, delta } = event;
  return (
    `event: ${type}\ndata: {"type":"${type}","index":${index},` +
    `"delta":{"type":"${delta.type}","text":${formatJsonString(delta.text)}}}\n\n`
  );
}
