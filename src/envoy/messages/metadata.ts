/** Fields of the access log that Envoy does not know, as ext_proc's dynamic metadata. */
import type { Header } from "../../data-path/exchange/reply.ts";
import type { RefusalLog } from "../../data-path/exchange/admission/decision.ts";
import type { UpstreamCall } from "../../data-path/exchange/upstream/upstream-call.ts";
import type { Admission } from "../../data-path/limits/admission.ts";
import { METADATA_NAMESPACE } from "../names.ts";
import type { Message } from "./messages.ts";

/** Formats the access log's fields of a request that ext_authz rejects, for ext_authz's own metadata. */
export function formatRefusalMetadata({ keyId, organizationId, errorCode }: RefusalLog): Message<"Struct"> {
  const known = { key_id: keyId, organization_id: organizationId, error_code: errorCode };
  const fields: Record<string, { stringValue: string }> = {};
  for (const [name, value] of Object.entries(known)) {
    if (value !== null) fields[name] = { stringValue: value };
  }
  return { fields };
}

/** Formats the state of a key's bucket by header names, for Envoy's own responses. */
export function formatRateMetadata(rateHeaders: readonly Header[]): Message<"Struct"> {
  return { fields: formatRate(rateHeaders) };
}

function formatRate(rateHeaders: readonly Header[]): Record<string, { stringValue: string }> {
  const fields: Record<string, { stringValue: string }> = {};
  for (const [name, value] of rateHeaders) fields[name] = { stringValue: value };
  return fields;
}

/** Formats the access log's fields of a request that ext_proc rejects, because its admission was deferred. */
export function formatLateRefusalMetadata(log: RefusalLog): Message<"Struct"> {
  return { fields: { [METADATA_NAMESPACE]: { structValue: formatRefusalMetadata(log) } } };
}

interface SentOnce {
  readonly admission: { readonly caller: Pick<Admission["caller"], "keyId" | "organizationId"> };
  /** State of the key's bucket if ext_authz did not know it. */
  readonly lateHeaders: readonly Header[];
}

/**
 * Formats fields of the access log, by name; missing ones stay empty. Envoy merges later metadata into
 * earlier, so each field is sent once: the request's owner at routing, since a request may be broken off, and
 * the rest at its end.
 * @param request Null if it was sent before, with the model.
 */
export function formatMetadata(
  request: SentOnce | null,
  exchange: Pick<UpstreamCall, "modelId" | "settled"> | null,
  errorCode: string | null = null,
): Message<"Struct"> {
  const fields: Record<string, { stringValue: string } | { numberValue: number }> =
    request === null ? {} : formatRate(request.lateHeaders);
  if (request !== null) {
    const { keyId, organizationId } = request.admission.caller;
    fields["key_id"] = { stringValue: keyId };
    fields["organization_id"] = { stringValue: organizationId };
    const model = exchange?.modelId ?? null;
    if (model !== null) fields["model"] = { stringValue: model };
  }
  if (errorCode !== null) fields["error_code"] = { stringValue: errorCode };
  const settled = exchange?.settled ?? null;
  if (settled !== null) {
    fields["input_tokens"] = { numberValue: settled.tokens.inputTokens };
    fields["cached_input_tokens"] = { numberValue: settled.tokens.cachedInputTokens };
    fields["output_tokens"] = { numberValue: settled.tokens.outputTokens };
    fields["cost_microcents"] = { stringValue: String(settled.costMicrocents) };
  }
  return { fields: { [METADATA_NAMESPACE]: { structValue: { fields } } } };
}
