import { Worker } from "node:worker_threads";
import { afterEach, describe, expect, it } from "vitest";
import {
  MAX_TOKENIZER_BYTES,
  Tokenizer,
  type TokenizerOptions,
} from "../../../src/data-path/settlement/tokens/tokenizer.ts";

const opened: Tokenizer[] = [];
/** What it told the operator. */
const failures: string[] = [];
afterEach(async () => {
  failures.splice(0);
  await Promise.all(opened.splice(0).map((tokenizer) => tokenizer.stop()));
});

function open(options: Omit<TokenizerOptions, "logger">): Tokenizer {
  const logger = { warn: ({ err }: { err?: Error }) => void failures.push(err?.message ?? "") };
  const tokenizer = new Tokenizer({ logger, ...options });
  opened.push(tokenizer);
  return tokenizer;
}

/** The real thread, from its source. */
function startThread(): Worker {
  const file = new URL("../../../src/data-path/settlement/tokens/tokenizer-thread.ts", import.meta.url).href;
  const code = `import("tsx/esm/api").then(({ register }) => {
    register();
    return import(${JSON.stringify(file)});
  });`;
  return new Worker(code, { eval: true });
}

/** A thread that says it is loaded, then does this with each question `{ id, text }`. */
function startScript(onQuestion: string): Worker {
  const code = `const { parentPort } = require("node:worker_threads");
    parentPort.postMessage({ id: 0, tokens: 0 });
    parentPort.on("message", ({ id, text }) => { ${onQuestion} });`;
  return new Worker(code, { eval: true });
}

const COUNT_CHARACTERS = "parentPort.postMessage({ id, tokens: text.length });";

/** A clock that the test moves. */
function createClock() {
  const clock = { atMs: 0, nowMs: () => 0, monotonicMs: () => clock.atMs };
  return clock;
}

describe("Tokenizer.count", () => {
  it("counts in a thread with the o200k vocabulary", async () => {
    const tokenizer = open({ createThread: startThread, timeoutMs: 20_000 });
    expect(await tokenizer.count("hello world")).toBe(2);
    expect(await tokenizer.count("The quick brown fox jumps over the lazy dog.")).toBe(10);
    expect(await tokenizer.count("<|endoftext|>")).toBeGreaterThan(1);
    expect(await tokenizer.count("a".repeat(MAX_TOKENIZER_BYTES))).toBeGreaterThan(100_000);
  });

  it("starts no thread for nothing", async () => {
    const tokenizer = open({
      createThread: () => {
        throw new Error("started");
      },
    });
    expect(await tokenizer.count("")).toBe(0);
  });

  it("starts one thread for many texts", async () => {
    let started = 0;
    const tokenizer = open({
      createThread: () => {
        started += 1;
        return startScript(COUNT_CHARACTERS);
      },
    });
    const counts = await Promise.all(["a", "bb", "ccc"].map((text) => tokenizer.count(text)));
    expect(counts).toEqual([1, 2, 3]);
    expect(started).toBe(1);
  });

  it("does not count more than a mebibyte", async () => {
    const tokenizer = open({ createThread: () => startScript(COUNT_CHARACTERS) });
    expect(await tokenizer.count("é".repeat(MAX_TOKENIZER_BYTES / 2))).toBe(MAX_TOKENIZER_BYTES / 2);
    expect(await tokenizer.count(`${"é".repeat(MAX_TOKENIZER_BYTES / 2)}a`)).toBe(null);
  });

  it("does not let more than 64 texts wait", async () => {
    const tokenizer = open({ createThread: () => startScript(""), timeoutMs: 60_000 });
    const waiting = Array.from({ length: 64 }, () => tokenizer.count("a"));
    expect(await tokenizer.count("a")).toBe(null);
    await tokenizer.stop();
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => null));
  });

  it.each([
    ["crashes", "throw new Error('broken');", "broken"],
    ["ends", "process.exit(3);", "The thread ended with exit code 3."],
  ])("gives up when the thread %s, says so, rests, and starts another", async (_name, code, failure) => {
    let started = 0;
    const clock = createClock();
    const tokenizer = open({
      clock,
      timeoutMs: 1_500,
      createThread: () => {
        started += 1;
        return startScript(started === 1 ? code : COUNT_CHARACTERS);
      },
    });
    expect(await tokenizer.count("aaaa")).toBe(null);
    clock.atMs = 4_999;
    expect(await tokenizer.count("aaaa")).toBe(null);
    expect(started).toBe(1);
    clock.atMs = 5_000;
    expect(await tokenizer.count("aaaa")).toBe(4);
    expect(started).toBe(2);
    expect(failures).toEqual([failure]);
  });

  it("replaces a thread that is stuck in a text, but not for a text that it came to late", async () => {
    let started = 0;
    const clock = createClock();
    const tokenizer = open({
      clock,
      timeoutMs: 1_500,
      createThread: () => {
        started += 1;
        return startScript(started === 1 ? 'if (text !== "a") for (;;) {}' : COUNT_CHARACTERS);
      },
    });
    expect(await tokenizer.count("a")).toBe(null);
    expect(failures).toEqual([]);
    clock.atMs = 1_500;
    expect(await tokenizer.count("aaaa")).toBe(null);
    expect(failures).toEqual(["No answer in 1500 ms."]);
    clock.atMs = 6_500;
    expect(await tokenizer.count("aaaa")).toBe(4);
    expect(started).toBe(2);
  });

  it("lets a thread load that is slow to, so that there is one in the end", async () => {
    let started = 0;
    const door = new Int32Array(new SharedArrayBuffer(4));
    const tokenizer = open({
      timeoutMs: 1_500,
      createThread: () => {
        started += 1;
        const code = `const { parentPort, workerData } = require("node:worker_threads");
          Atomics.wait(workerData, 0, 0);
          parentPort.postMessage({ id: 0, tokens: 0 });
          parentPort.on("message", ({ id, text }) => { ${COUNT_CHARACTERS} });`;
        return new Worker(code, { eval: true, workerData: door });
      },
    });
    expect(await tokenizer.count("aaaa")).toBe(null);
    Atomics.store(door, 0, 1);
    Atomics.notify(door, 0);
    expect(await tokenizer.count("aaaa")).toBe(4);
    expect(started).toBe(1);
  });
});
