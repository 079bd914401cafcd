/**
 * What a server wants back with the calls of its answer, or with its text, so that the model goes on with its own reasoning (Gemini refuses
 * a call without its thought signature), packed for the client to carry as reasoning that it cannot read: `gw2.` and the
 * base64url of a zlib stream of JSON. It is no secret and no proof: who sends chat completions could send the same.
 */
import { isJsonObject, type JsonObject, toArray } from "../../../shared/text/json-object.ts";
import { formatJson } from "../json/exact-json.ts";
import { tryParseJsonText } from "../json/parse-json-text.ts";
import { CALL_PREFIX, MAX_CARRIED_BYTES, packText, type ReasoningUnpacker } from "./carried-reasoning.ts";
import type { CallCarrierPart, CallFields, CarriedCall } from "./parts.ts";

/** Null: the call has none. */
export function readCallFields(call: JsonObject): CallFields | null {
  const { extra_content: extra, provider_specific_fields: specific } = call;
  if (!isJsonObject(extra) && !isJsonObject(specific)) return null;
  return {
    extra_content: isJsonObject(extra) ? extra : undefined,
    provider_specific_fields: isJsonObject(specific) ? specific : undefined,
  };
}

/**
 * What a message has beside its text and calls: Gemini's signature of the text, and LiteLLM's name of it. Null: nothing.
 * Nothing of LiteLLM's other fields is to be given back.
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

/** Null: it is too much to be carried. */
export function packCall({ model, callId, fields, details, blocks }: CarriedCall): string | null {
  const bytes = Buffer.from(formatJson({ model, call: callId, fields, details, blocks }), "utf8");
  return bytes.byteLength > MAX_CARRIED_BYTES ? null : packText(CALL_PREFIX, bytes);
}

/** Null: it is none, broken, or too much. Never an error. */
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
