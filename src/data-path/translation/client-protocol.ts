/**
 * What a wire protocol gives the gateway: a client's request body read once, turned into what the upstream speaks, and
 * the upstream's answer turned back. Pure: bytes in, bytes out; nothing here knows Envoy or Redis.
 *
 * Each way from a client's protocol to an upstream's has a folder beside this file, `chat-to-chat/`, `messages-to-chat/`
 * and so on, with the same names in it: `translation.ts`, `request.ts` and `answer.ts` implement the contracts below,
 * `error-body.ts` writes errors, `request/` reads and converts a body, `response/` a whole answer, `stream/` a streamed
 * one. What they share is beside them: `read-request.ts` (all requests), `conversation/` (what those that translate have
 * in common: a conversation as chat messages, and how its answer is read), `openai/` and `pass-through/` (what passes as
 * it is), `upstream/` (what upstreams answer, read leniently), `fields/` (which of a client's own fields reach an upstream), `json/` and `sse/`. `protocols.ts` puts them together.
 */
import type { Steps } from "../../shared/event-loop/steps.ts";
import type { GatewayError } from "../../shared/contract/errors.ts";
import type { ModelProfile, UpstreamProtocol } from "../../shared/contract/model-profile.ts";
import type { ToolUses } from "../../shared/usage/server-tools.ts";
import type { TierField } from "../../shared/usage/service-tiers.ts";
import type { TokenUsage } from "../../shared/usage/token-usage.ts";
import type { JsonBody } from "./json/parse-body.ts";

/** The protocol that a route speaks; it decides the envelope of errors too. */
export type ProtocolName = "chat" | "messages" | "responses" | "embeddings" | "completions";

/** The part of a catalog entry that a translation needs. */
export interface ModelTarget {
  /** What the client reads back as `model`: the name that it asked for, a catalog id or what stands for one. */
  readonly id: string;
  /** The upstream's own name of the model. */
  readonly upstreamModel: string;
  /** The longest answer. */
  readonly maxOutputTokens: number;
  readonly profile: ModelProfile;
}

/** Figures of one usage that cannot all be true. What is charged then: docs/usage-fields.md. */
export type UsageContradiction =
  | "cached_above_prompt"
  | "cache_write_above_prompt"
  | "cache_write_split"
  | "audio_above_prompt"
  | "reasoning_above_output"
  | "audio_above_output"
  | "total";

/** What admission, holds and routing need to know of a request. */
export interface ClientRequest {
  readonly protocol: ProtocolName;
  /** Catalog id as the client wrote it. */
  readonly model: string;
  readonly stream: boolean;
  /** The client's limit, under whichever name; null when it gave none. */
  readonly maxOutputTokens: number | null;
  /**
   * How many answers are generated over all prompts: `n` of each, or `best_of` where that is more; 1 where a protocol has
   * neither.
   */
  readonly choices: number;
  /** The service tier that the upstream is asked for, as answers name it; null: none. */
  readonly serviceTier: string | null;
  /** The field that asks for it. */
  readonly tierField: TierField;
  /** Tools that it lets the model's server run. */
  readonly serverTools: readonly AskedTool[];
  /** Whom the client names as its own user, as it wrote it; null: nobody. */
  readonly endUser: string | null;
  /** How many prompts there are, each of which may fill the context window: 1 in a conversation. */
  readonly prompts: number;
  /** Tokens of prompts that came as token ids; null: there is text to estimate. */
  readonly promptTokens: number | null;
  /** The prompt's size for the worst case of strict caps. It is computed when called: not on the path of default caps. */
  promptSize(): PromptSize;
  /**
   * The body for the upstream.
   * @param caps Strict ones demand a limit of output, and nothing of which is not known what it costs.
   * @param affordable Tokens that the limit of each answer is lowered to; null or left out: it is not.
   * @throws GatewayError 400 where the model's profile cannot represent the request, or the caps do not let it pass.
   */
  toUpstream(model: ModelTarget, caps?: Caps, affordable?: number | null): Uint8Array;
  /** The names under which the limit of output goes to this model's upstream; none: there is no such limit. */
  limitNames(model: ModelTarget): readonly string[];
  /** About how much memory stays in use once the body was let go: what the answer depends on, and repeats. */
  readonly keptBytes: number;
  /** The body is on its way to this model, and what of it the answer does not depend on is not needed any more. */
  letGo(model: ModelTarget): void;
  /** The reader of this request's answer; `toUpstream` was called before with the same model. */
  createAnswer(context: AnswerContext): Answer;
}

