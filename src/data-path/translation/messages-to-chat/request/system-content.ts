import { invalidField, quote } from "../../json/field-error.ts";
import { PARAGRAPH } from "../../conversation/parts.ts";
import { readName, readObject, readTyped } from "../../json/read-field.ts";
import { type Block, readText, readTexts } from "./blocks.ts";

/** A hash per request that Claude Code puts first. It is meaningless to a model and defeats its prefix cache. */
const BILLING_HEADER = "x-anthropic-billing-header";

/** Joins the system prompt, a string or text blocks, to one string. @throws GatewayError 400 */
export function parseSystemPrompt(system: unknown): string {
  if (system === undefined || system === null) return "";
  if (typeof system === "string") return system;
  return joinTexts(readTexts(system, "system"));
}

/**
 * Parses a message of role `system`: text, and changes of the tool set, which become text because every tool is
 * declared from the start.
 * @throws GatewayError 400
 */
export function parseSystemContent(content: unknown, path: string): string {
  if (content === undefined || content === null) return "";
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) throw invalidField(path, "Input should be a string or a list of text blocks");
  return joinTexts(
    content.map((value: unknown, index) => parseSystemBlock(readTyped(value, `${path}.${index}`))),
  );
}

function joinTexts(texts: readonly string[]): string {
  return texts.filter((text) => text !== "" && !text.startsWith(BILLING_HEADER)).join(PARAGRAPH);
}

function parseSystemBlock(block: Block): string {
  switch (block.type) {
    case "text":
      return readText(block);
    case "tool_addition":
      return `Tool available: ${readToolReference(block)}`;
    case "tool_removal":
      return `Tool no longer available: ${readToolReference(block)}`;
    default:
      throw invalidField(block.path, `only text blocks are allowed here, not ${quote(block.type)}`);
  }
}

function readToolReference({ fields, path }: Block): string {
  const tool = readObject(fields["tool"], `${path}.tool`);
  return readName(tool["name"] ?? tool["server_name"], `${path}.tool.name`);
}
