import type { ModelTarget, ProtocolName } from "../client-protocol.ts";
import type { OutputLimit } from "../fields/output-limit.ts";
import { isTakenOff, refuseFields } from "../fields/refuse-fields.ts";
import { editBytes } from "../json/edit-bytes.ts";
import { applyEdits, type Edit, type MemberSpan, removeWhere } from "../json/object-spans.ts";
import type { JsonBody } from "../json/parse-body.ts";
import type { UsageWish } from "../fields/usage-wish.ts";
import { formatStreamOptions } from "./stream-options.ts";

export interface UpstreamBodyOptions {
  readonly protocol: ProtocolName;
  readonly model: Pick<ModelTarget, "id" | "upstreamModel" | "profile">;
  /** Null: no stream was asked for, or its usage comes unasked. */
  readonly stream: UsageWish | null;
  readonly limit: OutputLimit;
  readonly isStrict: boolean;
}

/**
 * A client's body with the upstream's name of the model, the wish for usage, one limit of output and no other field of
 * `cost-fields.ts`; every other character stays.
 * @throws GatewayError 400 as `refuseFields` says.
 */
export function createUpstreamBody(body: JsonBody, options: UpstreamBodyOptions): Uint8Array {
  refuseFields(body, options);
  const { protocol, limit, model } = options;
  const { text, members } = body;
  const isUnasked = model.profile.streamOptions === "drop";
  const isRemoved = ({ key }: MemberSpan) =>
    (isTakenOff(key, protocol) && !limit.names.includes(key)) || (isUnasked && key === "stream_options");
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

/** What a value becomes; null: it stays. */
function replaceValue(key: string, value: string, options: UpstreamBodyOptions): string | null {
  const { model, stream, limit } = options;
  if (key === "model") return JSON.stringify(model.upstreamModel);
  if (key === "stream_options" && stream !== null) return formatStreamOptions(value, stream.isContinuous);
  const { names, tokens } = limit;
  return tokens !== null && names.includes(key) && Number(value) !== tokens ? String(tokens) : null;
}

/** The members that the body lacks, each with the comma behind it. */
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
