import type { PromptSize } from "../../client-protocol.ts";
import { isJsonObject } from "../../../../shared/text/json-object.ts";
import { isWholeField } from "../../fields/known-fields.ts";
import { addVisibleBytes } from "../../visible-bytes.ts";
import { type JsonBody } from "../../json/parse-body.ts";

/** Content parts that are text; other kinds may be worth any number of tokens. */
const TEXT_PARTS: ReadonlySet<unknown> = new Set(["text", "refusal", "thinking"]);

/** Fields that the model's chat template renders as JSON into the prompt. */
const SCHEMA_FIELDS: ReadonlySet<string> = new Set(["tools", "functions", "response_format"]);

/** Structural fields, not part of the prompt's text. */
const STRUCTURE_FIELDS: ReadonlySet<string> = new Set(["role", "type"]);

/** Measures the prompt of a chat completion request, see `PromptSize`. */
export function measurePrompt(
  body: JsonBody,
  messages: readonly Readonly<Record<string, unknown>>[],
): PromptSize {
  let textBytes = 0;
  let visibleTextBytes = 0;
  let predictionBytes = 0;
  let hasMedia = body.members.some(({ key }) => key === "chat_template");
  for (const message of messages) {
    textBytes += countText(message, "content");
    const { content, role } = message;
    for (const part of Array.isArray(content) ? content : [content]) {
      if (role !== "assistant") visibleTextBytes = addVisible(visibleTextBytes, part);
      if (isJsonObject(part) && !TEXT_PARTS.has(part["type"])) hasMedia = true;
      else textBytes += countText(part);
    }
  }
  for (const { key, valueStart, valueEnd } of body.members) {
    if (key === "prediction") predictionBytes += Buffer.byteLength(body.text.slice(valueStart, valueEnd));
    if (SCHEMA_FIELDS.has(key)) textBytes += Buffer.byteLength(body.text.slice(valueStart, valueEnd));
  }
  return {
    textBytes,
    visibleTextBytes,
    messages: messages.length,
    hasMedia,
    hasTools: hasTools(body.value),
    predictionBytes,
    isWhole: !hasMedia && body.members.every(({ key }) => isWholeField("chat", key)),
  };
}

function addVisible(counted: number, part: unknown): number {
  const text = isJsonObject(part) && part["type"] === "text" ? part["text"] : part;
  return typeof text === "string" ? addVisibleBytes(counted, text) : counted;
}

/** Counts the UTF-8 bytes of all strings in a value: arguments and names of tool calls, refusals, reasoning. */
function countText(value: unknown, skippedKey?: string): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  // `findMembers` has bounded the nesting.
  if (Array.isArray(value)) return value.reduce<number>((sum, entry) => sum + countText(entry), 0);
  if (!isJsonObject(value)) return 0;
  let bytes = 0;
  for (const [key, entry] of Object.entries(value)) {
    if (key !== skippedKey && !STRUCTURE_FIELDS.has(key)) bytes += countText(entry);
  }
  return bytes;
}

function hasTools({ tools, functions }: Readonly<Record<string, unknown>>): boolean {
  return [tools, functions].some((list) => Array.isArray(list) && list.length > 0);
}
