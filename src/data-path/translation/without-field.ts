import type { RequestBody } from "./client-protocol.ts";
import { applyEdits, removeMembers } from "./json/object-spans.ts";
import { withText } from "./json/parse-body.ts";

/** Removes one field from a body; every other character stays. */
export function withoutField(body: RequestBody, name: string): RequestBody {
  if (body.value[name] === undefined) return body;
  const { [name]: _taken, ...value } = body.value;
  const text = applyEdits(body.text, removeMembers(body.members, name));
  return { ...withText(body, text), value };
}
