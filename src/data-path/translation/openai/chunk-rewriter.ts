import { GatewayError } from "../../../shared/contract/errors.ts";
import { mapErrorInAnswer } from "../upstream/map-error.ts";
import { applyEdits, type Edit, findMembers, type MemberSpan, removeMembers } from "../json/object-spans.ts";
import { isUnreadable } from "../json/parse-json-text.ts";
import { ANSWER_BOUNDS } from "../json/json-bounds.ts";
import { isJsonObject, type JsonObject } from "../../../shared/text/json-object.ts";
import { encodeCharacters, type EventBlock } from "../sse/event-block.ts";
import type { GeneratedText } from "../upstream/generated-text.ts";
import { MAX_TEMPLATES, TEXT_MARK, TextTemplate } from "../upstream/text-template.ts";
import type { UsageVisibility } from "./stream-options.ts";
import { createBrokenOff, hasEndUsage, requireEnd } from "../upstream/end-reasons.ts";
import { isUpstreamError } from "../upstream/error-text.ts";
import { listChoices, readFinishReason } from "../upstream/read-choice.ts";

/** A template, and the client's text before and after the generated text. */
interface LearnedTemplate {
  readonly template: TextTemplate;
  readonly before: string;
  readonly after: string;
  /** The same for a whole event, with one character per byte. */
  readonly eventBefore: string;
  readonly eventAfter: string;
}

interface HeldUsage {
  readonly text: string;
  readonly members: readonly MemberSpan[];
  readonly usage: JsonObject;
}

/**
 * Reads the chunks of one stream and rewrites them with the catalog's model id and without usage that the client did
 * not request; every other character stays.
 */
export class ChunkRewriter {
  readonly #model: string;
  readonly #modelJson: string;
  readonly #usageVisibility: UsageVisibility;
  readonly #generated: GeneratedText;
  readonly #readChoice: (choice: JsonObject) => JsonObject;
  readonly #usesTemplates: boolean;
  /** Template of the last parsed chunk that contained only text. */
  #learned: LearnedTemplate | null = null;
  #remainingTemplates = MAX_TEMPLATES;
  readonly #begunChoices = new Set<unknown>();
  /** The last `finish_reason` of each choice. */
  readonly #finishedChoices = new Map<unknown, string>();
  /** The final usage has arrived, and no part of the answer after it. */
  #hasFinalUsage = false;
  /** Usage to which the cost is added, held until the end of the stream, because a later chunk can change the cost. */
  #held: HeldUsage | null = null;

  constructor(options: {
    model: string;
    usageVisibility: UsageVisibility;
    generated: GeneratedText;
    /** Returns the generated content of a chunk's choice. */
    readChoice: (choice: JsonObject) => JsonObject;
    /** Whether a chunk's text alone decides what it adds to the answer. If false, every chunk is parsed. */
    usesTemplates: boolean;
  }) {
    this.#model = options.model;
    this.#modelJson = JSON.stringify(options.model);
    this.#usageVisibility = options.usageVisibility;
    this.#generated = options.generated;
    this.#readChoice = options.readChoice;
    this.#usesTemplates = options.usesTemplates;
  }

  /** Every choice has its `finish_reason`, or the final usage has arrived. */
  get isComplete(): boolean {
    const begun = this.#begunChoices.size;
    return this.#hasFinalUsage || (begun > 0 && begun === this.#finishedChoices.size);
  }

  /** @throws GatewayError if the stream was empty, or a `finish_reason` says that the server aborted the choice. */
  requireEnd(): void {
    const { generatedDeltas, usage } = this.#generated;
    const isEmpty = this.#begunChoices.size === 0 && generatedDeltas === 0 && usage === null;
    if (isEmpty) throw createBrokenOff("a stream without a choice");
    for (const reason of this.#finishedChoices.values()) {
      requireEnd(reason, true);
      this.#generated.noteFinishReason(reason);
    }
  }

  /** Whether `rewriteSimilar` may recognize events. */
  get hasLearned(): boolean {
    return this.#learned !== null;
  }

