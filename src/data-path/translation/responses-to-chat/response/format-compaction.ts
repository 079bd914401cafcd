import { GatewayError } from "../../../../shared/contract/errors.ts";
import type { JsonObject } from "../../../../shared/text/json-object.ts";
import { formatJson } from "../../json/exact-json.ts";
import type { CreateId } from "../ids.ts";
import type { ResponseObject } from "../response.ts";

/**
 * The answer of `POST /v1/responses/compact`: what the next request's input begins with.
 * @throws GatewayError where the summary was cut short: this object has no field that could say so.
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
