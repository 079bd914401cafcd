/** Replies that are the same for many requests: encoded once. */
import type { Message } from "./messages.ts";

const BYTES = new WeakMap<Message<"ProcessingResponse">, readonly Buffer[] | null>();

/** Marks an immutable reply; the bytes of its first use serve all later ones. */
export function constantReply(reply: Message<"ProcessingResponse">): Message<"ProcessingResponse"> {
  BYTES.set(reply, null);
  return reply;
}

/** Calls `encode`, or returns its earlier result for the same constant reply. */
export function encodeOnce(
  reply: Message<"ProcessingResponse">,
  encode: (reply: Message<"ProcessingResponse">) => readonly Buffer[],
): readonly Buffer[] {
  const known = BYTES.get(reply);
  if (known === undefined) return encode(reply);
  if (known !== null) return known;
  const bytes = encode(reply);
  BYTES.set(reply, bytes);
  return bytes;
}
