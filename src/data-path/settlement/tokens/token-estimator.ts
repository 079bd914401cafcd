/**
 * Estimates of token counts before, or without, the upstream's own. On the request path: from bytes, with
 * ratios learned per model from reported usage. Off the path, for final charges: a tokenizer in a separate
 * thread, or bytes if that fails. Every figure that uses an estimate is marked as such.
 */
import { type Clock, systemClock } from "../../../shared/time/clock.ts";
import type { Observation } from "../../translation/client-protocol.ts";
import { type ExceededTemplate, LearnedTemplate, type TemplateSize } from "./learned-template.ts";
import { LearnedMinimum, LearnedTokens } from "./learned-tokens.ts";
import { MAX_TOKENIZER_BYTES, type Tokenizer } from "./tokenizer.ts";

/** Model and organization: both determine the number of tokens. */
export interface TokenSubject {
  readonly model: string;
  readonly organizationId: string;
}

export function subjectOf(
  { organizationId }: { readonly organizationId: string },
  { id }: { readonly id: string },
): TokenSubject {
  return { model: id, organizationId };
}

/** Tokens and bytes of a request whose usage the upstream reported. */
export interface KnownUsage {
  /** Null: the prompt's bytes say nothing about its tokens. */
  readonly promptBytes: number | null;
  readonly promptTokens: number;
  /** Null: the prompt says nothing about the chat template. */
  readonly template: TemplateSize | null;
  readonly generatedBytes: number;
  readonly generatedDeltas: number;
  readonly outputTokens: number;
}

export interface ExceededOverhead extends ExceededTemplate {
  readonly model: string;
}

/**
 * Initial minimum of tokens per delta. Most servers send at least one token per delta; a server that splits text
 * more finely lowers the minimum.
 */
const MIN_TOKENS_PER_DELTA = 1;

interface LearnedModel {
  readonly prompt: LearnedTokens;
  readonly output: LearnedTokens;
  readonly perDelta: LearnedMinimum;
  readonly template: LearnedTemplate;
}

type Generated = Pick<Observation, "generatedBytes" | "generatedDeltas">;

export class TokenEstimator {
  /** By catalog model. */
  readonly #models = new Map<string, LearnedModel>();
  readonly #tokenizer: Pick<Tokenizer, "count">;
  readonly #clock: Pick<Clock, "monotonicMs">;

  constructor(tokenizer: Pick<Tokenizer, "count">, clock: Pick<Clock, "monotonicMs"> = systemClock) {
    this.#tokenizer = tokenizer;
    this.#clock = clock;
  }

  /** Estimates the prompt tokens of a request with this many bytes; at least 1. */
  estimatePrompt({ model, organizationId }: TokenSubject, promptBytes: number): number {
    const { overheadTokens, tokensPerByte } = this.#of(model).prompt.lineOf(organizationId);
    return Math.max(1, Math.round(overheadTokens + promptBytes * tokensPerByte));
  }

  /** Estimates the output tokens generated so far: never fewer than the deltas received. */
  estimateOutput({ model, organizationId }: TokenSubject, generated: Generated): number {
    const byBytes = Math.round(generated.generatedBytes * this.#of(model).output.ratioOf(organizationId));
    return Math.max(generated.generatedDeltas, byBytes);
  }

  /** Returns the minimum tokens of a prompt with this many bytes. */
  minimumPromptTokens({ model, organizationId }: TokenSubject, promptBytes: number): number {
    return Math.floor(this.#of(model).prompt.minimumOf(organizationId, promptBytes));
  }

  /** Returns the minimum tokens of the output so far. */
  minimumOutputTokens({ model, organizationId }: TokenSubject, generated: Generated): number {
    const { output, perDelta } = this.#of(model);
    const byBytes = output.minimumOf(organizationId, generated.generatedBytes);
    return Math.floor(Math.max(byBytes, generated.generatedDeltas * perDelta.of(organizationId)));
  }

  /**
   * Counts the output tokens of a whole answer with the tokenizer. Takes at most the tokenizer's timeout;
   * never rejects.
   */
  async countOutput(
    subject: TokenSubject,
    generated: Generated & Pick<Observation, "generatedText">,
  ): Promise<number> {
    const isWhole = generated.generatedBytes <= MAX_TOKENIZER_BYTES;
    const counted = isWhole ? await this.#tokenizer.count(generated.generatedText) : null;
    return counted ?? this.estimateOutput(subject, generated);
  }

  /**
   * Counts the prompt tokens of a text with the tokenizer, plus the chat template's as learned; at least 1.
   * Takes at most the tokenizer's timeout; never rejects.
   */
  async countPrompt(subject: TokenSubject, text: string): Promise<number> {
    const counted = await this.#tokenizer.count(text);
    const bytes = Buffer.byteLength(text);
    if (counted === null) return this.estimatePrompt(subject, bytes);
    const { organizationId } = subject;
    const { prompt, template } = this.#of(subject.model);
    const { tokensPerByte } = prompt.lineOf(organizationId);
    return Math.max(1, template.addTo(counted, bytes, organizationId, tokensPerByte));
  }

  /** Returns the maximum tokens that the model's chat template recently added. */
  overheadTokens({ model, organizationId }: TokenSubject, hasTools: boolean): number {
    return this.#of(model).template.mostTokens(organizationId, hasTools, this.#clock.monotonicMs());
  }

  /** Models whose chat template exceeded the overhead in `gateway.yaml`. */
  get exceededOverheads(): readonly ExceededOverhead[] {
    return [...this.#models].flatMap(([model, { template }]) =>
      Array.from(template.exceeded, (exceeded) => ({ model, ...exceeded })),
    );
  }

  /** Learns from a request whose usage the upstream reported. */
  learn({ model, organizationId }: TokenSubject, known: KnownUsage): void {
    const learned = this.#of(model);
    const { promptBytes, promptTokens, generatedBytes, generatedDeltas, outputTokens } = known;
    if (known.template !== null) {
      const { tokensPerByte } = learned.prompt.lineOf(organizationId);
      const now = { tokensPerByte, nowMs: this.#clock.monotonicMs() };
      learned.template.learn(organizationId, promptTokens, known.template, now);
    }
    if (promptBytes !== null && promptTokens > 0) {
      learned.prompt.learn(organizationId, promptBytes, promptTokens);
    }
    if (generatedBytes > 0 && outputTokens > 0) {
      learned.output.learn(organizationId, generatedBytes, outputTokens);
      if (generatedDeltas > 0) learned.perDelta.learn(organizationId, outputTokens / generatedDeltas);
    }
  }

  #of(model: string): LearnedModel {
    let learned = this.#models.get(model);
    if (learned === undefined) {
      learned = {
        prompt: new LearnedTokens(),
        output: new LearnedTokens(),
        perDelta: new LearnedMinimum(MIN_TOKENS_PER_DELTA),
        template: new LearnedTemplate(),
      };
      this.#models.set(model, learned);
    }
    return learned;
  }
}
