/**
 * What a request can cost at most, which strict caps hold while it is in flight. It is a bound as long as the upstream
 * keeps its own limits.
 */
import type { Model } from "../../catalog/catalog.ts";
import { greatestCost, type Price } from "../../pricing/price.ts";
import type { ClientRequest } from "../../translation/client-protocol.ts";
import { boundToolUse, refuseUnbounded } from "../server-tools.ts";

export interface LargestPrompt {
  readonly request: Pick<
    ClientRequest,
    "promptSize" | "prompts" | "maxOutputTokens" | "choices" | "serverTools"
  >;
  /** Of the whole body that goes upstream: what the gateway does not know may be part of the prompt. */
  readonly upstreamBytes: number;
  /** The chat template's tokens as far as upstreams have shown them. */
  readonly learnedOverheadTokens: number;
  readonly model: WorstCaseModel;
}

export interface WorstCaseInput extends LargestPrompt {
  readonly price: Price;
  /** The limit of each answer, in tokens, that goes upstream in place of a larger one. Null: it is the request's own. */
  readonly affordable: number | null;
}

/** Above every cap, and within what Redis counts, whatever a batch asks for. */
const MAX_HOLD_MICROCENTS = 2n ** 53n;

/**
 * Microcents. A text has at most as many tokens as UTF-8 bytes, and a message's JSON more bytes than a template adds to
 * it; media, and templates of the client's own, count as a full context window. Each of several prompts may fill one, and
 * so may the prompt that a tool of the model's server gives its result to. At the dearest of all service tiers and sizes of
 * prompt.
 * @throws GatewayError 400 `unsupported_parameter` for a request whose cost has no bound.
 */
export function worstCaseMicrocents(input: WorstCaseInput): bigint {
  const { request, model, price } = input;
  const { predictionBytes, unbounded } = request.promptSize();
  if (unbounded !== undefined) throw refuseUnbounded(unbounded);
  const tools = boundToolUse(price, request.serverTools);
  // Each use has the whole conversation read again, and what the tool found with it.
  const again = tools.uses === 0 ? null : (tools.uses + 1) * model.contextWindow;
  const inputTokens = again ?? largestPromptTokens(input);
  const outputTokens = largestOutputTokens(request, model, input.affordable) + predictionBytes;
  const cost = greatestCost(price, { inputTokens, outputTokens }) + tools.microcents;
  return cost < MAX_HOLD_MICROCENTS ? cost : MAX_HOLD_MICROCENTS;
}

/** The most tokens that the prompt can have: no estimate is more than what is held for it. */
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

/** The chat template's tokens as `gateway.yaml` says them. */
export function configuredOverheadTokens(
  model: Pick<Model, "promptOverheadTokens" | "promptOverheadTokensWithTools">,
  hasTools: boolean,
): number {
  return hasTools ? model.promptOverheadTokensWithTools : model.promptOverheadTokens;
}

/** The most tokens that all answers to a request can have together. @param affordable As `WorstCaseInput`. */
export function largestOutputTokens(
  request: Pick<ClientRequest, "maxOutputTokens" | "choices">,
  model: Pick<Model, "maxOutputTokens">,
  affordable: number | null = null,
): number {
  return request.choices * Math.min(limitOfEach(request, model), affordable ?? Infinity);
}

/** The limit of each answer, in tokens: the client's, and never more than the model's. */
export function limitOfEach(
  { maxOutputTokens }: Pick<ClientRequest, "maxOutputTokens">,
  model: Pick<Model, "maxOutputTokens">,
): number {
  return Math.min(maxOutputTokens ?? model.maxOutputTokens, model.maxOutputTokens);
}

type WorstCaseModel = Pick<
  Model,
  "contextWindow" | "maxOutputTokens" | "promptOverheadTokens" | "promptOverheadTokensWithTools"
>;
