/**
 * A conversation between the two protocols: checked, free of wire details, and independent of the model's profile,
 * so that one reading of the body serves the check, the measure and the translation.
 */
import type { JsonObject } from "../../../shared/text/json-object.ts";

export interface TextPart {
  readonly kind: "text";
  /** Never empty. */
  readonly text: string;
}

export interface ImagePart {
  readonly kind: "image";
  /** `https:` or `data:`; never fetched here. */
  readonly url: string;
  /** How closely it is to be looked at, where the client says so: `low`, `high`. */
  readonly detail?: string | undefined;
  /** Its place in the client's body, for an error that only the model's profile decides. */
  readonly path: string;
}

export interface FilePart {
  readonly kind: "file";
  /** Undefined where the client gives it none. */
  readonly filename: string | undefined;
  /** A `data:` URL. */
  readonly data: string;
  readonly path: string;
}

export type MediaPart = ImagePart | FilePart;

/** A document, a search result or a tool's result may hold both. */
export type TextOrMedia = TextPart | MediaPart;

export interface ToolResultPart {
  readonly kind: "tool_result";
  readonly toolUseId: string;
  /** What the tool message says: a string, however many blocks it was. */
  readonly text: string;
  /** The tool role takes text only: these go into the user message that follows. */
  readonly media: readonly MediaPart[];
}

export interface ToolUsePart {
  readonly kind: "tool_use";
  readonly id: string;
  readonly name: string;
  /** The input as JSON text. */
  readonly arguments: string;
}

export interface ThinkingPart {
  readonly kind: "thinking";
  readonly thinking: string;
}

/** What a call itself, or a message, may have beside what it says: Gemini's, and LiteLLM's name of it. */
export interface CallFields {
  readonly extra_content: JsonObject | undefined;
  readonly provider_specific_fields: JsonObject | undefined;
}

export interface CarriedCall {
  /** Catalog id: another model's server gets nothing of it. */
  readonly model: string;
  /** The id by which the client knows the call; null: it belongs to the message as a whole. */
  readonly callId: string | null;
  readonly fields: CallFields | null;
  /** OpenRouter's `reasoning_details` before the call. */
  readonly details: readonly JsonObject[];
  /** LiteLLM's `thinking_blocks` before the call. */
  readonly blocks: readonly JsonObject[];
}

/** What the server of `model` wants back with a call of the same turn, or with its text. */
export interface CallCarrierPart extends CarriedCall {
  readonly kind: "call_carrier";
}

/** Stands where a block was dropped or two messages were merged: the texts on its sides are not one sentence. */
export interface GapPart {
  readonly kind: "gap";
}

export type UserPart = TextPart | MediaPart | ToolResultPart;
export type AssistantPart = TextPart | ToolUsePart | ThinkingPart | CallCarrierPart | GapPart;

/** One message of the client's list, its blocks translated. */
export type ParsedMessage =
  | { readonly role: "user"; readonly parts: readonly UserPart[] }
  | { readonly role: "assistant"; readonly parts: readonly AssistantPart[] }
  | { readonly role: "system"; readonly text: string };

/** Consecutive messages of one role, merged. A `system` turn exists only where the profile keeps them. */
export type Turn =
  | { readonly role: "user"; readonly parts: UserPart[] }
  | { readonly role: "assistant"; readonly parts: AssistantPart[] }
  | { readonly role: "system"; readonly text: string };

/** Whether an assistant's message with these parts is no turn: what it has, if anything, belongs to the next one. */
export function isNoTurn(parts: readonly AssistantPart[]): boolean {
  return parts.every(({ kind }) => kind === "gap" || kind === "call_carrier");
}

/** What stands between texts that are parts of their own. */
export const PARAGRAPH = "\n\n";

/** A text part, or nothing for an empty text. */
export function createTextParts(text: string): TextPart[] {
  return text === "" ? [] : [{ kind: "text", text }];
}

/** Tells the model where to look: the tool role takes text only. */
export const ATTACHED = "[The result is attached in the next message.]";

/** What a tool returned: its texts are one, its media stand apart. */
export function createToolResult(toolUseId: string, content: readonly TextOrMedia[]): ToolResultPart {
  const texts: string[] = [];
  const media: MediaPart[] = [];
  for (const part of content) {
    if (part.kind === "text") texts.push(part.text);
    else media.push(part);
  }
  const text = texts.length === 0 && media.length > 0 ? ATTACHED : texts.join("\n");
  return { kind: "tool_result", toolUseId, text, media };
}
