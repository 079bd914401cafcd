import { editBytes } from "../json/edit-bytes.ts";
import { applyEdits, type Edit } from "../json/object-spans.ts";
import type { JsonBody } from "../json/parse-body.ts";
import { formatStreamOptions } from "./stream-options.ts";

export interface UpstreamBodyOptions {
  /** The upstream's own name. */
  readonly model: string;
  /** How usage is wished for in a stream; null: no stream was asked for. */
  readonly stream: { readonly isContinuous: boolean } | null;
}

/** A client's body with the upstream's name of the model and the wish for usage; every other character stays. */
export function createUpstreamBody(
  { text, bytes, members }: JsonBody,
  { model, stream }: UpstreamBodyOptions,
): Uint8Array {
  const edits: Edit[] = [];
  if (stream !== null && !members.some(({ key }) => key === "stream_options")) {
    const start = members[0]?.start ?? 0;
    const replacement = `"stream_options":${formatStreamOptions(null, stream.isContinuous)},`;
    edits.push({ start, end: start, replacement });
  }
  for (const { key, valueStart, valueEnd } of members) {
    if (key === "model") {
      edits.push({ start: valueStart, end: valueEnd, replacement: JSON.stringify(model) });
    } else if (key === "stream_options" && stream !== null) {
      const replacement = formatStreamOptions(text.slice(valueStart, valueEnd), stream.isContinuous);
      edits.push({ start: valueStart, end: valueEnd, replacement });
    }
  }
  return bytes === null ? Buffer.from(applyEdits(text, edits), "utf8") : editBytes(bytes, text, edits);
}
