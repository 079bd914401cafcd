import { isJsonObject } from "../../shared/text/json-object.ts";
import type { RequestBody } from "./client-protocol.ts";
import { withoutField } from "./without-field.ts";

/**
 * Whether a client asks for the cost in its answer's usage, `usage: {"include": true}`, and its body without the wish: it
 * is the gateway's, and no upstream sees it.
 */
export function takeCostWish(body: RequestBody): { readonly body: RequestBody; readonly wantsCost: boolean } {
  const { usage } = body.value;
  if (!isJsonObject(usage) || typeof usage["include"] !== "boolean") return { body, wantsCost: false };
  return { body: withoutField(body, "usage"), wantsCost: usage["include"] };
}
