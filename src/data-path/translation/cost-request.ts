import { isJsonObject } from "../../shared/text/json-object.ts";
import type { RequestBody } from "./client-protocol.ts";
import { withoutField } from "./without-field.ts";

/**
 * Removes `usage: {"include": true}`, by which a client requests the cost in the answer's usage. The field is the
 * gateway's own, so no upstream receives it.
 */
export function takeCostRequest(body: RequestBody): {
  readonly body: RequestBody;
  readonly wantsCost: boolean;
} {
  const { usage } = body.value;
  if (!isJsonObject(usage) || typeof usage["include"] !== "boolean") return { body, wantsCost: false };
  return { body: withoutField(body, "usage"), wantsCost: usage["include"] };
}