  /**
   * Rewrites the block's next events for as long as only their text differs from the learned template.
   * @returns The client's events, with one character per byte.
   */
  rewriteSimilar(block: EventBlock): string {
    if (this.#learned === null) return "";
    this.#generated.startChunk();
    const { template, eventBefore, eventAfter } = this.#learned;
    let output = "";
    let plain = "";
    let plainPieces = 0;
    for (let text = template.take(block); text !== null; text = template.take(block)) {
      this.#hasFinalUsage = false;
      output += eventBefore + text.escaped + eventAfter;
      if (text.unescaped === null) {
        plain += text.escaped;
        if (text.escaped !== "") plainPieces += 1;
      } else {
        this.#generated.readCharacters(plain, plainPieces);
        this.#generated.readText(text.unescaped);
        plain = "";
        plainPieces = 0;
      }
    }
    this.#generated.readCharacters(plain, plainPieces);
    return output;
  }

  /**
   * @param text JSON of a chunk.
   * @param isError The event's name marks an error.
   * @returns null if the chunk is hidden from the client.
   * @throws GatewayError if it is an upstream error or not a chunk.
   */
  rewrite(text: string, isError: boolean): string | null {
    this.#generated.startChunk();
    const similar = isError ? null : this.#rewriteOne(text);
    if (similar !== null) return similar;
    const { chunk, members } = parseChunk(text);
    if (isError || isUpstreamError(chunk)) {
      this.#generated.readError(chunk);
      throw mapErrorInAnswer(chunk ?? text, { protocol: "chat", model: this.#model });
    }
    if (chunk === null || members === null) {
      throw new GatewayError("upstream_error", {
        cause: new Error("a chunk of the upstream is not a JSON object"),
      });
    }
    const { usage } = chunk;
    const choices = listChoices(chunk);
    const hasChoices = choices.length > 0;
    if (hasChoices) this.#readChoices(choices);
    else this.#generated.readOutside(chunk);
    const hasUsage = usage !== undefined;
    this.#generated.readUsage(chunk);
    this.#hasFinalUsage = hasEndUsage(chunk, this.#hasFinalUsage);
    const isUsageHidden =
      hasUsage && (this.#usageVisibility === "none" || (this.#usageVisibility === "last" && hasChoices));
    if (isUsageHidden && !hasChoices && usage !== null) return null;
    if (this.#generated.wantsCost && !isUsageHidden && isJsonObject(usage)) {
      if (!hasChoices) {
        this.#held = { text, members, usage };
        return null;
      }
      if (this.isComplete) return this.#addCost({ text, members, usage });
    }
    if (hasChoices && !isJsonObject(usage)) this.#learn(text, choices, isUsageHidden);
    return this.#splice(text, members, isUsageHidden);
  }

  /** Returns null if the chunk does not match the template. */
  #rewriteOne(text: string): string | null {
    if (this.#learned === null) return null;
    const { template, before, after } = this.#learned;
    const match = template.match(text);
    if (match === null) return null;
    this.#hasFinalUsage = false;
    this.#generated.readText(match.unescaped ?? match.escaped);
    return before + match.escaped + after;
  }

  /** Learns this chunk as a template: chunks that differ only in their text need not be parsed. */
  #learn(text: string, [choice]: readonly unknown[], isUsageHidden: boolean): void {
    if (!this.#usesTemplates || this.#remainingTemplates === 0) return;
    if (!isJsonObject(choice) || readFinishReason(choice) !== "") return;
    const template = TextTemplate.create(text);
    if (template === null) return;
    const { marked } = template;
    const output = this.#splice(marked, findMembers(marked) ?? [], isUsageHidden);
    const [before, after, ...more] = output.split(TEXT_MARK);
    if (before === undefined || after === undefined || more.length > 0) return;
    const eventBefore = encodeCharacters(`data: ${before}`);
    const eventAfter = encodeCharacters(`${after}\n\n`);
    this.#learned = { template, before, after, eventBefore, eventAfter };
    this.#remainingTemplates -= 1;
  }

  /** Returns the held chunk with its usage and cost; null if there is none. */
  takeHeld(): string | null {
    const held = this.#held;
    this.#held = null;
    return held === null ? null : this.#addCost(held);
  }

  #addCost({ text, members, usage }: HeldUsage): string {
    return this.#splice(text, members, false, { ...usage, ...this.#generated.describeCost() });
  }

  #readChoices(choices: readonly unknown[]): void {
    for (const [place, choice] of choices.entries()) {
      if (!isJsonObject(choice)) continue;
      this.#generated.readChoice(this.#readChoice(choice), place);
      this.#begunChoices.add(choice["index"]);
      this.#readEnd(choice);
    }
  }

  #readEnd(choice: JsonObject): void {
    const reason = readFinishReason(choice);
    if (reason === "") return;
    this.#finishedChoices.set(choice["index"], reason);
  }

  #splice(
    text: string,
    members: readonly MemberSpan[],
    isUsageHidden: boolean,
    usage: JsonObject | null = null,
  ): string {
    const edits: Edit[] = isUsageHidden ? removeMembers(members, "usage") : [];
    edits.push(...addChoices(text, members));
    for (const { key, valueStart, valueEnd } of members) {
      if (key === "model") edits.push({ start: valueStart, end: valueEnd, replacement: this.#modelJson });
      if (usage !== null && key === "usage") {
        edits.push({ start: valueStart, end: valueEnd, replacement: JSON.stringify(usage) });
      }
    }
    if (edits.length > 1) edits.sort((left, right) => left.start - right.start);
    return applyEdits(text, edits);
  }
}

/** Adds missing `choices` as an empty list: SDKs that validate each chunk abort the stream without it. */
function addChoices(text: string, members: readonly MemberSpan[]): Edit[] {
  const choices = members.findLast(({ key }) => key === "choices");
  if (choices === undefined) {
    const start = text.indexOf("{") + 1;
    return [{ start, end: start, replacement: members.length === 0 ? '"choices":[]' : '"choices":[],' }];
  }
  const { valueStart: start, valueEnd: end } = choices;
  return text.slice(start, end) === "null" ? [{ start, end, replacement: "[]" }] : [];
}

/** Returns whether the text is a whole JSON object; an upstream's last chunk may be cut off. */
export function isChunk(text: string): boolean {
  return parseChunk(text).chunk !== null;
}

function parseChunk(text: string): {
  chunk: Readonly<Record<string, unknown>> | null;
  members: MemberSpan[] | null;
} {
  try {
    const members = findMembers(text, 0, ANSWER_BOUNDS);
    const chunk: unknown = JSON.parse(text);
    return { chunk: isJsonObject(chunk) ? chunk : null, members };
  } catch (error) {
    if (isUnreadable(error)) return { chunk: null, members: null };
    throw error;
  }
}
