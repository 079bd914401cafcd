import { isJsonObject, type JsonObject } from "../text/json-object.ts";
import type { RequestBody } from "./client-protocol.ts";
import { applyEdits, removeMembers } from "./json/object-spans.ts";
import { withText } from "./json/parse-body.ts";

/**
 * Whether a client asks for the cost in its answer's usage, `usage: {"include": true}`, and its body without the wish: it
 * is the gateway's, and no upstream sees it.
 */
export function takeCostWish(body: RequestBody): { readonly body: RequestBody; readonly wantsCost: boolean } {
  const { usage } = body.value;
  if (!isJsonObject(usage) || typeof usage["include"] !== "boolean") return { body, wantsCost: false };
  const text = applyEdits(body.text, removeMembers(body.members, "usage"));
  return {
    body: { ...withText(body, text), value: withoutUsage(body.value) },
    wantsCost: usage["include"],
  };
}

function withoutUsage({ usage: _usage, ...others }: JsonObject): JsonObject {
  return others;
}
