import type { CostReport, DescribeCost, Observation, UsageContradiction } from "../client-protocol.ts";
import type { ToolUses } from "../../../shared/usage/server-tools.ts";
import type { TokenUsage } from "../../../shared/usage/token-usage.ts";
import { isJsonObject } from "../../../shared/text/json-object.ts";
import { isUnknownReason } from "./end-reasons.ts";
import { GeneratedOutput } from "./generated-output.ts";
import { findUsage, isUsageOfNothing, type ReportedUsage, readServiceTier, readUsage } from "./usage.ts";

/** The most of an unknown reason to end that is logged. */
const MAX_REASON_CHARACTERS = 40;

/**
 * Collects what an upstream generated and what it reports of it: what is charged, and what is estimated when it reports no
 * usage. A live view: the fields go on changing with the answer.
 */
export class GeneratedText extends GeneratedOutput implements Observation {
  usage: TokenUsage | null = null;
  usageContradiction: UsageContradiction | null = null;
  unknownFinishReason: string | null = null;
  serviceTier: string | null = null;
  isRefused = false;
  /** The chunk that is being read had the usage: it counts what else is in that chunk. */
  #isInUsageChunk = false;
  #hasMoreThanUsage = false;
  #isNothingTold = false;
  #hasVectors = false;
  readonly #describeCost: DescribeCost | null;

  constructor(describeCost: DescribeCost | null = null) {
    super();
    this.#describeCost = describeCost;
  }

  /** The last reason to end of a choice. */
  noteFinishReason(finishReason: string): void {
    if (!isUnknownReason(finishReason)) return;
    this.unknownFinishReason = finishReason.slice(0, MAX_REASON_CHARACTERS);
  }

  /** The client wants to know what its answer cost. */
  get wantsCost(): boolean {
    return this.#describeCost !== null;
  }

  get isUsageBehind(): boolean {
    return this.#hasMoreThanUsage || (this.usage?.outputTokens === 0 && this.generatedDeltas > 0);
  }

  get isOfNothing(): boolean {
    if (!this.#isNothingTold || this.usage !== null) return false;
    return this.generatedDeltas === 0 && !this.#hasVectors && this.toolUses.size === 0;
  }

  /** What a usage says beside its tokens. @param ofTools The part of it whose figures of tools are final. */
  noteUsage(usage: unknown, ofTools: unknown = usage): void {
    this.tools.readUsage(ofTools);
    this.#isNothingTold = isUsageOfNothing(usage);
  }

  /** The answer has vectors, which nobody generated token by token. */
  noteVectors(): void {
    this.#hasVectors = true;
  }

  get toolUses(): ToolUses {
    return this.tools.uses;
  }

  /** What the usage so far costs, as fields of a usage; none where nobody asked, or no usage tells it. */
  describeCost(): Partial<CostReport> {
    const { usage, serviceTier, toolUses } = this;
    return usage === null || this.isUsageBehind || this.#describeCost === null
      ? {}
      : this.#describeCost({ usage, serviceTier, toolUses });
  }

  /** A usage with what it costs, see `describeCost`. */
  withCost<Usage extends object>(usage: Usage): Usage & Partial<CostReport> {
    return this.wantsCost ? { ...usage, ...this.describeCost() } : usage;
  }

  /** What is read from here on came in another chunk than what was read before. */
  startChunk(): void {
    this.#isInUsageChunk = false;
  }

  /** Usage and service tier of a chunk or an answer; of each the last that is not null counts. */
  readUsage(answer: Readonly<Record<string, unknown>>): void {
    const usage = findUsage(answer);
    if (usage !== undefined && usage !== null) this.noteUsage(usage);
    this.report(readUsage(usage), answer);
  }

  /** What was read of an answer's usage; null changes nothing. @param answer What may name a service tier. */
  report(reported: ReportedUsage | null, answer: Readonly<Record<string, unknown>>): void {
    this.serviceTier = readServiceTier(answer) ?? this.serviceTier;
    if (reported === null) return;
    this.usage = reported.tokens;
    this.#isInUsageChunk = true;
    this.#hasMoreThanUsage = false;
    this.usageContradiction = reported.contradiction;
  }

  /** @param value The error that the upstream sent in place of an answer, or of the rest of one. */
  readError(value: unknown): void {
    if (isJsonObject(value)) this.readUsage(value);
    this.noteRefusal();
  }

  /** The answer has failed; where nothing of it was told or generated, it was refused. */
  noteRefusal(): void {
    this.isRefused = this.usage === null && this.generatedDeltas === 0;
  }

  protected override addPieces(count: number): void {
    this.generatedDeltas += count;
    if (this.usage !== null && !this.#isInUsageChunk) this.#hasMoreThanUsage = true;
  }
}
