import { isJsonObject, type JsonObject, toArray } from "../../../../shared/text/json-object.ts";
import { formatJson } from "../../json/exact-json.ts";
import { formatEvent } from "../../sse/encoder.ts";

/** Content of a message's stream events. */
export interface PlayedMessage {
  /** Message of `message_start`. */
  readonly message: object;
  readonly content: unknown;
  /** Delta of `message_delta`. */
  readonly delta: object;
  readonly usage: unknown;
}

/**
 * Formats a whole message as the stream that the client requested, with one delta per block; unknown blocks have none.
 */
export function playEvents({ message, content, delta, usage }: PlayedMessage): string {
  return [
    formatEvent("message_start", { type: "message_start", message }),
    ...toArray(content).filter(isJsonObject).map(playBlock),
    formatEvent("message_delta", { type: "message_delta", delta, usage }),
    formatEvent("message_stop", { type: "message_stop" }),
  ].join("");
}

function playBlock(block: JsonObject, index: number): string {
  const { empty, deltas } = splitBlock(block);
  const events = deltas.map((delta) =>
    formatEvent("content_block_delta", { type: "content_block_delta", index, delta }),
  );
  return [
    formatEvent("content_block_start", { type: "content_block_start", index, content_block: empty }),
    ...events,
    formatEvent("content_block_stop", { type: "content_block_stop", index }),
  ].join("");
}

function splitBlock(block: JsonObject): { empty: JsonObject; deltas: JsonObject[] } {
  const { type, text, thinking, signature, input } = block;
  if (type === "text" && typeof text === "string") {
    return { empty: { ...block, text: "" }, deltas: [{ type: "text_delta", text }] };
  }
  if (type === "thinking") {
    const signed = { type: "signature_delta", signature };
    // Omitted thinking has a signature as well.
    const deltas = thinking === "" ? [signed] : [{ type: "thinking_delta", thinking }, signed];
    return { empty: { ...block, thinking: "", signature: "" }, deltas };
  }
  if (isJsonObject(input)) {
    const json = formatJson(input);
    return {
      empty: { ...block, input: {} },
      deltas: json === "{}" ? [] : [{ type: "input_json_delta", partial_json: json }],
    };
  }
  return { empty: block, deltas: [] };
}
