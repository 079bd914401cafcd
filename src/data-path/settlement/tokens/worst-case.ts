/**
 * Maximum cost of a request, which strict caps reserve while it is in flight, and the output limit that would
 * fit otherwise. True as long as the upstream keeps its own limits.
 */
import { hasOutputLimit } from "../../../shared/contract/endpoints.ts";
import type { Model } from "../../catalog/catalog.ts";
import type { Admission } from "../../limits/admission.ts";
import type { Affordable } from "../../limits/errors/spend-cap.ts";
import { greatestCost, type Price } from "../../pricing/price.ts";
import type { ClientRequest } from "../../translation/client-protocol.ts";
import { boundToolUse, refuseUnbounded } from "../server-tools.ts";
import { subjectOf, type TokenEstimator } from "./token-estimator.ts";

export interface SentPrompt {
  readonly admission: Admission;
  readonly model: Model;
  readonly request: ClientRequest;
  readonly bodyBytes: number;
  readonly upstream: UpstreamForm;
}

/** Body that goes upstream. */
export interface UpstreamForm {
  readonly byteLength: number;
  /** Adds an output limit, as strict caps require. @throws GatewayError 400 if that is impossible. */
  becomeStrict(): void;
  /**
   * Returns the body's length with this lower output limit. Null: the body has no output limit. Call
   * `becomeStrict` first.
   */
  lengthAt(tokens: number): number | null;
  /** Lowers the output limit of each answer; everything else stays unchanged. */
  lowerOutput(tokens: number): void;
  /** Tokens of each answer that the request reserves for thinking; 0: unspecified. */
  readonly thinkingBudget: number;
}

interface LargestPrompt {
  readonly request: Pick<
    ClientRequest,
    "promptSize" | "prompts" | "maxOutputTokens" | "choices" | "serverTools"
  >;
  /** Bytes of the whole body that goes upstream: fields that the gateway does not know may be part of the prompt. */
  readonly upstreamBytes: number;
  /** Chat template's tokens as observed at upstreams. */
  readonly learnedOverheadTokens: number;
  readonly model: WorstCaseModel;
}

interface WorstCaseInput extends LargestPrompt {
  readonly price: Price;
  /** Lowered output limit of each answer, in tokens. Null: the request's own applies. */
  readonly affordable: number | null;
}

type Overheads = Pick<TokenEstimator, "overheadTokens">;

/** Bound of a worst case: above every cap, and small enough that Redis counts it exactly. */
const MAX_HOLD_MICROCENTS = 2n ** 53n;
/** Minimum output limit after lowering, in addition to the thinking budget. */
const MIN_ANSWER_TOKENS = 256;

/** Worst case of one request. */
export class StrictWorstCase {
  readonly #prompt: SentPrompt;
  readonly #price: Price;
  readonly #estimator: Overheads;
  /** Lowered limit of each answer; null: unchanged. */
  #affordable: number | null = null;

  constructor(prompt: SentPrompt, price: Price, estimator: Overheads) {
    this.#prompt = prompt;
    this.#price = price;
    this.#estimator = estimator;
  }

