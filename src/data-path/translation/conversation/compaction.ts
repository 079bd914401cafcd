/**
 * A conversation that has become too long goes on from a summary of it. The model writes it, as any answer; the client
 * carries it as `gw3.` and the base64url of a zlib stream, and gives it back in the place of what it stands for. It is no
 * secret and no proof: a client could send the same as text.
 */
import { unsupportedField, quote } from "../json/field-error.ts";
import { MAX_CARRIED_BYTES, packText, type ReasoningUnpacker, SUMMARY_PREFIX } from "./carried-reasoning.ts";

/** The last message of a conversation that is to be summed up. */
export const SUMMARY_PROMPT = `The context window is nearly full: all that stands above is about to be replaced by what you write now. Write a summary from which another model can go on with the task without having seen the rest. Say:

- what the user wants, with every constraint and preference;
- what was done and decided so far, and why;
- what is still needed, exactly as it is: files, commands, names, values, results, errors;
- what is left to do, the next step first.

Write the summary alone: no greeting, no question, no call of a tool.`;

/** Types of items that carry one. */
export const SUMMARY_ITEMS: ReadonlySet<string> = new Set(["compaction", "compaction_summary"]);

/** What the model reads in the place of what was summed up. */
export function introduceSummary(summary: string): string {
  return INTRODUCTION + summary;
}

const INTRODUCTION = "The conversation up to here was replaced by this summary of it:\n\n";

/** @param summary UTF-8. Null: it is too much to be carried. */
export function packSummary(summary: Uint8Array): string | null {
  return summary.byteLength > MAX_CARRIED_BYTES ? null : packText(SUMMARY_PREFIX, summary);
}

/**
 * What the model reads in the place of what was summed up.
 * @throws GatewayError 400 where it is another maker's, or damaged: without it the conversation would be lost silently.
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
