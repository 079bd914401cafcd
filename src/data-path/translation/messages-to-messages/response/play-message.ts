import type { JsonObject } from "../../../../shared/text/json-object.ts";
import { playEvents } from "../../messages-to-chat/stream/play-events.ts";

/** Formats a whole message as the stream that the client requested. */
export function playMessage(message: JsonObject): string {
  const { content, stop_reason, stop_sequence, stop_details, usage } = message;
  return playEvents({
    message: { ...message, content: [], stop_reason: null, stop_sequence: null },
    content,
    delta: { stop_reason, stop_sequence, ...(stop_details === undefined ? {} : { stop_details }) },
    usage,
  });
}
