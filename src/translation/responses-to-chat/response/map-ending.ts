import type { ResponseObject } from "../response.ts";

/** How a response ended. */
export type Ending = Pick<ResponseObject, "incomplete_details"> & {
  readonly status: "completed" | "incomplete";
};

/** @param finishReason The upstream's; empty when it gave none. A refusal is an answer like others. */
export function mapEnding(finishReason: string): Ending {
  switch (finishReason) {
    case "length":
    case "max_tokens":
      return { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } };
    case "content_filter":
      return { status: "incomplete", incomplete_details: { reason: "content_filter" } };
    default:
      return { status: "completed", incomplete_details: null };
  }
}
