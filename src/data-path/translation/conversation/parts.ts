/**
 * A conversation between the two protocols: validated, free of wire details, and independent of the model's profile,
 * so that checking, measuring and translating share one parse of the body.
 */
import type { JsonObject } from "../../../shared/text/json-object.ts";

export interface TextPart {
  readonly kind: "text";
  /** Never empty. */
  readonly text: string;
}

export interface ImagePart {
  readonly kind: "image";
  /** `https:` or `data:`; the gateway never fetches it. */
  readonly url: string;
  /** Level of detail, if the client set one: `low`, `high`. */
  readonly detail?: string | undefined;
  /** Place in the client's body, for errors that depend on the model's profile. */
  readonly path: string;
}

export interface FilePart {
  readonly kind: "file";
  /** Undefined if the client sent none. */
  readonly filename: string | undefined;
  /** A `data:` URL. */
  readonly data: string;
  readonly path: string;
}

export type MediaPart = ImagePart | FilePart;

/** Content of a document, a search result or a tool result. */
export type TextOrMedia = TextPart | MediaPart;

export interface ToolResultPart {
  readonly kind: "tool_result";
  readonly toolUseId: string;
  /** Content of the tool message, joined to one string. */
  readonly text: string;
  /** Media for the following user message, because the tool role only accepts text. */
  readonly media: readonly MediaPart[];
}

export interface ToolUsePart {
  readonly kind: "tool_use";
  readonly id: string;
  readonly name: string;
  /** Input as JSON text. */
  readonly arguments: string;
}

export interface ThinkingPart {
  readonly kind: "thinking";
  readonly thinking: string;
}

/** Extra fields of a call or a message: Gemini's, and LiteLLM's name for them. */
export interface CallFields {
  readonly extra_content: JsonObject | undefined;
  readonly provider_specific_fields: JsonObject | undefined;
}

export interface CarriedCall {
  /** Catalog id. Data of one model is never sent to another model's server. */
  readonly model: string;
  /** The client's id of the call; null: the data belongs to the whole message. */
  readonly callId: string | null;
  readonly fields: CallFields | null;
  /** OpenRouter's `reasoning_details` before the call. */
  readonly details: readonly JsonObject[];
  /** LiteLLM's `thinking_blocks` before the call. */
  readonly blocks: readonly JsonObject[];
}

/** Data that the server of `model` requires back with a call of the same turn, or with its text. */
export interface CallCarrierPart extends CarriedCall {
  readonly kind: "call_carrier";
}

/** Marks a dropped block or a boundary between merged messages: the texts around it are separate paragraphs. */
export interface GapPart {
  readonly kind: "gap";
}

export type UserPart = TextPart | MediaPart | ToolResultPart;
export type AssistantPart = TextPart | ToolUsePart | ThinkingPart | CallCarrierPart | GapPart;

/** One message of the client's list with converted blocks. */
export type ParsedMessage =
  | { readonly role: "user"; readonly parts: readonly UserPart[] }
  | { readonly role: "assistant"; readonly parts: readonly AssistantPart[] }
  | { readonly role: "system"; readonly text: string };

/** Consecutive messages of one role, merged. `system` turns only exist if the profile keeps them. */
export type Turn =
  | { readonly role: "user"; readonly parts: UserPart[] }
  | { readonly role: "assistant"; readonly parts: AssistantPart[] }
  | { readonly role: "system"; readonly text: string };

/**
 * Returns whether an assistant message has only gaps and carriers. It is then no turn, and its carriers belong to
 * the next one.
 */
export function isNoTurn(parts: readonly AssistantPart[]): boolean {
  return parts.every(({ kind }) => kind === "gap" || kind === "call_carrier");
}

/** Separator of texts that are separate parts. */
export const PARAGRAPH = "\n\n";

/** Creates a text part; an empty list for an empty text. */
export function createTextParts(text: string): TextPart[] {
  return text === "" ? [] : [{ kind: "text", text }];
}

/** Points the model to the media, because the tool role only accepts text. */
export const ATTACHED = "[The result is attached in the next message.]";

/** Creates a tool result: joins its texts and collects its media. */
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
