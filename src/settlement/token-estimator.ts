/**
 * Token counts before, or without, the upstream's own. On the path: by bytes, as learned per model from the requests
 * whose usage is known. Off the path, for what is charged in the end: a tokenizer in a thread of its own, and bytes where
 * that fails. Every figure that rests on an estimate is marked as such.
 */
import type { Observation } from "../translation/client-protocol.ts";
import { FewestTokens } from "./fewest-tokens.ts";
import { type CountedPrompt, LearnedOverhead } from "./learned-overhead.ts";
import { LearnedTokens } from "./learned-tokens.ts";
import { MAX_TOKENIZER_BYTES, type Tokenizer } from "./tokenizer.ts";

/** Whose tokens: both the model and what an organization sends it decide how many there are. */
export interface TokenSubject {
  readonly model: string;
  readonly organizationId: string;
}

/** What a request whose usage the upstream told came to. */
export interface KnownUsage {
  /** Null: the prompt's bytes say nothing about its tokens. */
  readonly promptBytes: number | null;
  readonly promptTokens: number;
  readonly generatedBytes: number;
  readonly generatedDeltas: number;
  readonly outputTokens: number;
}

interface LearnedModel {
  readonly prompt: LearnedTokens;
  readonly output: LearnedTokens;
  readonly fewest: FewestTokens;
  readonly overhead: LearnedOverhead;
}

type Generated = Pick<Observation, "generatedBytes" | "generatedDeltas">;

export class TokenEstimator {
  /** One entry per catalog model. */
  readonly #models = new Map<string, LearnedModel>();
  readonly #tokenizer: Pick<Tokenizer, "count">;

  constructor(tokenizer: Pick<Tokenizer, "count">) {
    this.#tokenizer = tokenizer;
  }

  /** Prompt tokens of so many bytes of a request; at least 1. */
  estimatePrompt({ model, organizationId }: TokenSubject, promptBytes: number): number {
    const { overheadTokens, tokensPerByte } = this.#of(model).prompt.lineOf(organizationId);
    return Math.max(1, Math.round(overheadTokens + promptBytes * tokensPerByte));
  }

  /** Output tokens of what was generated so far: never fewer than the deltas it came in. */
  estimateOutput({ model, organizationId }: TokenSubject, generated: Generated): number {
    const byBytes = Math.round(generated.generatedBytes * this.#of(model).output.ratioOf(organizationId));
    return Math.max(generated.generatedDeltas, byBytes);
  }

  /** The fewest tokens that a prompt of so many bytes can have. */
  fewestPromptTokens(model: string, promptBytes: number): number {
    return this.#of(model).fewest.prompt(promptBytes);
  }

  /** The fewest tokens that what was generated so far can have. */
  fewestOutputTokens(model: string, { generatedBytes, generatedDeltas }: Generated): number {
    return this.#of(model).fewest.output({ bytes: generatedBytes, deltas: generatedDeltas });
  }

  /** Output tokens of a whole answer, by the tokenizer. Takes at most the tokenizer's timeout; never rejects. */
  async countOutput(
    subject: TokenSubject,
    generated: Generated & Pick<Observation, "generatedText">,
  ): Promise<number> {
    const isWhole = generated.generatedBytes <= MAX_TOKENIZER_BYTES;
    const counted = isWhole ? await this.#tokenizer.count(generated.generatedText) : null;
    return counted ?? this.estimateOutput(subject, generated);
  }

  /** Prompt tokens of a text, by the tokenizer; at least 1. Takes at most the tokenizer's timeout; never rejects. */
  async countPrompt(subject: TokenSubject, text: string): Promise<number> {
    const counted = await this.#tokenizer.count(text);
    return Math.max(1, counted ?? this.estimatePrompt(subject, Buffer.byteLength(text)));
  }

  /** Learns from a request whose usage the upstream told. */
  learn({ model, organizationId }: TokenSubject, known: KnownUsage): void {
    const { prompt, output, fewest } = this.#of(model);
    const { promptBytes, promptTokens, generatedBytes, generatedDeltas, outputTokens } = known;
    if (promptBytes !== null && promptTokens > 0) {
      prompt.learn(organizationId, promptBytes, promptTokens);
      fewest.learnPrompt(promptBytes, promptTokens);
    }
    if (generatedBytes > 0 && outputTokens > 0) {
      output.learn(organizationId, generatedBytes, outputTokens);
      fewest.learnOutput({ bytes: generatedBytes, deltas: generatedDeltas, tokens: outputTokens });
    }
  }

  /** The most tokens that the model's chat template has been seen to add. */
  overheadTokens(model: string, hasTools: boolean): number {
    return this.#of(model).overhead.tokens(hasTools);
  }

  learnOverhead({ model, organizationId }: TokenSubject, counted: CountedPrompt): void {
    const { overhead, prompt } = this.#of(model);
    overhead.learn(counted, prompt.lineOf(organizationId).tokensPerByte);
  }

  #of(model: string): LearnedModel {
    let learned = this.#models.get(model);
    if (learned === undefined) {
      learned = {
        prompt: new LearnedTokens(),
        output: new LearnedTokens(),
        fewest: new FewestTokens(),
        overhead: new LearnedOverhead(),
      };
      this.#models.set(model, learned);
    }
    return learned;
  }
}
