import { GatewayError } from "../../../../shared/contract/errors.ts";
import type { JsonObject } from "../../../../shared/text/json-object.ts";
import { formatJson } from "../../json/exact-json.ts";
import type { CreateId } from "../ids.ts";
import type { ResponseObject } from "../response.ts";

/**
 * Formats the answer of `POST /v1/responses/compact`, with which the next request's input begins.
 * @throws GatewayError if the summary was cut off, because the object has no field to show that.
 */
export function formatCompaction(
  { id, created_at: createdAt, status, output, usage }: ResponseObject,
  { userMessages, createId }: { readonly userMessages: readonly JsonObject[]; readonly createId: CreateId },
): string {
  if (status !== "completed") {
    throw new GatewayError("upstream_error", {
      message: "The model's summary was cut off at its output limit. Send a shorter conversation.",
    });
  }
  const repeated = userMessages.map((message) => ({ id: createId("msg"), ...message }));
  return formatJson({
    id,
    object: "response.compaction",
    created_at: createdAt,
    output: [...repeated, ...output],
    usage,
  });
}
