/**
 * Token counts before, or without, the upstream's own. On the path: bytes times a ratio that is learned per model from
 * the requests whose usage is known. Off the path, for what is charged in the end: a tokenizer in a thread of its own,
 * and the ratio where that fails. Every figure that rests on an estimate is marked as such.
 */
import type { Observation } from "../translation/client-protocol.ts";
import { MAX_TOKENIZER_BYTES, Tokenizer } from "./tokenizer.ts";

/** Four bytes a token: what English text comes to in current vocabularies. */
const INITIAL_RATIO = 0.25;
/** No text has fewer or more; keeps an upstream that reports nonsense from spoiling the estimates. */
const MIN_RATIO = 0.02;
const MAX_RATIO = 1;
/** Weight of the newest request: the estimate follows within some dozens of requests. */
const LEARNING_RATE = 0.05;
/** Shorter texts say more about the upstream's chat template than about its vocabulary. */
const MIN_BYTES_TO_LEARN = 64;

interface Ratios {
  prompt: number;
  output: number;
}

/** What a request whose usage the upstream told came to. */
export interface KnownUsage {
  /** Null: the prompt's bytes say nothing about its tokens. */
  readonly promptBytes: number | null;
  readonly promptTokens: number;
  readonly generatedBytes: number;
  readonly outputTokens: number;
}

export class TokenEstimator {
  /** One entry per catalog model. */
  readonly #ratios = new Map<string, Ratios>();
  readonly #tokenizer: Pick<Tokenizer, "count">;

  constructor(tokenizer: Pick<Tokenizer, "count"> = new Tokenizer()) {
    this.#tokenizer = tokenizer;
  }

  /** Prompt tokens of so many bytes of a request; at least 1. */
  estimatePrompt(model: string, promptBytes: number): number {
    return Math.max(1, Math.ceil(promptBytes * this.#of(model).prompt));
  }

  /** Output tokens of what was generated so far: never fewer than the deltas it came in. */
  estimateOutput(model: string, generated: Pick<Observation, "generatedBytes" | "generatedDeltas">): number {
    return Math.max(generated.generatedDeltas, Math.ceil(generated.generatedBytes * this.#of(model).output));
  }

  /** Output tokens of a whole answer, by the tokenizer. Takes at most the tokenizer's timeout; never rejects. */
  async countOutput(
    model: string,
    generated: Pick<Observation, "generatedBytes" | "generatedDeltas" | "generatedText">,
  ): Promise<number> {
    const isWhole = generated.generatedBytes <= MAX_TOKENIZER_BYTES;
    const counted = isWhole ? await this.#tokenizer.count(generated.generatedText) : null;
    return counted ?? this.estimateOutput(model, generated);
  }

  /** Prompt tokens of a text, by the tokenizer; at least 1. Takes at most the tokenizer's timeout; never rejects. */
  async countPrompt(model: string, text: string): Promise<number> {
    const counted = await this.#tokenizer.count(text);
    return Math.max(1, counted ?? this.estimatePrompt(model, Buffer.byteLength(text)));
  }

  /** Learns from a request whose usage the upstream told. */
  learn(model: string, known: KnownUsage): void {
    const ratios = this.#of(model);
    if (known.promptBytes !== null) {
      ratios.prompt = follow(ratios.prompt, known.promptTokens, known.promptBytes);
    }
    ratios.output = follow(ratios.output, known.outputTokens, known.generatedBytes);
  }

  #of(model: string): Ratios {
    let ratios = this.#ratios.get(model);
    if (ratios === undefined) {
      ratios = { prompt: INITIAL_RATIO, output: INITIAL_RATIO };
      this.#ratios.set(model, ratios);
    }
    return ratios;
  }
}

function follow(ratio: number, tokens: number, bytes: number): number {
  if (bytes < MIN_BYTES_TO_LEARN || tokens <= 0) return ratio;
  const seen = Math.min(MAX_RATIO, Math.max(MIN_RATIO, tokens / bytes));
  return ratio + (seen - ratio) * LEARNING_RATE;
}
