import type { RequestBody } from "../../client-protocol.ts";
import { applyEdits, removeMembers } from "../../json/object-spans.ts";
import { withText } from "../../json/parse-body.ts";

const FIELD = "client_metadata";

/** The body without what Codex tells in it about its user's installation; every other character stays. */
export function withoutClientMetadata(body: RequestBody): RequestBody {
  const edits = removeMembers(body.members, FIELD);
  return edits.length === 0 ? body : withText(body, applyEdits(body.text, edits));
}