  /** Returns the worst case in microcents. @throws GatewayError 400 if strict caps do not allow the request. */
  microcents(): bigint {
    this.#prompt.upstream.becomeStrict();
    return worstCaseMicrocents(this.#describe());
  }

  /**
   * Returns how many tokens each answer may have within this remaining amount, if the requested limit does
   * not fit. Null: the client's protocol has no output limit.
   * @param remainingMicrocents Rest of the tightest cap, 0 if it is reached.
   */
  afford(remainingMicrocents: bigint): Affordable | null {
    const { admission, request, model, upstream } = this.#prompt;
    if (!hasOutputLimit(admission.endpoint)) return null;
    const requestedTokens = limitOfEach(request, model);
    if (remainingMicrocents <= 0n) return { requestedTokens, affordableTokens: 0 };
    const described = this.#describe();
    const costOf = (affordable: number): bigint => {
      const upstreamBytes = upstream.lengthAt(affordable) ?? described.upstreamBytes;
      return worstCaseMicrocents({ ...described, upstreamBytes, affordable });
    };
    return { requestedTokens, affordableTokens: findLargest(requestedTokens, costOf, remainingMicrocents) };
  }

  /**
   * Lowers the limit of each answer to what is affordable, if the organization or key allows that. False:
   * unchanged, because so few tokens would be useless.
   */
  shrinkTo({ affordableTokens }: Affordable): boolean {
    const { admission, upstream } = this.#prompt;
    const isTooLittle = affordableTokens < MIN_ANSWER_TOKENS + upstream.thinkingBudget;
    if (!admission.limits.shrinksOnCap || isTooLittle) return false;
    upstream.lowerOutput(affordableTokens);
    this.#affordable = affordableTokens;
    return true;
  }

  #describe(): WorstCaseInput {
    return {
      price: this.#price,
      affordable: this.#affordable,
      ...describeLargestPrompt(this.#prompt, this.#estimator),
    };
  }
}

/**
 * Finds the largest limit below `tooMany` whose cost fits; 0: none fits. The cost must not decrease as the
 * limit grows.
 */
function findLargest(
  tooMany: number,
  costOf: (tokens: number) => bigint,
  remainingMicrocents: bigint,
): number {
  let fits = 0;
  let above = tooMany;
  while (above - fits > 1) {
    const middle = fits + Math.floor((above - fits) / 2);
    if (costOf(middle) <= remainingMicrocents) fits = middle;
    else above = middle;
  }
  return fits;
}

/**
 * Returns microcents. A text has at most as many tokens as UTF-8 bytes, and a message's JSON more bytes than
 * a template adds to it. Media, and templates from the client, count as a full context window, as does each
 * of several prompts, and each prompt that receives the result of a server tool. Uses the highest prices of
 * all service tiers and prompt sizes.
 * @throws GatewayError 400 `unsupported_parameter` for a request whose cost has no bound.
 */
export function worstCaseMicrocents(input: WorstCaseInput): bigint {
  const { request, model, price } = input;
  const { predictionBytes, unbounded } = request.promptSize();
  if (unbounded !== undefined) throw refuseUnbounded(unbounded);
  const tools = boundToolUse(price, request.serverTools);
  // After each use the model reads the whole conversation again, with the tool's result.
  const again = tools.uses === 0 ? null : (tools.uses + 1) * model.contextWindow;
  const inputTokens = again ?? largestPromptTokens(input);
  const outputTokens = largestOutputTokens(request, model, input.affordable) + predictionBytes;
  const cost = greatestCost(price, { inputTokens, outputTokens }) + tools.microcents;
  return cost < MAX_HOLD_MICROCENTS ? cost : MAX_HOLD_MICROCENTS;
}

/** Measures what the maximum token count of a prompt depends on. Measuring takes time. */
export function describeLargestPrompt(
  { admission, model, request, upstream }: SentPrompt,
  estimator: Overheads,
): LargestPrompt {
  const { hasTools } = request.promptSize();
  const learnedOverheadTokens = estimator.overheadTokens(subjectOf(admission.caller, model), hasTools);
  return { request, upstreamBytes: upstream.byteLength, learnedOverheadTokens, model };
}

/** Returns the maximum tokens of the prompt; estimates never exceed it. */
export function largestPromptTokens({
  request,
  upstreamBytes,
  learnedOverheadTokens,
  model,
}: LargestPrompt): number {
  const { hasMedia, hasTools } = request.promptSize();
  const overhead = Math.max(configuredOverheadTokens(model, hasTools), learnedOverheadTokens);
  const windows = request.prompts * model.contextWindow;
  return hasMedia ? windows : Math.min(windows, upstreamBytes + overhead);
}

/** Returns the chat template's tokens as configured in `gateway.yaml`. */
export function configuredOverheadTokens(
  model: Pick<Model, "promptOverheadTokens" | "promptOverheadTokensWithTools">,
  hasTools: boolean,
): number {
  return hasTools ? model.promptOverheadTokensWithTools : model.promptOverheadTokens;
}

/** Returns the maximum tokens of all answers to a request together. @param affordable As in `WorstCaseInput`. */
export function largestOutputTokens(
  request: Pick<ClientRequest, "maxOutputTokens" | "choices">,
  model: Pick<Model, "maxOutputTokens">,
  affordable: number | null = null,
): number {
  return request.choices * Math.min(limitOfEach(request, model), affordable ?? Infinity);
}

/** Returns the output limit of each answer in tokens: the client's, capped by the model's. */
function limitOfEach(
  { maxOutputTokens }: Pick<ClientRequest, "maxOutputTokens">,
  model: Pick<Model, "maxOutputTokens">,
): number {
  return Math.min(maxOutputTokens ?? model.maxOutputTokens, model.maxOutputTokens);
}

type WorstCaseModel = Pick<
  Model,
  "contextWindow" | "maxOutputTokens" | "promptOverheadTokens" | "promptOverheadTokensWithTools"
>;
