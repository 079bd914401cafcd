/**
 * Replaces ids of tool calls that the upstream would reject. Another model's server may have created them in a form
 * that this one rejects in every further request of the session: Kimi's `functions.get:0` violates Anthropic's
 * `^[a-zA-Z0-9_-]+$`. The replacement is a digest of the id, the same in call and result and in each request, so that
 * prompt caches hold. Every other character stays.
 */
import { createHash } from "node:crypto";
import { isJsonObject, type JsonObject, toArray } from "../../../shared/text/json-object.ts";
import type { RequestBody } from "../client-protocol.ts";
import { applyEdits, type Edit, findMembers, listElements, type MemberSpan } from "../json/object-spans.ts";
import { withText } from "../json/parse-body.ts";

/** OpenAI and Bedrock accept at most 64 characters. */
const ACCEPTED = /^[a-zA-Z0-9_-]{1,64}$/;
const DIGEST_CHARACTERS = 24;

/** Lists the members of a block or an item that hold call ids. */
type NameIds = (object: JsonObject) => readonly string[];

const nameBlockIds: NameIds = ({ type }) => {
  if (type === "tool_use") return ["id"];
  return type === "tool_result" ? ["tool_use_id"] : [];
};
const nameItemIds: NameIds = () => ["call_id"];

/** Edits a Messages request so that every server accepts its ids. */
export function withAcceptedBlockIds(body: RequestBody): RequestBody {
  const messages = toArray(body.value["messages"]).map((message) =>
    isJsonObject(message) ? toArray(message["content"]) : [],
  );
  if (!messages.some((blocks) => hasForeignId(blocks, nameBlockIds))) return body;
  const { text } = body;
  const elements = listElements(text, startOf(body.members, "messages"));
  const edits = elements.flatMap(({ start }, index) => {
    const blocks = messages[index] ?? [];
    const members = hasForeignId(blocks, nameBlockIds) ? (findMembers(text, start) ?? []) : [];
    return editList(text, startOf(members, "content"), blocks, nameBlockIds);
  });
  return withText(body, applyEdits(text, edits));
}

/** Edits a Responses request so that every server accepts its ids. */
export function withAcceptedItemIds(body: RequestBody): RequestBody {
  const items = toArray(body.value["input"]);
  if (!hasForeignId(items, nameItemIds)) return body;
  const edits = editList(body.text, startOf(body.members, "input"), items, nameItemIds);
  return withText(body, applyEdits(body.text, edits));
}

/** Returns the start of a member's value; the last of repeated keys, as for JSON.parse. */
function startOf(members: readonly MemberSpan[], name: string): number {
  return members.findLast(({ key }) => key === name)?.valueStart ?? 0;
}

function hasForeignId(list: readonly unknown[], nameIds: NameIds): boolean {
  return list.some((entry) => listForeignIds(entry, nameIds).length > 0);
}

function listForeignIds(entry: unknown, nameIds: NameIds): string[] {
  if (!isJsonObject(entry)) return [];
  return nameIds(entry).filter((name) => isForeign(entry[name]));
}

function isForeign(id: unknown): id is string {
  return typeof id === "string" && id !== "" && !ACCEPTED.test(id);
}

function editList(text: string, start: number, list: readonly unknown[], nameIds: NameIds): Edit[] {
  if (!hasForeignId(list, nameIds)) return [];
  const elements = listElements(text, start);
  return list.flatMap((entry, index) => {
    const element = elements[index];
    const names = listForeignIds(entry, nameIds);
    if (element === undefined || !isJsonObject(entry) || names.length === 0) return [];
    const members = findMembers(text, element.start) ?? [];
    return names.flatMap((name) => {
      const member = members.findLast(({ key }) => key === name);
      if (member === undefined) return [];
      const { valueStart, valueEnd } = member;
      return [{ start: valueStart, end: valueEnd, replacement: `"${digestId(String(entry[name]))}"` }];
    });
  });
}

function digestId(id: string): string {
  return `call_${createHash("sha256").update(id).digest("base64url").slice(0, DIGEST_CHARACTERS)}`;
}
