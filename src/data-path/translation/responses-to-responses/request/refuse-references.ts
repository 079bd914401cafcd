import { isJsonObject, type JsonObject, toArray } from "../../../../shared/text/json-object.ts";
import { unsupportedField } from "../../json/field-error.ts";
import { eachElement, findMembers } from "../../json/object-spans.ts";
import type { JsonBody } from "../../json/parse-body.ts";
import { refuseAmbiguousKeys } from "../../openai/request-fields.ts";

/** Fields that may contain items; old clients send a list as `instructions`. */
const ITEM_FIELDS: ReadonlySet<string> = new Set(["input", "instructions"]);

/** Fields that distinguish an item from a reference, so they must not be ambiguous. */
const DISTINGUISHING_FIELDS: ReadonlySet<string> = new Set(["type", "id", "role", "content"]);

/** Fields that are not content. */
const EMPTY_FIELDS: ReadonlySet<string> = new Set(["type", "id", "role", "status", "object"]);

/**
 * Rejects references to stored items, which the upstream resolves regardless of who stored them.
 * @throws GatewayError 400 naming the alternative.
 */
export function refuseReferences({ text, value, members }: JsonBody): void {
  for (const { key, valueStart } of members) {
    if (!ITEM_FIELDS.has(key)) continue;
    refuseTwoReadings(text, valueStart, key);
    const field = value[key];
    // A lenient server may accept an item in place of a list.
    if (isReference(field)) throw refuseReference(key);
    const index = toArray(field).findIndex(isReference);
    if (index !== -1) throw refuseReference(`${key}[${index}]`);
  }
}

function refuseTwoReadings(text: string, start: number, field: string): void {
  let index = 0;
  for (const element of eachElement(text, start)) {
    const members = findMembers(text, element.start) ?? [];
    refuseAmbiguousKeys({ members }, DISTINGUISHING_FIELDS, `${field}[${index}].`);
    index += 1;
  }
}

/** The type is optional for messages, which have a role and content, and for references, which have only an id. */
function isReference(item: unknown): boolean {
  if (!isJsonObject(item)) return false;
  const { type, id } = item;
  if (typeof type === "string" && isReferenceType(type)) return true;
  if (id === undefined || id === null) return false;
  const isTyped = typeof type === "string" && type !== "";
  return isTyped ? Object.keys(item).every((key) => EMPTY_FIELDS.has(key)) : !isWholeMessage(item);
}

/** Ignores case and separators, because servers may do so. */
function isReferenceType(type: string): boolean {
  return /^\s*item[\s_-]*reference\s*$/i.test(type);
}

function isWholeMessage({ role, content }: JsonObject): boolean {
  return typeof role === "string" && (typeof content === "string" || Array.isArray(content));
}

function refuseReference(path: string): Error {
  return unsupportedField(
    path,
    "this gateway doesn't store responses; send the whole item (in the Vercel AI SDK: `providerOptions.openai.store = false`)",
  );
}
