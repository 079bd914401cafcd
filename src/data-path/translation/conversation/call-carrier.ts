/**
 * Packs data that a server requires back with its calls or text, so that the model continues its own reasoning (Gemini
 * rejects a call without its thought signature). The client carries it as opaque reasoning: `gw2.` and the base64url
 * of a zlib stream of JSON. It is neither secret nor authenticated: clients of chat completions can send the same
 * fields.
 */
import { isJsonObject, type JsonObject, toArray } from "../../../shared/text/json-object.ts";
import { formatJson } from "../json/exact-json.ts";
import { tryParseJsonText } from "../json/parse-json-text.ts";
import { CALL_PREFIX, MAX_CARRIED_BYTES, packText, type ReasoningUnpacker } from "./carried-reasoning.ts";
import type { CallCarrierPart, CallFields, CarriedCall } from "./parts.ts";

/** Reads the fields that a server requires back with a call. Returns null if the call has none. */
export function readCallFields(call: JsonObject): CallFields | null {
  const { extra_content: extra, provider_specific_fields: specific } = call;
  if (!isJsonObject(extra) && !isJsonObject(specific)) return null;
  return {
    extra_content: isJsonObject(extra) ? extra : undefined,
    provider_specific_fields: isJsonObject(specific) ? specific : undefined,
  };
}

/**
 * Reads the fields of a message other than its text and calls: Gemini's text signature, and LiteLLM's name for it.
 * LiteLLM's other fields need not be sent back. Returns null if there are none.
 */
export function readMessageFields(message: JsonObject): CallFields | null {
  const { extra_content: extra, provider_specific_fields: specific } = message;
  if (!isJsonObject(extra) && !isJsonObject(specific)) return null;
  const signatures = isJsonObject(specific) ? specific["thought_signatures"] : undefined;
  return readCallFields({
    extra_content: extra,
    provider_specific_fields: Array.isArray(signatures) ? { thought_signatures: signatures } : undefined,
  });
}

/** Packs a call's fields. Returns null if they exceed the carrier limit. */
export function packCall({ model, callId, fields, details, blocks }: CarriedCall): string | null {
  const bytes = Buffer.from(formatJson({ model, call: callId, fields, details, blocks }), "utf8");
  return bytes.byteLength > MAX_CARRIED_BYTES ? null : packText(CALL_PREFIX, bytes);
}

/** Returns null if it is not a carrier, damaged, or too large. Never throws. */
export function unpackCall(carrier: unknown, unpacker: ReasoningUnpacker): CallCarrierPart | null {
  if (typeof carrier !== "string" || !carrier.startsWith(CALL_PREFIX)) return null;
  const carried = tryParseJsonText(unpacker.unpack(carrier, CALL_PREFIX));
  if (!isJsonObject(carried)) return null;
  const { model, call: callId, fields, details, blocks } = carried;
  if (typeof model !== "string" || (typeof callId !== "string" && callId !== null)) return null;
  return {
    kind: "call_carrier",
    model,
    callId,
    fields: isJsonObject(fields) ? readCallFields(fields) : null,
    details: toArray(details).filter(isJsonObject),
    blocks: toArray(blocks).filter(isJsonObject),
  };
}
