/**
 * Removes the gateway's own signatures and carriers from a conversation that continues with an upstream of the
 * client's protocol. The server would reject every further request with them (Anthropic: "Invalid `signature` in
 * `thinking` block"; OpenAI: `invalid_encrypted_content`). Reasoning is removed; summaries are unpacked, because the
 * conversation would be lost without them. Every other character stays.
 */
import { isJsonObject, type JsonObject, toArray } from "../../../shared/text/json-object.ts";
import type { RequestBody } from "../client-protocol.ts";
import { isOwnSignature, ReasoningUnpacker } from "../conversation/carried-reasoning.ts";
import { readSummary, SUMMARY_ITEMS } from "../conversation/compaction.ts";
import {
  applyEdits,
  type Edit,
  type ElementSpan,
  findMembers,
  listElements,
  removeWhere,
} from "../json/object-spans.ts";
import { withText } from "../json/parse-body.ts";

/** Removes the gateway's own `thinking` blocks, and messages that contain nothing else. */
export function withoutOwnThinking(body: RequestBody): RequestBody {
  return withoutOwn(body, "messages", (message) => {
    const content = toArray(message["content"]);
    const isOwn = content.map(isOwnThinking);
    if (!isOwn.includes(true)) return "keep";
    return isOwn.includes(false) ? isOwn : "remove";
  });
}

/**
 * Removes the gateway's own `reasoning` items, and unpacks its summaries as user text.
 * @throws GatewayError 400 for a damaged summary.
 */
export function withoutOwnItems(body: RequestBody): RequestBody {
  const unpacker = new ReasoningUnpacker();
  return withoutOwn(body, "input", (item, index) => {
    const { type, encrypted_content: carrier } = item;
    if (typeof type !== "string" || typeof carrier !== "string" || !isOwnSignature(carrier)) return "keep";
    if (type === "reasoning") return "remove";
    if (!SUMMARY_ITEMS.has(type)) return "keep";
    return {
      replaceBy: createUserMessage(readSummary(carrier, { type, path: `input[${index}]`, unpacker })),
    };
  });
}

/** Treatment of an element; a list marks the entries of its `content` that are removed. */
type Treatment = "keep" | "remove" | readonly boolean[] | { readonly replaceBy: JsonObject };

function withoutOwn(
  body: RequestBody,
  field: string,
  decide: (element: JsonObject, index: number) => Treatment,
): RequestBody {
  const list = body.value[field];
  if (!Array.isArray(list)) return body;
  const treatments = list.map((element: unknown, index) =>
    isJsonObject(element) ? decide(element, index) : "keep",
  );
  if (treatments.every((treatment) => treatment === "keep")) return body;
  // The last of repeated keys counts, as for JSON.parse.
  const start = body.members.findLast(({ key }) => key === field)?.valueStart ?? 0;
  const elements = listElements(body.text, start);
  const removed = removeWhere(elements, (_, index) => treatments[index] === "remove");
  const edited = elements.flatMap((element, index) =>
    change(body.text, element, treatments[index] ?? "keep"),
  );
  const edits = [...removed, ...edited].sort((one, other) => one.start - other.start);
  const value = {
    ...body.value,
    [field]: list.flatMap((element, index) => apply(element, treatments[index] ?? "keep")),
  };
  return { ...withText(body, applyEdits(body.text, edits)), value };
}

function change(text: string, { start, valueEnd: end }: ElementSpan, treatment: Treatment): Edit[] {
  if (typeof treatment === "string") return [];
  if ("replaceBy" in treatment) return [{ start, end, replacement: JSON.stringify(treatment.replaceBy) }];
  const content = findMembers(text, start)?.findLast(({ key }) => key === "content");
  if (content === undefined) return [];
  return removeWhere(listElements(text, content.valueStart), (_, index) => treatment[index] === true);
}

function apply(element: unknown, treatment: Treatment): unknown[] {
  if (treatment === "remove") return [];
  if (treatment === "keep" || !isJsonObject(element)) return [element];
  if ("replaceBy" in treatment) return [treatment.replaceBy];
  return [
    { ...element, content: toArray(element["content"]).filter((_, index) => treatment[index] !== true) },
  ];
}

function isOwnThinking(block: unknown): boolean {
  if (!isJsonObject(block)) return false;
  const { type, signature, data } = block;
  if (type === "redacted_thinking") return typeof data === "string" && isOwnSignature(data);
  return type === "thinking" && typeof signature === "string" && isOwnSignature(signature);
}

function createUserMessage(text: string): JsonObject {
  return { type: "message", role: "user", content: [{ type: "input_text", text }] };
}
