/**
 * Maximum cost of a request, which strict caps reserve while it is in flight. Holds as long as the upstream
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
  /** Bytes of the whole body that goes upstream: fields that the gateway does not know may be part of the prompt. */
  readonly upstreamBytes: number;
  /** Chat template's tokens as observed at upstreams. */
  readonly learnedOverheadTokens: number;
  readonly model: WorstCaseModel;
}

export interface WorstCaseInput extends LargestPrompt {
  readonly price: Price;
  /** Lowered output limit of each answer, in tokens. Null: the request's own applies. */
  readonly affordable: number | null;
}

/** Above every cap, and within the range that Redis counts exactly, whatever a batch requests. */
const MAX_HOLD_MICROCENTS = 2n ** 53n;

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
