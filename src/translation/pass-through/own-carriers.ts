/**
 * What this gateway has signed or packed itself, taken out of a conversation that goes on with an upstream of the client's
 * own protocol: a server refuses reasoning that it did not make, and so every further request of the session (Anthropic:
 * "Invalid `signature` in `thinking` block"; OpenAI: `invalid_encrypted_content`). Every other character stays.
 */
import { isJsonObject, type JsonObject, toArray } from "../../json-object.ts";
import type { RequestBody } from "../client-protocol.ts";
import { isOwnSignature } from "../conversation/carried-reasoning.ts";
import {
  applyEdits,
  type Edit,
  type ElementSpan,
  findMembers,
  listElements,
  removeWhere,
} from "../json/object-spans.ts";
import { withText } from "../json/parse-body.ts";

/** Without `thinking` blocks of ours, and without messages that held nothing else. */
export function withoutOwnThinking(body: RequestBody): RequestBody {
  return withoutOwn(body, "messages", (message) => {
    const content = toArray(message["content"]);
    const isOwn = content.map(isOwnThinking);
    if (!isOwn.includes(true)) return "stays";
    return isOwn.includes(false) ? isOwn : "goes";
  });
}

/** Without `reasoning` items of ours. */
export function withoutOwnReasoning(body: RequestBody): RequestBody {
  return withoutOwn(body, "input", (item) => (isOwnReasoning(item) ? "goes" : "stays"));
}

/** What becomes of an element: a list says which entries of its `content` go. */
type Fate = "stays" | "goes" | readonly boolean[];

function withoutOwn(body: RequestBody, field: string, decide: (element: JsonObject) => Fate): RequestBody {
  const list = body.value[field];
  if (!Array.isArray(list)) return body;
  const fates = list.map((element: unknown) => (isJsonObject(element) ? decide(element) : "stays"));
  if (fates.every((fate) => fate === "stays")) return body;
  // Of a repeated key the last one counts, as it does to JSON.parse.
  const start = body.members.findLast(({ key }) => key === field)?.valueStart ?? 0;
  const elements = listElements(body.text, start);
  const gone = removeWhere(elements, (_, index) => fates[index] === "goes");
  const cut = elements.flatMap((element, index) => cutContent(body.text, element, fates[index] ?? "stays"));
  const edits = [...gone, ...cut].sort((one, other) => one.start - other.start);
  const value = {
    ...body.value,
    [field]: list.flatMap((element, index) => keep(element, fates[index] ?? "stays")),
  };
  return { ...withText(body, applyEdits(body.text, edits)), value };
}

function cutContent(text: string, { start }: ElementSpan, fate: Fate): Edit[] {
  if (typeof fate === "string") return [];
  const content = findMembers(text, start)?.findLast(({ key }) => key === "content");
  if (content === undefined) return [];
  return removeWhere(listElements(text, content.valueStart), (_, index) => fate[index] === true);
}

function keep(element: unknown, fate: Fate): unknown[] {
  if (fate === "goes") return [];
  if (fate === "stays" || !isJsonObject(element)) return [element];
  return [{ ...element, content: toArray(element["content"]).filter((_, index) => fate[index] !== true) }];
}

function isOwnThinking(block: unknown): boolean {
  if (!isJsonObject(block)) return false;
  const { type, signature, data } = block;
  if (type === "redacted_thinking") return typeof data === "string" && isOwnSignature(data);
  return type === "thinking" && typeof signature === "string" && isOwnSignature(signature);
}

function isOwnReasoning({ type, encrypted_content: carrier }: JsonObject): boolean {
  return type === "reasoning" && typeof carrier === "string" && isOwnSignature(carrier);
}
