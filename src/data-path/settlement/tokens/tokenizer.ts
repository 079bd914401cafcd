/**
 * Counts tokens of a text with the o200k vocabulary, in a thread of its own that starts with the first text. An
 * estimate for models of other vocabularies. Whatever goes wrong (a crash, a slow answer, too long a queue) is null:
 * the caller then estimates by bytes. Nobody waits longer than the timeout.
 */
import { Worker } from "node:worker_threads";
import { type Clock, systemClock } from "../../../shared/time/clock.ts";
import type { Logger } from "../../../shared/host/logger.ts";
import { programFile } from "../../../shared/host/package-files.ts";

/** The longest text that is counted, in UTF-8 bytes: about a second of work at worst. */
export const MAX_TOKENIZER_BYTES = 1_048_576;

export interface TokenizerQuestion {
  readonly id: number;
  readonly text: string;
}

/** The first one, with the id 0, says that the vocabulary is loaded. */
export interface TokenizerAnswer {
  readonly id: number;
  readonly tokens: number;
}

export interface TokenizerOptions {
  readonly logger: Logger<"warn">;
  /** Default: tokenizer-thread.ts as it was built. */
  readonly createThread?: () => Worker;
  readonly clock?: Clock;
  /** Milliseconds until a text is given up. */
  readonly timeoutMs?: number;
}

interface Waiting {
  readonly resolve: (tokens: number | null) => void;
  readonly timer: NodeJS.Timeout;
}

const TIMEOUT_MS = 2_000;
/** Together with the size of a text: the most memory that waiting texts take. */
const MAX_WAITING = 64;
/** A thread that failed is not started again at once: loading the vocabulary over and over would take a whole core. */
const REST_AFTER_FAILURE_MS = 5_000;
const MAX_HEAP_MB = 256;

export class Tokenizer {
  readonly #options: Required<TokenizerOptions>;
  readonly #waiting = new Map<number, Waiting>();
  #thread: Worker | null = null;
  /** By the monotonic clock; null: it has not said so yet. */
  #loadedAtMs: number | null = null;
  #nextId = 1;
  #restsUntilMs = -Infinity;

  constructor(options: TokenizerOptions) {
    this.#options = { createThread: startThread, clock: systemClock, timeoutMs: TIMEOUT_MS, ...options };
  }

  /** Tokens of a text, or null when they could not be counted (in time). Never rejects. */
  count(text: string): Promise<number | null> {
    if (text === "") return Promise.resolve(0);
    const isTooMuch = this.#waiting.size >= MAX_WAITING || Buffer.byteLength(text) > MAX_TOKENIZER_BYTES;
    if (isTooMuch || this.#options.clock.monotonicMs() < this.#restsUntilMs) return Promise.resolve(null);
    const thread = (this.#thread ??= this.#start());
    const id = this.#nextId++;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#onTimeout(id, thread), this.#options.timeoutMs);
      timer.unref();
      this.#waiting.set(id, { resolve, timer });
      const question: TokenizerQuestion = { id, text };
      thread.postMessage(question, []);
    });
  }

  /** Ends the thread; what waits for it gets null. */
  async stop(): Promise<void> {
    const thread = this.#thread;
    this.#giveUp();
    await thread?.terminate();
  }

  #start(): Worker {
    const thread = this.#options.createThread();
    thread.unref();
    thread.on("message", (answer: TokenizerAnswer) => {
      this.#loadedAtMs ??= this.#options.clock.monotonicMs();
      this.#settle(answer.id, answer.tokens);
    });
    thread.on("error", (err) => this.#fail(thread, err));
    thread.on("exit", (exitCode) =>
      this.#fail(thread, new Error(`The thread ended with exit code ${exitCode}.`)),
    );
    return thread;
  }

  #onTimeout(id: number, thread: Worker): void {
    // A thread that is stuck in one text would let all others wait, so it goes; one that loads, or has just come to its
    // first text, must be let come to its end on a busy machine, or there would never be one.
    const { clock, timeoutMs } = this.#options;
    const isStuck = this.#loadedAtMs !== null && clock.monotonicMs() - this.#loadedAtMs >= timeoutMs;
    if (isStuck) this.#fail(thread, new Error(`No answer in ${timeoutMs} ms.`));
    else this.#settle(id, null);
  }

  #fail(thread: Worker, err: Error): void {
    if (thread !== this.#thread) return;
    this.#options.logger.warn(
      { err, rest_ms: REST_AFTER_FAILURE_MS },
      "tokenizer failed, estimating tokens by bytes",
    );
    this.#restsUntilMs = this.#options.clock.monotonicMs() + REST_AFTER_FAILURE_MS;
    this.#giveUp();
    void thread.terminate();
  }

  #giveUp(): void {
    this.#thread = null;
    this.#loadedAtMs = null;
    for (const id of this.#waiting.keys()) this.#settle(id, null);
  }

  #settle(id: number, tokens: number | null): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    clearTimeout(waiting.timer);
    waiting.resolve(tokens);
  }
}

function startThread(): Worker {
  return new Worker(programFile("data-path/settlement/tokens/tokenizer-thread.js"), {
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
}
