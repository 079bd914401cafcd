import type { EndReason } from "../../upstream/end-reasons.ts";
import type { Stop } from "../message.ts";

/** Facts at the end of an answer. */
export interface Ending {
  readonly reason: EndReason;
  readonly matchedStop: string | null;
  readonly hasToolUse: boolean;
  /** Text of the refusal; empty if there is none. */
  readonly refusal: string;
}

/** Maps the end of the answer to the terms of the Messages protocol. */
export function mapStopReason(ending: Ending, stopSequences: ReadonlySet<string>): Stop {
  const { reason, matchedStop, hasToolUse, refusal } = ending;
  if (reason === "length") return createStop("max_tokens");
  if (reason === "content_filter" || refusal !== "") {
    const explanation = refusal === "" ? null : refusal;
    return { ...createStop("refusal"), stop_details: { type: "refusal", category: null, explanation } };
  }
  // Many servers send `stop` although the model called a tool; a client that reads `end_turn` would never run it.
  if (hasToolUse) return createStop("tool_use");
  if (matchedStop !== null && stopSequences.has(matchedStop)) {
    return { ...createStop("stop_sequence"), stop_sequence: matchedStop };
  }
  return createStop("end_turn");
}

function createStop(reason: Stop["stop_reason"]): Stop {
  return { stop_reason: reason, stop_sequence: null, stop_details: null };
}
