import type { EndReason } from "../../upstream/end-reasons.ts";
import type { ResponseObject } from "../response.ts";

/** How a response ended. */
export type Ending = Pick<ResponseObject, "incomplete_details"> & {
  readonly status: "completed" | "incomplete";
};

const COMPLETED: Ending = { status: "completed", incomplete_details: null };

/** A refusal is an ordinary answer. */
const ENDINGS: Readonly<Record<EndReason, Ending>> = {
  stop: COMPLETED,
  tool_calls: COMPLETED,
  length: { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } },
  content_filter: { status: "incomplete", incomplete_details: { reason: "content_filter" } },
};

export function mapEnding(reason: EndReason): Ending {
  return ENDINGS[reason];
}
