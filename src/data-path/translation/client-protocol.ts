/**
 * Contract between the gateway and a wire protocol: parse a client's request body once, convert it for the upstream,
 * and convert the upstream's answer back. Pure: bytes in, bytes out; nothing here knows Envoy or Redis.
 *
 * Each pair of client and upstream protocol has a directory next to this file (`chat-to-chat/`, `messages-to-chat/`, …)
 * with the same layout: `translation.ts`, `request.ts` and `answer.ts` implement the contracts below, `error-body.ts`
 * formats errors, `request/` parses and converts a body, `response/` handles a whole answer, `stream/` a streamed one.
 * Shared code: `read-request.ts` (all requests), `conversation/` (translating directories: a conversation as chat
 * messages, and its answer), `openai/` and `pass-through/` (bodies forwarded as they are), `upstream/` (lenient
 * parsing of upstream answers), `fields/` (which client fields reach the upstream), `json/` and `sse/`. `protocols.ts`
 * puts them together.
 */
import type { Steps } from "../../shared/event-loop/steps.ts";
import type { GatewayError } from "../../shared/contract/errors.ts";
import type { ModelProfile, UpstreamProtocol } from "../../shared/contract/model-profile.ts";
import type { ToolUses } from "../../shared/usage/server-tools.ts";
import type { TierField } from "../../shared/usage/service-tiers.ts";
import type { TokenUsage } from "../../shared/usage/token-usage.ts";
import type { JsonBody } from "./json/parse-body.ts";

/** The protocol of a route. It also decides the format of errors. */
export type ProtocolName = "chat" | "messages" | "responses" | "embeddings" | "completions";

/** The part of a catalog entry that a translation needs. */
export interface ModelTarget {
  /** Value of `model` in the answer: the name that the client requested, a catalog id or an alias. */
  readonly id: string;
  /** The upstream's name for the model. */
  readonly upstreamModel: string;
  /** Maximum tokens of one answer. */
  readonly maxOutputTokens: number;
  readonly profile: ModelProfile;
}

/** Contradiction between the figures of one usage report. For what is charged then, see docs/usage-fields.md. */
export type UsageContradiction =
  | "cached_above_prompt"
  | "cache_write_above_prompt"
  | "cache_write_split"
  | "audio_above_prompt"
  | "reasoning_above_output"
  | "audio_above_output"
  | "total";

/** Facts about a request that admission, reservations and routing need. */
export interface ClientRequest {
  readonly protocol: ProtocolName;
  /** Catalog id as the client wrote it. */
  readonly model: string;
  readonly stream: boolean;
  /** The client's output limit, under any of its names; null if it set no limit. */
  readonly maxOutputTokens: number | null;
  /**
   * Number of answers generated over all prompts: `n` per prompt, or `best_of` if larger; 1 in protocols without these
   * fields.
   */
  readonly choices: number;
  /** The requested service tier, spelled as in answers; null if none is requested. */
  readonly serviceTier: string | null;
  readonly tierField: TierField;
  /** Tools that the request allows the model server to run. */
  readonly serverTools: readonly RequestedTool[];
  /** Id of the client's own end user, as the client wrote it; null if absent. */
  readonly endUser: string | null;
  /** Number of prompts, each of which may fill the context window; 1 for a conversation. */
  readonly prompts: number;
  /** Tokens of prompts sent as token ids; null if there is text to estimate. */
  readonly promptTokens: number | null;
  /** Prompt size for the worst case of strict caps. Computed on call, because default caps don't need it. */
  promptSize(): PromptSize;
  /**
   * Creates the body for the upstream.
   * @param caps Strict caps require an output limit and reject fields whose cost is unknown.
   * @param affordable Upper bound in tokens for each answer's output limit; null: no bound.
   * @throws GatewayError 400 if the model's profile cannot represent the request, or the caps do not allow it.
   */
  toUpstream(model: ModelTarget, caps?: Caps, affordable?: number | null): Uint8Array;
  /** Names under which the output limit is sent to this model's upstream; empty if the protocol has no such limit. */
  limitNames(model: ModelTarget): readonly string[];
  /** Estimated bytes that stay in memory after `release`: the data that the answer needs and repeats. */
  readonly retainedBytes: number;
  /** Drops everything that the answer does not need, once the body is on its way to this model. */
  release(model: ModelTarget): void;
  /** Creates the reader of this request's answer. Call `toUpstream` with the same model first. */
  createAnswer(context: AnswerContext): Answer;
}

