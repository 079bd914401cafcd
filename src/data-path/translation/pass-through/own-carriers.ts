/**
 * What this gateway has signed or packed itself, in a conversation that goes on with an upstream of the client's own
 * protocol: a server refuses what it did not make, and so every further request of the session (Anthropic: "Invalid
 * `signature` in `thinking` block"; OpenAI: `invalid_encrypted_content`). Reasoning is taken out, a summary, without which
 * the conversation would be gone, is unpacked. Every other character stays.
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

/** The body without `thinking` blocks of ours, and without messages that held nothing else. */
export function withoutOwnThinking(body: RequestBody): RequestBody {
  return withoutOwn(body, "messages", (message) => {
    const content = toArray(message["content"]);
    const isOwn = content.map(isOwnThinking);
    if (!isOwn.includes(true)) return "stays";
    return isOwn.includes(false) ? isOwn : "goes";
  });
}

/**
 * The body without `reasoning` items of ours, and with the summaries that we have packed as text of the user.
 * @throws GatewayError 400 for a summary that is damaged.
 */
export function withoutOwnItems(body: RequestBody): RequestBody {
  const unpacker = new ReasoningUnpacker();
  return withoutOwn(body, "input", (item, index) => {
    const { type, encrypted_content: carrier } = item;
    if (typeof type !== "string" || typeof carrier !== "string" || !isOwnSignature(carrier)) return "stays";
    if (type === "reasoning") return "goes";
    if (!SUMMARY_ITEMS.has(type)) return "stays";
    return { becomes: createUserMessage(readSummary(carrier, { type, path: `input[${index}]`, unpacker })) };
  });
}

/** What becomes of an element: a list says which entries of its `content` go. */
type Fate = "stays" | "goes" | readonly boolean[] | { readonly becomes: JsonObject };

function withoutOwn(
  body: RequestBody,
  field: string,
  decide: (element: JsonObject, index: number) => Fate,
): RequestBody {
  const list = body.value[field];
  if (!Array.isArray(list)) return body;
  const fates = list.map((element: unknown, index) =>
    isJsonObject(element) ? decide(element, index) : "stays",
  );
  if (fates.every((fate) => fate === "stays")) return body;
  // Of a repeated key the last one counts, as it does to JSON.parse.
  const start = body.members.findLast(({ key }) => key === field)?.valueStart ?? 0;
  const elements = listElements(body.text, start);
  const gone = removeWhere(elements, (_, index) => fates[index] === "goes");
  const changed = elements.flatMap((element, index) => change(body.text, element, fates[index] ?? "stays"));
  const edits = [...gone, ...changed].sort((one, other) => one.start - other.start);
  const value = {
    ...body.value,
    [field]: list.flatMap((element, index) => keep(element, fates[index] ?? "stays")),
  };
  return { ...withText(body, applyEdits(body.text, edits)), value };
}

function change(text: string, { start, valueEnd: end }: ElementSpan, fate: Fate): Edit[] {
  if (typeof fate === "string") return [];
  if ("becomes" in fate) return [{ start, end, replacement: JSON.stringify(fate.becomes) }];
  const content = findMembers(text, start)?.findLast(({ key }) => key === "content");
  if (content === undefined) return [];
  return removeWhere(listElements(text, content.valueStart), (_, index) => fate[index] === true);
}

function keep(element: unknown, fate: Fate): unknown[] {
  if (fate === "goes") return [];
  if (fate === "stays" || !isJsonObject(element)) return [element];
  if ("becomes" in fate) return [fate.becomes];
  return [{ ...element, content: toArray(element["content"]).filter((_, index) => fate[index] !== true) }];
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
