/**
 * Summaries that replace the beginning of a conversation that has become too long. The model writes the summary as an
 * answer; the client carries it as `gw3.` and the base64url of a zlib stream, and sends it in place of the messages
 * that it summarizes. It is neither secret nor authenticated: a client could send the same as text.
 */
import { unsupportedField, quote } from "../json/field-error.ts";
import { MAX_CARRIED_BYTES, packText, type ReasoningUnpacker, SUMMARY_PREFIX } from "./carried-reasoning.ts";

/** Last message of a conversation that is to be summarized. */
export const SUMMARY_PROMPT = `The context window is nearly full: all that stands above is about to be replaced by what you write now. Write a summary from which another model can go on with the task without having seen the rest. Say:

- what the user wants, with every constraint and preference;
- what was done and decided so far, and why;
- what is still needed, exactly as it is: files, commands, names, values, results, errors;
- what is left to do, the next step first.

Write the summary alone: no greeting, no question, no call of a tool.`;

/** Types of items that carry a summary. */
export const SUMMARY_ITEMS: ReadonlySet<string> = new Set(["compaction", "compaction_summary"]);

/** Introduces the summary for the model. */
export function introduceSummary(summary: string): string {
  return INTRODUCTION + summary;
}

const INTRODUCTION = "The conversation up to here was replaced by this summary of it:\n\n";

/** Returns null if the summary exceeds the carrier limit. @param summary UTF-8. */
export function packSummary(summary: Uint8Array): string | null {
  return summary.byteLength > MAX_CARRIED_BYTES ? null : packText(SUMMARY_PREFIX, summary);
}

/**
 * Unpacks a summary and introduces it for the model.
 * @throws GatewayError 400 if it is damaged or another gateway's: without it the conversation would be silently lost.
 */
export function readSummary(
  carrier: unknown,
  {
    type,
    path,
    unpacker,
  }: { readonly type: string; readonly path: string; readonly unpacker: ReasoningUnpacker },
): string {
  const summary = typeof carrier === "string" ? unpacker.unpack(carrier, SUMMARY_PREFIX) : "";
  if (summary !== "") return introduceSummary(summary);
  throw unsupportedField(
    path,
    `a ${quote(type)} item can only be read, and only whole, by the model server that created it; send the conversation itself`,
  );
}
