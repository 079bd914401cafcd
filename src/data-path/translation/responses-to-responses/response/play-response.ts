import { isJsonObject, toArray, type JsonObject } from "../../../../shared/text/json-object.ts";
import { formatEvent } from "../../sse/encoder.ts";

/** Last event by status of the response. */
const LAST_EVENT: Readonly<Record<string, string>> = {
  incomplete: "response.incomplete",
  failed: "response.failed",
};

/** Formats a whole response as the stream that the client requested: one delta per text; other items come whole. */
export function playResponse(response: JsonObject): string {
  const { output, status } = response;
  let number = 0;
  const write = (type: string, fields: object) =>
    formatEvent(type, { type, sequence_number: number++, ...fields });
  const begun = { ...response, status: "in_progress", output: [], usage: null, completed_at: null };
  let text =
    write("response.created", { response: begun }) + write("response.in_progress", { response: begun });
  const items = toArray(output).filter(isJsonObject);
  for (const [index, item] of items.entries()) text += playItem(item, index, write);
  const last = LAST_EVENT[typeof status === "string" ? status : ""] ?? "response.completed";
  return text + write(last, { response });
}

function playItem(item: JsonObject, index: number, write: (type: string, fields: object) => string): string {
  const { type, content } = item;
  const parts = type === "message" ? toArray(content) : [];
  const begun = { ...item, status: "in_progress", ...(type === "message" ? { content: [] } : {}) };
  let text = write("response.output_item.added", { output_index: index, item: begun });
  for (const [contentIndex, part] of parts.filter(isJsonObject).entries()) {
    text += playPart(part, { item_id: item["id"], output_index: index, content_index: contentIndex }, write);
  }
  return text + write("response.output_item.done", { output_index: index, item });
}

function playPart(part: JsonObject, place: object, write: (type: string, fields: object) => string): string {
  const { type, text } = part;
  if (type !== "output_text" || typeof text !== "string") {
    return (
      write("response.content_part.added", { ...place, part }) +
      write("response.content_part.done", { ...place, part })
    );
  }
  return (
    write("response.content_part.added", { ...place, part: { ...part, text: "" } }) +
    write("response.output_text.delta", { ...place, delta: text, logprobs: [] }) +
    write("response.output_text.done", { ...place, text, logprobs: [] }) +
    write("response.content_part.done", { ...place, part })
  );
}
