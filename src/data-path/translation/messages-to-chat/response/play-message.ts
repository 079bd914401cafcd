import type { Message } from "../message.ts";
import { playEvents } from "../stream/play-events.ts";
import { formatDeltaUsage } from "../usage.ts";

/**
 * Formats a whole message as a stream, for an upstream that did not stream although requested.
 * @param cost Extra fields of the final usage.
 */
export function playMessage(message: Message, cost: object): string {
  const { content, stop_reason, stop_sequence, stop_details, usage } = message;
  const unstopped = { stop_reason: null, stop_sequence: null, stop_details: null };
  const begun = { ...usage, output_tokens: 0, output_tokens_details: null };
  return playEvents({
    message: { ...message, content: [], ...unstopped, usage: begun },
    content,
    delta: { stop_reason: stop_reason ?? "end_turn", stop_sequence, stop_details, container: null },
    usage: { ...formatDeltaUsage(usage), ...cost },
  });
}
