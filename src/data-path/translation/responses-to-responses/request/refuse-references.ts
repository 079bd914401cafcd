import { isJsonObject, type JsonObject, toArray } from "../../../../shared/text/json-object.ts";
import { unsupportedField } from "../../json/field-error.ts";
import { eachElement, findMembers } from "../../json/object-spans.ts";
import type { JsonBody } from "../../json/parse-body.ts";
import { refuseAmbiguousKeys } from "../../openai/request-fields.ts";

/** Fields that may hold items; old clients send a list as `instructions`. */
const ITEM_FIELDS: ReadonlySet<string> = new Set(["input", "instructions"]);

/** What tells an item from a reference to one, so it must not be read in two ways. */
const TELLING_FIELDS: ReadonlySet<string> = new Set(["type", "id", "role", "content"]);

/** What an item may have without saying anything itself. */
const EMPTY_FIELDS: ReadonlySet<string> = new Set(["type", "id", "role", "status", "object"]);

/**
 * An item by its id is one that the upstream stored, whoever's it was.
 * @throws GatewayError 400 saying what to send instead.
 */
export function refuseReferences({ text, value, members }: JsonBody): void {
  for (const { key, valueStart } of members) {
    if (!ITEM_FIELDS.has(key)) continue;
    refuseTwoReadings(text, valueStart, key);
    const field = value[key];
    // A lenient server may take an item for a list of one.
    if (isReference(field)) throw refuseReference(key);
    const index = toArray(field).findIndex(isReference);
    if (index !== -1) throw refuseReference(`${key}[${index}]`);
  }
}

function refuseTwoReadings(text: string, start: number, field: string): void {
  let index = 0;
  for (const element of eachElement(text, start)) {
    const members = findMembers(text, element.start) ?? [];
    refuseAmbiguousKeys({ members }, TELLING_FIELDS, `${field}[${index}].`);
    index += 1;
  }
}

/** The type may be left out: of a message, which has a role and content, and of a reference, which has nothing but its id. */
function isReference(item: unknown): boolean {
  if (!isJsonObject(item)) return false;
  const { type, id } = item;
  if (typeof type === "string" && isReferenceType(type)) return true;
  if (id === undefined || id === null) return false;
  const isTyped = typeof type === "string" && type !== "";
  return isTyped ? Object.keys(item).every((key) => EMPTY_FIELDS.has(key)) : !isWholeMessage(item);
}

/** Whatever letters it has: nobody knows how a server compares them. */
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
