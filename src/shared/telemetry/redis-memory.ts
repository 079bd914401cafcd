/** Exports Redis's memory use as metrics. */
import type { Metrics } from "./metrics.ts";

type ReadMemory = () => Promise<{ readonly usedBytes: number; readonly maxBytes: number } | null>;

const INTERVAL_MS = 10_000;

export class RedisMemory {
  readonly #read: ReadMemory;
  readonly #metrics: Pick<Metrics, "redisMemory" | "redisMemoryMax">;
  #timer: NodeJS.Timeout | null = null;

  constructor(read: ReadMemory, metrics: Pick<Metrics, "redisMemory" | "redisMemoryMax">) {
    this.#read = read;
    this.#metrics = metrics;
  }

  start(): void {
    this.#timer = setInterval(() => void this.#look(), INTERVAL_MS);
    this.#timer.unref();
    void this.#look();
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  /** Never rejects: while Redis is unreachable the last figures stay, and other metrics report the outage. */
  async #look(): Promise<void> {
    const use = await this.#read().catch(() => null);
    if (use === null) return;
    this.#metrics.redisMemory.set(use.usedBytes);
    this.#metrics.redisMemoryMax.set(use.maxBytes);
  }
}
