/** Replies that are the same for many requests: encoded once. */
import type { ProcessingResponse } from "./generated/envoy/service/ext_proc/v3/ProcessingResponse.ts";

const BYTES = new WeakMap<ProcessingResponse, readonly Buffer[] | null>();

/** Marks an immutable reply; the bytes of its first use serve all later ones. */
export function constantReply(reply: ProcessingResponse): ProcessingResponse {
  BYTES.set(reply, null);
  return reply;
}

/** Calls `encode`, or returns its earlier result for the same constant reply. */
export function encodeOnce(
  reply: ProcessingResponse,
  encode: (reply: ProcessingResponse) => readonly Buffer[],
): readonly Buffer[] {
  const known = BYTES.get(reply);
  if (known === undefined) return encode(reply);
  if (known !== null) return known;
  const bytes = encode(reply);
  BYTES.set(reply, bytes);
  return bytes;
}
