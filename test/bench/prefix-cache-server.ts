/**
 * A model server with a prompt cache: blocks of the prompt's beginning, the least recently used are dropped. Reading what is
 * not cached takes time, one prompt after the other.
 */
import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { type ScriptedAnswer, textCompletion } from "../support/scripted-answer.ts";
import { type RecordedRequest, type ScriptedUpstream, startUpstream } from "../support/upstream.ts";

/** vLLM's default block: 16 tokens of about 4 characters. */
const BLOCK_TOKENS = 16;
const BLOCK_CHARACTERS = 4 * BLOCK_TOKENS;
const READ_TOKENS_PER_MS = 10;
const GENERATE_MS = 200;
const ANSWER = "The next step is done, and here is what it has found. ".repeat(8);

export interface PromptTokens {
  readonly prompt: number;
  readonly cached: number;
}

export class PrefixCacheServer {
  readonly #maxBlocks: number;
  /** The most recently used last. */
  readonly #blocks = new Set<string>();
  #reading: Promise<void> = Promise.resolve();
  #upstream: ScriptedUpstream | null = null;
  #served: PromptTokens[] = [];

  constructor(maxTokens: number) {
    this.#maxBlocks = maxTokens / BLOCK_TOKENS;
  }

  /** Returns its URL. */
  async start(): Promise<string> {
    this.#upstream = await startUpstream();
    this.#upstream.answer((request) => this.#answer(request));
    return this.#upstream.url;
  }

  async close(): Promise<void> {
    await this.#upstream?.close();
  }

  /** Empties the cache. Returns the prompts since the last call. */
  takeServed(): readonly PromptTokens[] {
    const served = this.#served;
    this.#served = [];
    this.#blocks.clear();
    return served;
  }

  #answer(request: RecordedRequest): ScriptedAnswer {
    const prompt = JSON.stringify(request.body?.["messages"]);
    const tokens = { cached: 0, prompt: Math.ceil(prompt.length / 4) };
    const read = this.#read(this.#reading, prompt, tokens);
    this.#reading = read;
    return {
      kind: "json",
      before: { isGate: true, opened: generateAfter(read), release: () => undefined },
      // Asked for after the prompt was read.
      get body() {
        const usage = { promptTokens: tokens.prompt, cachedTokens: tokens.cached, completionTokens: 100 };
        return textCompletion(ANSWER, usage);
      },
    };
  }

  async #read(
    before: Promise<void>,
    prompt: string,
    tokens: { cached: number; prompt: number },
  ): Promise<void> {
    await before;
    tokens.cached = this.#use(prompt);
    await wait((tokens.prompt - tokens.cached) / READ_TOKENS_PER_MS);
    this.#served.push(tokens);
  }

  /** Counts the tokens of the prompt's beginning that are cached, and caches the whole prompt. */
  #use(prompt: string): number {
    const digest = createHash("sha256");
    let cached = 0;
    let isPrefix = true;
    for (let at = 0; at + BLOCK_CHARACTERS <= prompt.length; at += BLOCK_CHARACTERS) {
      const block = digest
        .update(prompt.slice(at, at + BLOCK_CHARACTERS))
        .copy()
        .digest("base64");
      isPrefix = isPrefix && this.#blocks.delete(block);
      if (isPrefix) cached += BLOCK_TOKENS;
      this.#blocks.add(block);
    }
    for (const block of this.#blocks) {
      if (this.#blocks.size <= this.#maxBlocks) break;
      this.#blocks.delete(block);
    }
    return cached;
  }
}

async function generateAfter(read: Promise<void>): Promise<void> {
  await read;
  await wait(GENERATE_MS);
}
