import type { Gate } from "./wait.ts";

/** Sent as it stands, or a gate that the test must release before the answer goes on. */
export type Piece = string | Uint8Array | Gate;

interface AnswerHead {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Time or gate before the status line is sent. */
  readonly before?: number | Gate;
}

/** How one request is answered. */
export type ScriptedAnswer =
  /** The default: repeats the last user message, streamed when asked to, with exact usage. */
  | { readonly kind: "echo" }
  | (AnswerHead & { readonly kind: "json"; readonly body: unknown; readonly gzip?: boolean })
  /** SSE: objects become `data: {…}` events; `done` (default true) ends with `data: [DONE]`. */
  | (AnswerHead & {
      readonly kind: "events";
      readonly events: readonly (object | Gate)[];
      readonly done?: boolean;
      readonly gzip?: boolean;
      readonly ending?: "end" | "reset" | "hang";
    })
  /** Each piece is written by itself and has left the process before the next one follows. */
  | (AnswerHead & {
      readonly kind: "bytes";
      readonly pieces: readonly Piece[];
      /** What the pieces report, as soon as all of them are sent. */
      readonly usage?: ReportedUsage;
      readonly ending?: "end" | "reset" | "hang";
    })
  /** Reads the request and never answers. */
  | { readonly kind: "hang" }
  /** Reads the request and cuts the connection in the first line of its answer. */
  | { readonly kind: "reset" };

/** Token counts as an upstream reports them: `promptTokens` includes the cached ones. */
export interface ReportedUsage {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
}

/** The last usage among what was sent, or null. */
export function readReportedUsage(bodies: readonly unknown[]): ReportedUsage | null {
  let reported: ReportedUsage | null = null;
  for (const body of bodies) {
    const usage = (body as { usage?: Record<string, unknown> | null } | null)?.usage;
    if (usage === undefined || usage === null) continue;
    const details = usage["prompt_tokens_details"] as { cached_tokens?: number } | null | undefined;
    reported = {
      promptTokens: Number(usage["prompt_tokens"] ?? 0),
      cachedTokens: details?.cached_tokens ?? 0,
      completionTokens: Number(usage["completion_tokens"] ?? 0),
    };
  }
  return reported;
}

export function isGate(piece: unknown): piece is Gate {
  return typeof piece === "object" && piece !== null && "isGate" in piece;
}

/** A chat completion chunk with one text delta, as most servers send it. */
export function textChunk(content: string, fields: object = {}): object {
  return {
    id: "chatcmpl-scripted",
    object: "chat.completion.chunk",
    created: 1_790_000_000,
    model: "scripted",
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
    ...fields,
  };
}

/** The chunk that carries the finish reason. */
export function finishChunk(finishReason = "stop", fields: object = {}): object {
  return textChunk("", { choices: [{ index: 0, delta: {}, finish_reason: finishReason }], ...fields });
}

/** The chunk after the last choice: only usage. */
export function usageChunk(usage: ReportedUsage): object {
  return textChunk("", { choices: [], usage: formatUsage(usage) });
}

/** A whole chat completion. */
export function textCompletion(content: string, usage: ReportedUsage | null, fields: object = {}): object {
  return {
    id: "chatcmpl-scripted",
    object: "chat.completion",
    created: 1_790_000_000,
    model: "scripted",
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    ...(usage === null ? {} : { usage: formatUsage(usage) }),
    ...fields,
  };
}

function formatUsage(usage: ReportedUsage): object {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens },
  };
}

/** An error body in the OpenAI shape. */
export function openaiError(message: string, fields: object = {}): object {
  return { error: { message, type: "invalid_request_error", param: null, code: null, ...fields } };
}
