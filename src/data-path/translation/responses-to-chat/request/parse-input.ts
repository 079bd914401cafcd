import { answerCalls, formatToolOutput } from "../../conversation/answer-calls.ts";
import { unpackCall } from "../../conversation/call-carrier.ts";
import { ReasoningUnpacker, isOwnCarrier } from "../../conversation/carried-reasoning.ts";
import { readSummary, SUMMARY_ITEMS } from "../../conversation/compaction.ts";
import { PARAGRAPH, type ParsedMessage, type UserPart } from "../../conversation/parts.ts";
import { invalidField, missingField, quote, unsupportedField } from "../../json/field-error.ts";
import type { ToolTable } from "../tool-table.ts";
import {
  parseCallOutput,
  parseCustomCall,
  parseFunctionCall,
  parseToolSearchCall,
  parseToolSearchOutput,
} from "./call-items.ts";
import { readOptionalString } from "../../json/read-field.ts";
import { parseAgentContent, parseContent, readTexts } from "./content-parts.ts";
import { type Item, TRIGGER } from "./items.ts";
import { isJsonObject } from "../../../../shared/text/json-object.ts";

/** Items of work by OpenAI's servers in an earlier turn. The text after them contains the result. */
const HOSTED_ITEMS =
  /^(?:web_search_call|file_search_call|code_interpreter_call|image_generation_call|mcp_.+)$/;

/** Parts that are no content by themselves. */
const SILENT_PARTS: ReadonlySet<string> = new Set(["thinking", "call_carrier", "gap"]);

interface Context {
  readonly table: ToolTable;
  readonly unpacker: ReasoningUnpacker;
  /** Unpacks summaries, with a budget separate from reasoning. */
  readonly summaries: ReasoningUnpacker;
}

/**
 * Parses the items one by one; `order-turns.ts` orders them.
 * @throws GatewayError 400, also if only system text is left.
 */
export function parseInput(items: readonly Item[], table: ToolTable): ParsedMessage[] {
  const context = { table, unpacker: new ReasoningUnpacker(), summaries: new ReasoningUnpacker() };
  const messages = dropLoneReasoning(items.flatMap((item) => parseItem(item, context)));
  if (!messages.some(hasContent)) {
    throw invalidField("input", "at least one message with content is required");
  }
  return answerCalls(messages);
}

function parseItem(item: Item, context: Context): ParsedMessage[] {
  switch (item.type) {
    case "message":
      return [parseMessage(item)];
    case "function_call":
      return [{ role: "assistant", parts: [parseFunctionCall(item, context.table)] }];
    case "custom_tool_call":
      return [{ role: "assistant", parts: [parseCustomCall(item, context.table)] }];
    case "function_call_output":
    case "custom_tool_call_output":
      return [{ role: "user", parts: parseOutput(item) }];
    case "agent_message":
      return [{ role: "user", parts: parseAgentContent(item) }];
    case "tool_search_call":
      if (isServerSide(item)) return [];
      return [{ role: "assistant", parts: [parseToolSearchCall(item, context.table)] }];
    case "tool_search_output":
      return isServerSide(item) ? [] : [{ role: "user", parts: [parseToolSearchOutput(item)] }];
    case "reasoning":
      return parseReasoning(item, context);
    case "item_reference":
      return parseReference(item);
    // Its tools are declared before the items are parsed.
    case "additional_tools":
      return [];
    default:
      if (SUMMARY_ITEMS.has(item.type)) return parseSummary(item, context);
      if (HOSTED_ITEMS.test(item.type)) return [];
      throw refuseItem(item);
  }
}

function parseMessage({ fields, path }: Item): ParsedMessage {
  const { role, content } = fields;
  const contentPath = `${path}.content`;
  switch (role) {
    case "user":
      return { role, parts: parseContent(content, contentPath) };
    case "assistant": {
      const text = readTexts(content, contentPath).join("");
      return { role, parts: text === "" ? [] : [{ kind: "text", text }] };
    }
    case "system":
    case "developer":
      return { role: "system", text: readTexts(content, contentPath).join(PARAGRAPH) };
    case undefined:
      throw missingField(`${path}.role`);
    default:
      throw invalidField(`${path}.role`, "Input should be 'user', 'assistant', 'system' or 'developer'");
  }
}

