/**
 * Counts tokens with the o200k vocabulary, in a thread that starts with the first text; an estimate for
 * models with other vocabularies. Every failure (a crash, a slow reply, a full queue) gives null, and the
 * caller estimates from bytes. No call takes longer than the timeout.
 */
import { Worker } from "node:worker_threads";
import { type Clock, systemClock } from "../../../shared/time/clock.ts";
import type { Logger } from "../../../shared/host/logger.ts";
import { programFile } from "../../../shared/host/package-files.ts";

/** Longest text that is counted, in UTF-8 bytes: about a second of work at worst. */
export const MAX_TOKENIZER_BYTES = 1_048_576;

export interface TokenizerQuestion {
  readonly id: number;
  readonly text: string;
}

/** Reply of the thread. The first one, with id 0, reports that the vocabulary is loaded. */
export interface TokenizerAnswer {
  readonly id: number;
  readonly tokens: number;
}

export interface TokenizerOptions {
  readonly logger: Logger<"warn">;
  /** Default: the built tokenizer-thread.ts. */
  readonly createThread?: () => Worker;
  readonly clock?: Clock;
  /** Timeout of a text in milliseconds. */
  readonly timeoutMs?: number;
}

interface Waiting {
  readonly resolve: (tokens: number | null) => void;
  readonly timer: NodeJS.Timeout;
}

const TIMEOUT_MS = 2_000;
/** Bounds, together with the size of a text, the memory of waiting texts. */
const MAX_WAITING = 64;
/** Pause before a failed thread is restarted: loading the vocabulary again and again would take a whole core. */
const REST_AFTER_FAILURE_MS = 5_000;
const MAX_HEAP_MB = 256;

export class Tokenizer {
  readonly #options: Required<TokenizerOptions>;
  readonly #waiting = new Map<number, Waiting>();
  #thread: Worker | null = null;
  /** When the vocabulary was loaded, by the monotonic clock; null: not yet. */
  #loadedAtMs: number | null = null;
  #nextId = 1;
  #restsUntilMs = -Infinity;

  constructor(options: TokenizerOptions) {
    this.#options = { createThread: startThread, clock: systemClock, timeoutMs: TIMEOUT_MS, ...options };
  }

  /** Counts the tokens of a text; null if that failed or took too long. Never rejects. */
  count(text: string): Promise<number | null> {
    if (text === "") return Promise.resolve(0);
    const isOverLimit = this.#waiting.size >= MAX_WAITING || Buffer.byteLength(text) > MAX_TOKENIZER_BYTES;
    if (isOverLimit || this.#options.clock.monotonicMs() < this.#restsUntilMs) return Promise.resolve(null);
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

  /** Ends the thread; waiting calls get null. */
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
    // A thread that is stuck in one text blocks all others, so it is ended. One that is loading, or has just
    // got its first text, must be allowed to finish on a busy host, or no thread would ever become ready.
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