/** A tool that a request lets the model's server run. */
export interface AskedTool {
  /** The tool's name in prices. */
  readonly name: string;
  /** Where the request asks for it: "tools.0". */
  readonly param: string;
  readonly bound: ToolBound;
}

/** The most uses of a tool: its own, those of all tools together, or none, with the field that would bound them. */
export type ToolBound =
  | { readonly kind: "own" | "shared"; readonly uses: number }
  | { readonly kind: "none"; readonly param: string; readonly reason: string };

/** How an organization's caps count what is in flight. */
export type Caps = "default" | "strict";

export interface PromptSize {
  /** UTF-8 bytes of the text of messages, system, tools and response schema. */
  readonly textBytes: number;
  /**
   * The part of it that the model reads for certain, and as tokens: the conversation's texts without white space (see
   * `countInkBytes`), and without what templates and servers may leave out: tools, schemas, reasoning, and in chats, whose
   * templates cut reasoning out of them, earlier answers.
   */
  readonly inkBytes: number;
  readonly messages: number;
  /** Images, files or audio, or a chat template of the client's own: their tokens cannot be told from bytes. */
  readonly hasMedia: boolean;
  readonly hasTools: boolean;
  /** UTF-8 bytes of a predicted output, which is billed as output where the answer is another. */
  readonly predictionBytes: number;
  /** All that the model gets to read stands in the body: no tool, search or store of its server adds to it. */
  readonly isWhole: boolean;
  /** What makes the cost of the request boundless; left out where nothing does. */
  readonly unbounded?: { readonly param: string; readonly reason: string } | undefined;
}

/** What an answer cost, as its `usage` tells a client that has asked for it. Amounts are exact decimals. */
export interface CostReport {
  readonly cost: string;
  /** ISO 4217. */
  readonly cost_currency: string;
  readonly cost_details: {
    /** The tier at which it was charged; "default" where the upstream named none that has a price of its own. */
    readonly service_tier: string;
    /** The size of prompt at whose rates it was charged; null: the smallest. */
    readonly above_prompt_tokens: number | null;
    /** UTC day from which the price is in force; null: from the beginning. */
    readonly price_from: string | null;
    /** They add up to `cost` before it is rounded up to eight decimals. */
    readonly parts: readonly {
      /** The name of a price, or of a server tool. */
      readonly name: string;
      /** Null: the fee of the request, or a tool. */
      readonly tokens: number | null;
      /** How often a server tool was used; left out of all others. */
      readonly uses?: number;
      /** Per million tokens, or per thousand uses. */
      readonly price: string;
      readonly cost: string;
    }[];
  };
}

/** What of an observation decides what it costs. */
export type BilledUsage = Pick<Observation, "serviceTier" | "toolUses"> & { readonly usage: TokenUsage };

/**
 * The cost of a usage at the service tier that the upstream has named, with the tools that it ran; nothing where the usage
 * is not of all that was generated.
 */
export type DescribeCost = (billed: BilledUsage) => Partial<CostReport>;

export interface AnswerContext {
  readonly model: ModelTarget;
  /** Our estimate of the prompt's tokens, for `message_start`, which comes before the exact figure is known. */
  readonly estimatedInputTokens: number;
  /** Unix milliseconds, when called. */
  readonly nowMs: () => number;
  /** Errors inside a stream name it. */
  readonly requestId: string;
  /** The client has asked for the cost in the usage; null or left out: it has not. */
  readonly describeCost?: DescribeCost | null;
}

/** What has been learned from an answer so far. */
export interface Observation {
  /** The last not-null usage that the upstream sent, or null. */
  readonly usage: TokenUsage | null;
  /**
   * Whether that usage cannot be the whole answer's: something was generated behind the chunk that had it, or something was and it
   * tells no output.
   */
  readonly isUsageBehind: boolean;
  /** The last usage says that nothing was used, and nothing was generated. */
  readonly isOfNothing: boolean;
  /** What does not fit together in that usage, or null. */
  readonly usageContradiction: UsageContradiction | null;
  /** The reason to end that the upstream gave and nobody knows, or null. */
  readonly unknownFinishReason: string | null;
  /** The service tier that the upstream named last, in its own words and lower case; null when it named none. */
  readonly serviceTier: string | null;
  /** Uses of tools that ran at the upstream's server: as its usage tells, else as many as the answer shows. */
  readonly toolUses: ToolUses;
  /** The upstream sent an error before it generated anything, in an answer of status 200: it costs nothing. */
  readonly isRefused: boolean;
  /** UTF-8 bytes of generated text so far; docs/usage-fields.md says what counts. */
  readonly generatedBytes: number;
  /** Deltas that carried something generated: about one token each from most upstreams. */
  readonly generatedDeltas: number;
  /** The generated text for a tokenizer, as far as it fits into 1 MiB; only used without a usage, or when that is behind. */
  readonly generatedText: string;
}