/** Codex begins some turns (an automation, a thread that was handed over) with the output of a tool without a call. */
function parseOutput(item: Item): UserPart[] {
  const { fields, path } = item;
  if (typeof fields["call_id"] === "string" && fields["call_id"] !== "") return [parseCallOutput(item)];
  const name = readOptionalString(fields["name"], `${path}.name`);
  return formatToolOutput(name, parseContent(fields["output"] ?? "", `${path}.output`));
}

function parseReasoning(item: Item, { unpacker }: Context): ParsedMessage[] {
  const carrier = unpackCall(item.fields["encrypted_content"], unpacker);
  if (carrier !== null) return [{ role: "assistant", parts: [carrier] }];
  const thinking = readReasoningItem(item, unpacker);
  return thinking === "" ? [] : [{ role: "assistant", parts: [{ kind: "thinking", thinking }] }];
}

function parseSummary({ type, path, fields }: Item, { summaries }: Context): ParsedMessage[] {
  const text = readSummary(fields["encrypted_content"], { type, path, unpacker: summaries });
  return [{ role: "user", parts: [{ kind: "text", text }] }];
}

/**
 * The AI SDK references reasoning by default, which may be lost. A referenced answer would be lost silently, so it is
 * an error.
 */
function parseReference({ fields, path }: Item): ParsedMessage[] {
  const { id } = fields;
  if (typeof id === "string" && id.startsWith("rs_")) return [];
  throw unsupportedField(
    path,
    "this gateway doesn't store items; send the item itself (in the Vercel AI SDK: `providerOptions.openai.store = false`)",
  );
}

/** Returns whether OpenAI's server searched among deferred tools; here all tools are declared anyway. */
function isServerSide({ fields }: Item): boolean {
  return fields["execution"] === "server";
}

/** Drops assistant turns of reasoning only, whose result was removed. */
function dropLoneReasoning(messages: readonly ParsedMessage[]): ParsedMessage[] {
  const remaining: ParsedMessage[] = [];
  let turn: ParsedMessage[] = [];
  const endTurn = (): void => {
    const isAnswered = turn.some(hasContent);
    // `push(...turn)` would put every message on the call stack.
    for (const one of turn) if (isAnswered || one.role !== "assistant") remaining.push(one);
    turn = [];
  };
  for (const message of messages) {
    if (message.role !== "user") turn.push(message);
    else {
      endTurn();
      remaining.push(message);
    }
  }
  endTurn();
  return remaining;
}

function hasContent(message: ParsedMessage): boolean {
  return message.role !== "system" && message.parts.some(({ kind }) => !SILENT_PARTS.has(kind));
}

function refuseItem({ type, path }: Item): Error {
  if (type === TRIGGER) return invalidField(path, `a ${quote(type)} must be the last item of the input`);
  return unsupportedField(path, `unsupported item type ${quote(type)}`);
}

/**
 * Reads the reasoning of an earlier turn: the carried text, or the item's text, or its summary, which this gateway
 * makes of the whole text. Ignores a summary next to a foreign carrier, because it is incomplete. Never throws.
 */
function readReasoningItem({ fields }: Item, unpacker: ReasoningUnpacker): string {
  const { encrypted_content: carrier, content, summary } = fields;
  const carried = typeof carrier === "string" ? unpacker.unpack(carrier) : "";
  if (carried !== "") return carried;
  const text = joinTexts(content);
  if (text !== "") return text;
  const isForeign = typeof carrier === "string" && carrier !== "" && !isOwnCarrier(carrier);
  return isForeign ? "" : joinTexts(summary);
}

function joinTexts(list: unknown): string {
  if (!Array.isArray(list)) return "";
  return list
    .filter(isJsonObject)
    .map(({ text }) => text)
    .filter((text): text is string => typeof text === "string" && text !== "")
    .join(PARAGRAPH);
}
