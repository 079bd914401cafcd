/**
 * A worker's share of a key's request bucket while Redis is unreachable. All workers' shares together grant
 * at most as much as the key's bucket, except that every share has at least one token.
 */
export interface GraceBucketOptions {
  readonly perMinute: number;
  /** Tokens of the whole bucket. */
  readonly capacity: number;
  /** Number of workers that share the key's rate. */
  readonly workerCount: number;
  readonly nowMs: number;
}

const MS_PER_MINUTE = 60_000;

export class GraceBucket {
  readonly #tokensPerMs: number;
  readonly #capacity: number;
  #tokens: number;
  #atMs: number;

  constructor({ perMinute, capacity, workerCount, nowMs }: GraceBucketOptions) {
    this.#tokensPerMs = perMinute / workerCount / MS_PER_MINUTE;
    this.#capacity = Math.max(1, capacity / workerCount);
    this.#tokens = this.#capacity;
    this.#atMs = nowMs;
  }

  /** Reduces the level to at most this many tokens. */
  cap(tokens: number, nowMs: number): void {
    this.#refill(nowMs);
    this.#tokens = Math.min(this.#tokens, Math.max(0, tokens));
  }

  /** Takes one token. @param nowMs Time of a monotonic clock. */
  take(nowMs: number): boolean {
    this.#refill(nowMs);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Whole tokens left. */
  get remaining(): number {
    return Math.floor(this.#tokens);
  }

  /** Whole seconds, rounded up, until there is a token; 0 if there is one. */
  get retryAfterSeconds(): number {
    return this.#tokens >= 1 ? 0 : Math.ceil((1 - this.#tokens) / this.#tokensPerMs / 1000);
  }

  /** Milliseconds until it is full again. */
  get resetMs(): number {
    return Math.ceil((this.#capacity - this.#tokens) / this.#tokensPerMs);
  }

  #refill(nowMs: number): void {
    this.#tokens = Math.min(
      this.#capacity,
      this.#tokens + Math.max(0, nowMs - this.#atMs) * this.#tokensPerMs,
    );
    this.#atMs = Math.max(this.#atMs, nowMs);
  }
}
