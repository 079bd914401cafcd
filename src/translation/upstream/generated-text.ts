import type { CostReport, DescribeCost, Observation, UsageContradiction } from "../client-protocol.ts";
import type { ToolUses } from "../../usage/server-tools.ts";
import type { TokenUsage } from "../../usage/token-usage.ts";
import { isJsonObject } from "../../text/json-object.ts";
import { TextBuffer } from "../text-buffer.ts";
import { isUnknownReason } from "./end-reasons.ts";
import { ServerToolUses } from "./server-tool-uses.ts";
import { findUsage, isUsageOfNothing, type ReportedUsage, readServiceTier, readUsage } from "./usage.ts";

/** The most text that a tokenizer is given when an upstream reports no usage. */
const MAX_TEXT_BYTES = 1_048_576;
/** The most of an unknown reason to end that is logged. */
const MAX_REASON_CHARACTERS = 40;

/**
 * Collects what an upstream generated, for the estimate that is charged when it reports no usage. A live view: the
 * fields go on changing with the answer.
 */
export class GeneratedText implements Observation {
  usage: TokenUsage | null = null;
  usageContradiction: UsageContradiction | null = null;
  unknownFinishReason: string | null = null;
  serviceTier: string | null = null;
  isRefused = false;
  generatedBytes = 0;
  generatedDeltas = 0;
  /** The chunk that is being read had the usage: it counts what else is in that chunk. */
  #isInUsageChunk = false;
  #hasMoreThanUsage = false;
  #isNothingTold = false;
  /** Something was generated that is no text. */
  #hasMedia = false;
  /** The uses of tools that run at the upstream's server. */
  readonly tools = new ServerToolUses();
  readonly #describeCost: DescribeCost | null;
  readonly #text = new TextBuffer({ maxBytes: MAX_TEXT_BYTES });
  #isTextFull = false;

  constructor(describeCost: DescribeCost | null = null) {
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
    return this.#hasMoreThanUsage || (this.usage?.outputTokens === 0 && this.generatedBytes > 0);
  }

  get isOfNothing(): boolean {
    if (!this.#isNothingTold || this.usage !== null) return false;
    return this.generatedBytes === 0 && !this.#hasMedia && this.toolUses.size === 0;
  }

  /** What a usage says beside its tokens. @param ofTools The part of it whose figures of tools are final. */
  noteUsage(usage: unknown, ofTools: unknown = usage): void {
    this.tools.readUsage(ofTools);
    this.#isNothingTold = isUsageOfNothing(usage);
  }

  /** The answer has output that is no text, such as vectors. */
  noteOutput(): void {
    this.#hasMedia = true;
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

  get generatedText(): string {
    return this.#text.toString();
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
    this.isRefused = this.usage === null && this.generatedBytes === 0;
  }

  /** The text of a choice's `message` or `delta`. */
  readMessage(message: unknown): void {
    if (!isJsonObject(message)) return;
    const before = this.generatedBytes;
    const { content, reasoning_content, reasoning, refusal, tool_calls, function_call, annotations } =
      message;
    if (annotations !== undefined) this.tools.readAnnotations(annotations);
    if (isJsonObject(message["audio"]) || Array.isArray(message["images"])) this.#hasMedia = true;
    // Servers that send both send the same text twice.
    this.#add(typeof reasoning_content === "string" ? reasoning_content : reasoning);
    this.#add(content);
    this.#add(refusal);
    if (Array.isArray(tool_calls)) {
      for (const call of tool_calls) if (isJsonObject(call)) this.#addCall(call["function"]);
    }
    this.#addCall(function_call);
    if (this.generatedBytes > before) this.#addPieces(1);
  }

  /** As `readMessage` of a delta that has this text alone. */
  readText(text: string): void {
    if (text === "") return;
    this.#append(text);
    this.#addPieces(1);
  }

  /**
   * The texts of many pieces at once.
   * @param bytes Their UTF-8, one character per byte.
   * @param pieces How many there are; empty ones do not count.
   */
  readCharacters(bytes: string, pieces: number): void {
    if (pieces === 0) return;
    this.generatedBytes += bytes.length;
    this.#addPieces(pieces);
    if (!this.#isTextFull) this.#isTextFull = !this.#text.append(bytes, "latin1");
  }

  /** The texts of one piece of a stream; what is no text is passed over. */
  readPiece(texts: readonly unknown[]): void {
    const before = this.generatedBytes;
    for (const text of texts) this.#add(text);
    if (this.generatedBytes > before) this.#addPieces(1);
  }

  #addPieces(count: number): void {
    this.generatedDeltas += count;
    if (this.usage !== null && !this.#isInUsageChunk) this.#hasMoreThanUsage = true;
  }

  #addCall(call: unknown): void {
    if (!isJsonObject(call)) return;
    this.#add(call["name"]);
    this.#add(call["arguments"]);
  }

  /** Text, or parts that hold text (Mistral: `{type: "thinking", thinking: [{type: "text", text}]}`). */
  #add(value: unknown): void {
    if (typeof value === "string") {
      if (value !== "") this.#append(value);
    } else if (Array.isArray(value)) {
      for (const part of value) {
        if (isJsonObject(part)) this.#add(part["text"] ?? part["thinking"]);
      }
    }
  }

  #append(text: string): void {
    const before = this.#text.byteLength;
    if (!this.#isTextFull) this.#isTextFull = !this.#text.append(text);
    this.generatedBytes += this.#isTextFull ? Buffer.byteLength(text) : this.#text.byteLength - before;
  }
}
