import type { ModelTarget, ProtocolName } from "../client-protocol.ts";
import type { OutputLimit } from "../fields/output-limit.ts";
import { isRemovedField, refuseFields } from "../fields/refuse-fields.ts";
import { editBytes } from "../json/edit-bytes.ts";
import { applyEdits, type Edit, type MemberSpan, removeWhere } from "../json/object-spans.ts";
import type { JsonBody } from "../json/parse-body.ts";
import type { UsageRequest } from "../fields/usage-request.ts";
import { formatStreamOptions } from "./stream-options.ts";

export interface UpstreamBodyOptions {
  readonly protocol: ProtocolName;
  readonly model: Pick<ModelTarget, "id" | "upstreamModel" | "profile">;
  /** Null if no stream was requested, or the upstream always reports its usage. */
  readonly stream: UsageRequest | null;
  readonly limit: OutputLimit;
  readonly isStrict: boolean;
}

/**
 * Edits a client's body for the upstream: sets the upstream's model name, the request for usage and one output limit,
 * and removes all other fields of `cost-fields.ts`; every other character stays.
 * @throws GatewayError 400 as `refuseFields`.
 */
export function createUpstreamBody(body: JsonBody, options: UpstreamBodyOptions): Uint8Array {
  refuseFields(body, options);
  const { protocol, limit, model } = options;
  const { text, members } = body;
  const dropsStreamOptions = model.profile.streamOptions === "drop";
  const isRemoved = ({ key }: MemberSpan) =>
    (isRemovedField(key, protocol) && !limit.names.includes(key)) ||
    (dropsStreamOptions && key === "stream_options");
  const removals = removeWhere(members, isRemoved);
  const edits = members.flatMap((member): Edit[] => {
    const replacement = replaceValue(member.key, text.slice(member.valueStart, member.valueEnd), options);
    return replacement === null ? [] : [{ start: member.valueStart, end: member.valueEnd, replacement }];
  });
  const start = members[0]?.start ?? 0;
  const additions = listMissing(members, options).map((replacement) => ({ start, end: start, replacement }));
  const inOrder = [...removals, ...edits].sort((one, other) => one.start - other.start);
  return edit(body, [...additions, ...inOrder]);
}

/** Returns the new text of a value; null if it stays. */
function replaceValue(key: string, value: string, options: UpstreamBodyOptions): string | null {
  const { model, stream, limit } = options;
  if (key === "model") return JSON.stringify(model.upstreamModel);
  if (key === "stream_options" && stream !== null) return formatStreamOptions(value, stream.isContinuous);
  const { names, tokens } = limit;
  return tokens !== null && names.includes(key) && Number(value) !== tokens ? String(tokens) : null;
}

/** Lists the members that the body lacks, each with a trailing comma. */
function listMissing(members: readonly MemberSpan[], options: UpstreamBodyOptions): string[] {
  const { stream, limit } = options;
  const isMissing = (name: string) => !members.some(({ key }) => key === name);
  const missing: string[] = [];
  if (stream !== null && isMissing("stream_options")) {
    missing.push(`"stream_options":${formatStreamOptions(null, stream.isContinuous)},`);
  }
  if (limit.tokens === null) return missing;
  for (const name of limit.names) if (isMissing(name)) missing.push(`"${name}":${limit.tokens},`);
  return missing;
}

function edit({ text, bytes }: JsonBody, edits: readonly Edit[]): Uint8Array {
  return bytes === null ? Buffer.from(applyEdits(text, edits), "utf8") : editBytes(bytes, text, edits);
}
