import type { CostReport, DescribeCost, Observation, UsageContradiction } from "../client-protocol.ts";
import type { ToolUses } from "../../../shared/usage/server-tools.ts";
import type { TokenUsage } from "../../../shared/usage/token-usage.ts";
import { isJsonObject } from "../../../shared/text/json-object.ts";
import { isUnknownReason } from "./end-reasons.ts";
import { GeneratedOutput } from "./generated-output.ts";
import { findUsage, reportsZeroUsage, type ReportedUsage, readServiceTier, readUsage } from "./usage.ts";

/** Maximum characters of an unknown finish reason in the log. */
const MAX_REASON_CHARACTERS = 40;

/**
 * Collects the output of an upstream and its reported usage: the basis of the charge, and of the estimate if no usage
 * is reported. A live view: its fields change while the answer is read.
 */
export class GeneratedText extends GeneratedOutput implements Observation {
  usage: TokenUsage | null = null;
  usageContradiction: UsageContradiction | null = null;
  unknownFinishReason: string | null = null;
  serviceTier: string | null = null;
  isRefused = false;
  /** The usage came in the current chunk, so it covers all content of that chunk. */
  #isInUsageChunk = false;
  #hasMoreThanUsage = false;
  #isZeroReported = false;
  #hasVectors = false;
  readonly #describeCost: DescribeCost | null;

  constructor(describeCost: DescribeCost | null = null) {
    super();
    this.#describeCost = describeCost;
  }

  /** Records the finish reason of a choice. */
  noteFinishReason(finishReason: string): void {
    if (!isUnknownReason(finishReason)) return;
    this.unknownFinishReason = finishReason.slice(0, MAX_REASON_CHARACTERS);
  }

  /** Whether the client requested the cost. */
  get wantsCost(): boolean {
    return this.#describeCost !== null;
  }

  get isUsageIncomplete(): boolean {
    return this.#hasMoreThanUsage || (this.usage?.outputTokens === 0 && this.generatedDeltas > 0);
  }

  get isZeroUsage(): boolean {
    if (!this.#isZeroReported || this.usage !== null) return false;
    return this.generatedDeltas === 0 && !this.#hasVectors && this.toolUses.size === 0;
  }

  /** Records the parts of a usage other than tokens. @param ofTools The part whose tool figures are final. */
  noteUsage(usage: unknown, ofTools: unknown = usage): void {
    this.tools.readUsage(ofTools);
    this.#isZeroReported = reportsZeroUsage(usage);
  }

  /** Records that the answer has vectors, which are not generated token by token. */
  noteVectors(): void {
    this.#hasVectors = true;
  }

  get toolUses(): ToolUses {
    return this.tools.uses;
  }

  /**
   * Computes the cost of the usage so far, as fields of a usage; empty if the client did not request it or no usage
   * covers the answer.
   */
  describeCost(): Partial<CostReport> {
    const { usage, serviceTier, toolUses } = this;
    return usage === null || this.isUsageIncomplete || this.#describeCost === null
      ? {}
      : this.#describeCost({ usage, serviceTier, toolUses });
  }

  /** Adds the cost to a usage, see `describeCost`. */
  withCost<Usage extends object>(usage: Usage): Usage & Partial<CostReport> {
    return this.wantsCost ? { ...usage, ...this.describeCost() } : usage;
  }

  /** Marks the beginning of a new chunk. */
  startChunk(): void {
    this.#isInUsageChunk = false;
  }

  /** Reads usage and service tier of a chunk or an answer; the last non-null value of each counts. */
  readUsage(answer: Readonly<Record<string, unknown>>): void {
    const usage = findUsage(answer);
    if (usage !== undefined && usage !== null) this.noteUsage(usage);
    this.report(readUsage(usage), answer);
  }

  /** Records a parsed usage; null keeps the previous one. @param answer Value that may name a service tier. */
  report(reported: ReportedUsage | null, answer: Readonly<Record<string, unknown>>): void {
    this.serviceTier = readServiceTier(answer) ?? this.serviceTier;
    if (reported === null) return;
    this.usage = reported.tokens;
    this.#isInUsageChunk = true;
    this.#hasMoreThanUsage = false;
    this.usageContradiction = reported.contradiction;
  }

  /** @param value The error that the upstream sent in place of the answer or of its rest. */
  readError(value: unknown): void {
    if (isJsonObject(value)) this.readUsage(value);
    this.noteRefusal();
  }

  /** Records that the answer has failed. It counts as rejected if no usage or output came before. */
  noteRefusal(): void {
    this.isRefused = this.usage === null && this.generatedDeltas === 0;
  }

  protected override addPieces(count: number): void {
    this.generatedDeltas += count;
    if (this.usage !== null && !this.#isInUsageChunk) this.#hasMoreThanUsage = true;
  }
}