/** A tool that a request allows the model server to run. */
export interface RequestedTool {
  /** The tool's name in prices. */
  readonly name: string;
  /** Place in the request: "tools.0". */
  readonly param: string;
  readonly bound: ToolBound;
}

/** Maximum uses of a tool: its own limit, one shared by all tools, or no limit, with the field that would set one. */
export type ToolBound =
  | { readonly kind: "own" | "shared"; readonly uses: number }
  | { readonly kind: "none"; readonly param: string; readonly reason: string };

/** How the caps of an organization treat requests in flight. */
export type Caps = "default" | "strict";

export interface PromptSize {
  /** UTF-8 bytes of the text of messages, system, tools and response schema. */
  readonly textBytes: number;
  /**
   * A part of `textBytes` that the model certainly reads as tokens: a sample of the conversation's texts without white
   * space (see `addVisibleBytes`), excluding what templates and servers may drop: tools, schemas, reasoning and, in chats,
   * earlier answers, because templates cut reasoning out of them.
   */
  readonly visibleTextBytes: number;
  readonly messages: number;
  /** Contains images, files, audio or a custom chat template, whose tokens cannot be estimated from bytes. */
  readonly hasMedia: boolean;
  readonly hasTools: boolean;
  /** UTF-8 bytes of a predicted output, which is billed as output if the answer differs from it. */
  readonly predictionBytes: number;
  /** The body contains everything that the model reads: no tool, search or store of the model server adds to it. */
  readonly isWhole: boolean;
  /** Cause of an unbounded cost; absent if the cost has a bound. */
  readonly unbounded?: { readonly param: string; readonly reason: string } | undefined;
}

/** Cost of an answer, added to its `usage` if the client requested it. Amounts are exact decimals. */
export interface CostReport {
  readonly cost: string;
  /** ISO 4217. */
  readonly cost_currency: string;
  readonly cost_details: {
    /** The tier that was charged; "default" if the upstream named no tier with a price of its own. */
    readonly service_tier: string;
    /** Start of the prompt-size bracket whose rates were charged; null: the lowest bracket. */
    readonly above_prompt_tokens: number | null;
    /** First UTC day of the price; null: since the beginning. */
    readonly price_from: string | null;
    /** The parts add up to `cost` before it is rounded up to eight decimals. */
    readonly parts: readonly {
      /** Name of a price or of a server tool. */
      readonly name: string;
      /** Null for the fee per request and for tools. */
      readonly tokens: number | null;
      /** Uses of a server tool; absent from other parts. */
      readonly uses?: number;
      /** Per million tokens, or per thousand uses. */
      readonly price: string;
      readonly cost: string;
    }[];
  };
}

/** The part of an observation that decides the cost. */
export type BilledUsage = Pick<Observation, "serviceTier" | "toolUses"> & { readonly usage: TokenUsage };

/**
 * Computes the cost of a usage at the service tier that the upstream named, including its tools. Returns an empty
 * object if the usage does not cover everything that was generated.
 */
export type DescribeCost = (billed: BilledUsage) => Partial<CostReport>;

export interface AnswerContext {
  readonly model: ModelTarget;
  /** Estimated prompt tokens, for `message_start`, which is sent before the exact figure is known. */
  readonly estimatedInputTokens: number;
  /** Returns Unix milliseconds. */
  readonly nowMs: () => number;
  /** Included in errors inside a stream. */
  readonly requestId: string;
  /** Set if the client requested the cost in the usage. */
  readonly describeCost?: DescribeCost | null;
}

/** Facts about an answer, collected while it is read. */
export interface Observation {
  /** The last non-null usage that the upstream sent, or null. */
  readonly usage: TokenUsage | null;
  /**
   * The usage cannot cover the whole answer: output followed the chunk with the usage, or the usage reports no output
   * although there was some.
   */
  readonly isUsageIncomplete: boolean;
  /** The last usage is zero, and nothing was generated. */
  readonly isZeroUsage: boolean;
  /** Contradiction in that usage, or null. */
  readonly usageContradiction: UsageContradiction | null;
  /** The upstream's finish reason if it is unknown, otherwise null. */
  readonly unknownFinishReason: string | null;
  /** The last service tier that the upstream named, in lower case; null if it named none. */
  readonly serviceTier: string | null;
  /** Uses of tools that the model server ran: as the usage reports, otherwise as counted in the answer. */
  readonly toolUses: ToolUses;
  /** The upstream sent an error with status 200 before it generated anything. Such an answer costs nothing. */
  readonly isRefused: boolean;
  /** UTF-8 bytes of generated text so far; docs/usage-fields.md defines what counts. */
  readonly generatedBytes: number;
  /** Deltas with generated content: about one token each from most upstreams. */
  readonly generatedDeltas: number;
  /** Generated text for a tokenizer, up to 1 MiB. Only used if the usage is missing or incomplete. */
  readonly generatedText: string;
}

