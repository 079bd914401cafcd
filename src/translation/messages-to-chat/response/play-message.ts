import { formatJson } from "../../json/exact-json.ts";
import type { BlockDelta, ContentBlock, Message, StreamEvent } from "../message.ts";
import { formatDeltaUsage } from "../usage.ts";

/**
 * A whole message as the events of a stream, one delta per block: for an upstream that did not stream when asked to.
 * @param cost Further fields of the usage at its end.
 */
export function playMessage(message: Message, cost: object = {}): StreamEvent[] {
  const { stop_reason, stop_sequence, stop_details, usage } = message;
  return [
    {
      type: "message_start",
      message: {
        ...message,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        stop_details: null,
        usage: { ...usage, output_tokens: 0, output_tokens_details: null },
      },
    },
    ...message.content.flatMap(playBlock),
    {
      type: "message_delta",
      delta: { stop_reason: stop_reason ?? "end_turn", stop_sequence, stop_details, container: null },
      usage: { ...formatDeltaUsage(usage), ...cost },
    },
    { type: "message_stop" },
  ];
}

function playBlock(block: ContentBlock, index: number): StreamEvent[] {
  const deltas = createDeltas(block).map((delta): StreamEvent => ({
    type: "content_block_delta",
    index,
    delta,
  }));
  return [
    { type: "content_block_start", index, content_block: emptyBlock(block) },
    ...deltas,
    { type: "content_block_stop", index },
  ];
}

function createDeltas(block: ContentBlock): BlockDelta[] {
  if (block.type === "text") return [{ type: "text_delta", text: block.text }];
  if (block.type === "thinking") {
    const signature: BlockDelta = { type: "signature_delta", signature: block.signature };
    return block.thinking === ""
      ? [signature]
      : [{ type: "thinking_delta", thinking: block.thinking }, signature];
  }
  const json = formatJson(block.input);
  return json === "{}" ? [] : [{ type: "input_json_delta", partial_json: json }];
}

function emptyBlock(block: ContentBlock): ContentBlock {
  if (block.type === "text") return { ...block, text: "" };
  if (block.type === "thinking") return { ...block, thinking: "", signature: "" };
  return { ...block, input: {} };
}
