import type { JsonObject } from "../../../../shared/text/json-object.ts";
import { formatEvent } from "../../sse/encoder.ts";

/** Formats a whole completion as the stream that the client requested. Chunks have the same form as the answer. */
export function playStream(completion: JsonObject, model: string, isUsageWanted: boolean): string {
  const { usage, ...answer } = completion;
  let text = formatEvent(null, { ...answer, model });
  if (isUsageWanted && usage !== undefined) {
    text += formatEvent(null, { ...answer, model, choices: [], usage });
  }
  return `${text}data: [DONE]\n\n`;
}