/** Bytes for the client. */
export interface AnswerOutput {
  readonly bytes: Uint8Array;
  /** The answer ends with these bytes. They are held back until the cost is recorded. */
  readonly final: boolean;
  /**
   * The upstream failed after the stream had begun: `bytes` ends with an error event and nothing may follow. Otherwise
   * null.
   */
  readonly failed: GatewayError | null;
  /** The bytes only keep the connection alive; they carry no part of the answer. */
  readonly isKeepAlive?: boolean;
}

/** An upstream answer of status 2xx on its way to the client. */
export interface Answer {
  /**
   * Converts a whole JSON answer. If the client requested a stream, returns the answer as events.
   * @throws GatewayError `upstream_error` if the answer violates the protocol; the upstream's error if it is one.
   */
  translateBody(body: Uint8Array): AnswerOutput;
  /** Converts the next bytes of a streamed answer, split anywhere. Never throws: errors are returned in `failed`. */
  push(chunk: Uint8Array): AnswerOutput;
  /** Ends the answer after the upstream's stream has ended. Never throws. */
  end(): AnswerOutput;
  /** Aborts the stream with this error as its last event. Never throws. */
  fail(error: GatewayError): AnswerOutput;
  /** Text that keeps the client's connection alive between two events. */
  readonly keepAlive: string;
  readonly observation: Observation;
  /** Content type for the client. */
  readonly contentType: "application/json" | "text/event-stream";
}

/** A client's body, parsed once. The model that it names decides which translation parses the rest. */
export interface RequestBody extends JsonBody {
  /** The model as the client wrote it. */
  readonly model: string;
}

/** A wire protocol that clients speak. */
export interface Protocol {
  readonly name: ProtocolName;
  /**
   * Rejects a body in which the model or a limit is ambiguous.
   * @throws GatewayError 400 naming the field and what was expected.
   */
  readBody(bytes: Uint8Array): Steps<RequestBody>;
  /** Translations by upstream protocol; absent: such an upstream cannot serve these requests. */
  readonly translations: Readonly<Partial<Record<UpstreamProtocol, Translation>>>;
  /** The body of an error response. */
  formatError(error: GatewayError, requestId: string | null): string;
}

/** Conversion between one client protocol and one upstream protocol. */
export interface Translation {
  /** Path of the upstream's endpoint, after its path prefix. */
  readonly upstreamPath: string;
  /** Request headers of the protocol that are forwarded, in lower case. */
  readonly forwardedHeaders?: readonly string[];
  /** Query parameters that are forwarded, as "name=value". */
  readonly forwardedQuery?: readonly string[];
  /** @throws GatewayError 400 naming the field and what was expected. */
  parseRequest(body: RequestBody): ClientRequest;
  /** The protocol's endpoint that summarizes a conversation, if it has one. */
  readonly compaction?: Translation;
  /** How tokens are counted without generating an answer; null if the protocol has no such endpoint. */
  readonly counting: TokenCounting | null;
}

/** The part of a request that the model reads. */
export interface PromptText {
  readonly text: string;
  /** Number of images and files, which have no text to count. */
  readonly media: number;
}

/** A protocol's endpoint for counting the tokens of a request. */
export interface TokenCounting {
  /** The upstream's endpoint; null if it has none. A 404 also means that it has none. */
  readonly upstream: {
    /** Path after the upstream's prefix. */
    readonly upstreamPath: string;
    readonly createBody: (body: RequestBody, model: ModelTarget) => Uint8Array;
  } | null;
  /** Reads the text that the tokenizer counts. @throws GatewayError 400 as for the request itself. */
  readPrompt(body: RequestBody, model: ModelTarget): Steps<PromptText>;
  /** Formats the body of the endpoint's answer. */
  formatCount(tokens: number): object;
}
