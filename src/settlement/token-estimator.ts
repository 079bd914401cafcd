/**
 * Token counts before, or without, the upstream's own: bytes times a ratio that is learned per model from the requests
 * whose usage is known. Cheap enough for the path; every figure that rests on it is marked as estimated.
 */
import type { Observation } from "../translation/exchange.ts";

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

export class TokenEstimator {
  /** One entry per catalog model. */
  readonly #ratios = new Map<string, Ratios>();

  /** Prompt tokens of a request body of so many bytes; at least 1. */
  estimatePrompt(model: string, bodyBytes: number): number {
    return Math.max(1, Math.ceil(bodyBytes * this.#of(model).prompt));
  }

  /** Output tokens of what was generated so far: never fewer than the deltas it came in. */
  estimateOutput(model: string, generated: Pick<Observation, "generatedBytes" | "generatedDeltas">): number {
    return Math.max(generated.generatedDeltas, Math.ceil(generated.generatedBytes * this.#of(model).output));
  }

  /** Learns from a request whose usage the upstream told. */
  learn(
    model: string,
    known: { bodyBytes: number; promptTokens: number; generatedBytes: number; outputTokens: number },
  ) {
    const ratios = this.#of(model);
    ratios.prompt = follow(ratios.prompt, known.promptTokens, known.bodyBytes);
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