/** Bytes for the client. */
export interface AnswerOutput {
  readonly bytes: Uint8Array;
  /** The answer is complete with these bytes: they are held back until what it cost is on record. */
  readonly final: boolean;
  /** The upstream failed after the stream had begun: `bytes` ends with an error event, nothing may follow. */
  readonly failed: GatewayError | null;
  /** Nothing of the answer is in the bytes: they tell that it goes on. */
  readonly isKeepAlive?: boolean;
}

/** One upstream answer of status 2xx on its way to the client. */
export interface Answer {
  /**
   * A JSON answer, whole. When the client asked for a stream, the result is that stream, played as events.
   * @throws GatewayError `upstream_error` when it is not what the protocol says; the upstream's error when it is one.
   */
  translateBody(body: Uint8Array): AnswerOutput;
  /** The next bytes of a streamed answer, split anywhere. Never throws: what goes wrong is in `failed`. */
  push(chunk: Uint8Array): AnswerOutput;
  /** The upstream's stream has ended. Never throws. */
  end(): AnswerOutput;
  /** The stream is given up: it ends in this error's event. Never throws. */
  fail(error: GatewayError): AnswerOutput;
  /** What tells a client between two events that its stream goes on. */
  readonly keepAlive: string;
  readonly observation: Observation;
  /** Content type of what the client gets. */
  readonly contentType: "application/json" | "text/event-stream";
}

/** A client's body, read as JSON once; the model that it names decides which translation reads the rest. */
export interface RequestBody extends JsonBody {
  /** The model's name as the client wrote it. */
  readonly model: string;
}

/** A wire protocol that clients speak. */
export interface Protocol {
  readonly name: ProtocolName;
  /**
   * Refuses a body in which the model or a limit could be read in two ways.
   * @throws GatewayError 400 naming the field and what was expected.
   */
  readBody(bytes: Uint8Array): Steps<RequestBody>;
  /** Translations by what the upstream speaks; left out: requests cannot be carried to such an upstream. */
  readonly translations: Readonly<Partial<Record<UpstreamProtocol, Translation>>>;
  /** The body of an error response. */
  formatError(error: GatewayError, requestId: string | null): string;
}

/** One way from a client's protocol to an upstream's. */
export interface Translation {
  /** The upstream's endpoint, after its path prefix. */
  readonly upstreamPath: string;
  /** Request headers of the protocol that the upstream gets, in lower case; left out: none. */
  readonly forwardedHeaders?: readonly string[];
  /** Parameters of the query that the upstream gets, as "name=value"; left out: none. */
  readonly forwardedQuery?: readonly string[];
  /** @throws GatewayError 400 naming the field and what was expected. */
  parseRequest(body: RequestBody): ClientRequest;
  /** The protocol's endpoint that sums a conversation up; left out: it has none. */
  readonly compaction?: Translation;
  /** How tokens are counted without an answer; null: the protocol has no such endpoint. */
  readonly counting: TokenCounting | null;
}

/** What of a request is put before the model. */
export interface PromptText {
  readonly text: string;
  /** Images and files: they have no text to count. */
  readonly media: number;
}

/** A protocol's endpoint that counts the tokens of a request. */
export interface TokenCounting {
  /** How the upstream is asked; null: it has no such endpoint. A 404 says that it has none either. */
  readonly upstream: {
    /** After its path prefix. */
    readonly upstreamPath: string;
    readonly createBody: (body: RequestBody, model: ModelTarget) => Uint8Array;
  } | null;
  /** What the tokenizer counts. @throws GatewayError 400 as for the request itself. */
  readPrompt(body: RequestBody, model: ModelTarget): Steps<PromptText>;
  /** The body of its answer. */
  formatCount(tokens: number): object;
}
