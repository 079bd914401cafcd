import type { RequestBody } from "./client-protocol.ts";
import { applyEdits, removeMembers } from "./json/object-spans.ts";
import { withText } from "./json/parse-body.ts";

/** The body without one of its fields, which is the gateway's: no upstream sees it. */
export function withoutField(body: RequestBody, name: string): RequestBody {
  const { [name]: _taken, ...value } = body.value;
  const text = applyEdits(body.text, removeMembers(body.members, name));
  return { ...withText(body, text), value };
}
