import { describe, expect, it } from "vitest";
import { type KnownUsage, TokenEstimator } from "../../../src/data-path/settlement/tokens/token-estimator.ts";
import type { TemplateSize } from "../../../src/data-path/settlement/tokens/learned-template.ts";
import { MAX_TOKENIZER_BYTES } from "../../../src/data-path/settlement/tokens/tokenizer.ts";

const MODEL = "acme/echo-small";
const SUBJECT = { model: MODEL, organizationId: "org_1" };
const OTHER = { model: MODEL, organizationId: "org_2" };
const NOT_COUNTED = { count: () => Promise.resolve(null) };
const COUNTS_WORDS = { count: (text: string) => Promise.resolve(text.split(" ").length) };
const NO_OUTPUT = { generatedBytes: 0, generatedDeltas: 0, outputTokens: 0 };
const NO_PROMPT = { promptBytes: null, promptTokens: 0, template: null };

interface Prompt {
  readonly promptBytes: number | null;
  readonly promptTokens: number;
}

function learnPrompts(estimator: TokenEstimator, prompts: readonly Prompt[], subject = SUBJECT): void {
  for (const prompt of prompts) estimator.learn(subject, { ...NO_PROMPT, ...prompt, ...NO_OUTPUT });
}

/** A prompt that shows the chat template, and nothing else. */
interface Shown extends Omit<TemplateSize, "configuredTokens"> {
  readonly promptTokens: number;
}

function learnTemplate(
  estimator: TokenEstimator,
  { promptTokens, ...size }: Shown,
  subject = SUBJECT,
  configuredTokens = 0,
): void {
  const template = { ...size, configuredTokens };
  estimator.learn(subject, { promptBytes: null, promptTokens, template, ...NO_OUTPUT });
}

function times<Value>(count: number, value: Value): Value[] {
  return Array.from({ length: count }, () => value);
}

/** Prompts of many sizes with so many tokens a byte, and a template of so many tokens. */
function prompts(tokensPerByte: number, overhead = 0): Prompt[] {
  const sizes = [100, 400, 1_600, 6_400, 25_600];
  return times(20, sizes)
    .flat()
    .map((promptBytes) => ({
      promptBytes,
      promptTokens: Math.round(overhead + promptBytes * tokensPerByte),
    }));
}

describe("TokenEstimator.estimatePrompt", () => {
  it("takes four bytes for a token before it has learned anything, and never says 0", () => {
    const estimator = new TokenEstimator(NOT_COUNTED);
    expect(estimator.estimatePrompt(SUBJECT, 4_000)).toBe(1_000);
    expect(estimator.estimatePrompt(SUBJECT, 0)).toBe(1);
  });

  it("follows what a model's requests came to, and no other model's", () => {
    const estimator = new TokenEstimator(NOT_COUNTED);
    learnPrompts(estimator, prompts(0.4));
    expect(Math.abs(estimator.estimatePrompt(SUBJECT, 10_000) - 4_000)).toBeLessThan(50);
    expect(estimator.estimatePrompt({ ...SUBJECT, model: "acme/other" }, 10_000)).toBe(2_500);
  });

  it("learns what the chat template adds apart from tokens a byte", () => {
    const estimator = new TokenEstimator(NOT_COUNTED);
    learnPrompts(estimator, prompts(0.2, 500));
    expect(Math.abs(estimator.estimatePrompt(SUBJECT, 100) - 520)).toBeLessThan(60);
    expect(Math.abs(estimator.estimatePrompt(SUBJECT, 180_000) - 36_500)).toBeLessThan(1_200);
  });

  it.each([
    ["100 chats of 36 tokens", { promptBytes: 100, promptTokens: 36 }],
    ["100 chats of 100 tokens", { promptBytes: 110, promptTokens: 100 }],
  ])("takes little from %s for a long prompt, of the same organization or another", (_name, chat) => {
    const estimator = new TokenEstimator(NOT_COUNTED);
    learnPrompts(estimator, times(100, chat));
    const truth = 40_000;
    for (const subject of [SUBJECT, OTHER]) {
      const estimate = estimator.estimatePrompt(subject, 180_000);
      expect(estimate).toBeGreaterThan(truth);
      expect(estimate).toBeLessThan(truth * 1.2);
    }
  });

  it("lets one organization move only so much for others, however much it sends", () => {
    const often = new TokenEstimator(NOT_COUNTED);
    learnPrompts(often, times(500, { promptBytes: 1_000_000, promptTokens: 1_000_000 }));
    const asked = 100_000;
    expect(often.estimatePrompt(SUBJECT, asked)).toBeGreaterThan(0.98 * asked);
    const moved = often.estimatePrompt(OTHER, asked);
    const twice = new TokenEstimator(NOT_COUNTED);
    learnPrompts(twice, times(1_000, { promptBytes: 1_000_000, promptTokens: 1_000_000 }));
    expect(twice.estimatePrompt(OTHER, asked)).toBe(moved);
    learnPrompts(often, prompts(0.25), OTHER);
    expect(Math.abs(often.estimatePrompt(OTHER, asked) - 25_000)).toBeLessThan(3_000);
  });

  it("takes from many organizations what they agree on", () => {
    const estimator = new TokenEstimator(NOT_COUNTED);
    for (let organization = 0; organization < 50; organization += 1) {
      learnPrompts(estimator, prompts(0.5), { model: MODEL, organizationId: `org_many_${organization}` });
    }
    expect(Math.abs(estimator.estimatePrompt(OTHER, 10_000) - 5_000)).toBeLessThan(150);
  });

  it("forgets the quietest organization's own beyond a thousand of them, and what it moved", () => {
    const estimator = new TokenEstimator(NOT_COUNTED);
    learnPrompts(estimator, prompts(1));
    for (let organization = 0; organization < 1_000; organization += 1) {
      const subject = { model: MODEL, organizationId: `org_many_${organization}` };
      learnPrompts(estimator, [{ promptBytes: 4_000, promptTokens: 1_000 }], subject);
    }
    expect(Math.abs(estimator.estimatePrompt(SUBJECT, 10_000) - 2_500)).toBeLessThan(5);
  });

  it.each([
    ["absurdly many tokens", { promptBytes: 1_000, promptTokens: 900_000_000 }, 14_096],
    ["almost none", { promptBytes: 10_000, promptTokens: 1 }, 200],
  ])("stays within what a text can have after %s", (_name, prompt, most) => {
    const estimator = new TokenEstimator(NOT_COUNTED);
    learnPrompts(estimator, times(200, prompt));
    const estimate = estimator.estimatePrompt(SUBJECT, 10_000);
    expect(estimate).toBeGreaterThanOrEqual(200);
    expect(estimate).toBeLessThanOrEqual(Math.max(most, 2_500));
  });

  it.each([
    ["prompts whose bytes say nothing", { promptBytes: null, promptTokens: 60 }],
    ["prompts of no tokens", { promptBytes: 1_000, promptTokens: 0 }],
  ])("learns nothing from %s", (_name, prompt) => {
    const estimator = new TokenEstimator(NOT_COUNTED);
    learnPrompts(estimator, times(200, prompt));
    expect(estimator.estimatePrompt(SUBJECT, 4_000)).toBe(1_000);
  });
});

describe("TokenEstimator.estimateOutput", () => {
  it("says never fewer tokens than there were deltas", () => {
    const estimator = new TokenEstimator(NOT_COUNTED);
    expect(estimator.estimateOutput(SUBJECT, { generatedBytes: 40, generatedDeltas: 3 })).toBe(10);
    expect(estimator.estimateOutput(SUBJECT, { generatedBytes: 40, generatedDeltas: 30 })).toBe(30);
    expect(estimator.estimateOutput(SUBJECT, { generatedBytes: 0, generatedDeltas: 0 })).toBe(0);
  });

  it("follows what a model's answers came to", () => {
    const estimator = new TokenEstimator(NOT_COUNTED);
    const answer = { ...NO_PROMPT, generatedBytes: 1_000, generatedDeltas: 1, outputTokens: 500 };
    for (const known of times(200, answer)) estimator.learn(SUBJECT, known);
    const estimate = estimator.estimateOutput(SUBJECT, { generatedBytes: 1_000, generatedDeltas: 1 });
    expect(Math.abs(estimate - 500)).toBeLessThan(30);
  });
});

describe("the fewest tokens", () => {
  const known = (usage: Partial<KnownUsage>): KnownUsage => ({ ...NO_PROMPT, ...NO_OUTPUT, ...usage });

  it("are one for each 128 bytes, and one for each delta, before anything was reported", () => {
    const estimator = new TokenEstimator(NOT_COUNTED);
    expect(estimator.minimumPromptTokens(SUBJECT, 180_000)).toBe(1_406);
    expect(estimator.minimumOutputTokens(SUBJECT, { generatedBytes: 1_280, generatedDeltas: 3 })).toBe(10);
    expect(estimator.minimumOutputTokens(SUBJECT, { generatedBytes: 1_280, generatedDeltas: 30 })).toBe(30);
  });

  it("only ever fall, to what an upstream reported", () => {
    const estimator = new TokenEstimator(NOT_COUNTED);
    estimator.learn(SUBJECT, known({ promptBytes: 100_000, promptTokens: 100 }));
    estimator.learn(SUBJECT, known({ generatedBytes: 4_000, generatedDeltas: 1_000, outputTokens: 20 }));
    estimator.learn(SUBJECT, known({ promptBytes: 100, promptTokens: 100 }));
    estimator.learn(SUBJECT, known({ generatedBytes: 10, generatedDeltas: 1, outputTokens: 20 }));
    expect(estimator.minimumPromptTokens(SUBJECT, 180_000)).toBe(180);
    expect(estimator.minimumOutputTokens(SUBJECT, { generatedBytes: 4_000, generatedDeltas: 1_000 })).toBe(
      20,
    );
  });
});

describe("the fewest tokens for others than who has shown them", () => {
  const made = { ...NO_PROMPT, promptBytes: 1_000_000, promptTokens: 1, ...NO_OUTPUT };
  const cut = { ...NO_PROMPT, generatedBytes: 4_000, generatedDeltas: 1_000, outputTokens: 20 };
  const third = { model: MODEL, organizationId: "org_3" };

  it("stay as they are, whatever one organization sends", () => {
    const estimator = new TokenEstimator(NOT_COUNTED);
    for (const known of times(50, made)) estimator.learn(SUBJECT, known);
    estimator.learn(SUBJECT, cut);
    expect(estimator.minimumPromptTokens(SUBJECT, 180_000)).toBe(0);
    expect(estimator.minimumPromptTokens(OTHER, 180_000)).toBe(1_406);
    expect(estimator.minimumOutputTokens(OTHER, { generatedBytes: 10, generatedDeltas: 100 })).toBe(100);
  });

  it("fall to what two organizations have shown", () => {
    const estimator = new TokenEstimator(NOT_COUNTED);
    estimator.learn(SUBJECT, made);
    estimator.learn(OTHER, { ...made, promptBytes: 1_000, promptTokens: 1 });
    expect(estimator.minimumPromptTokens(third, 180_000)).toBe(180);
    expect(estimator.minimumPromptTokens(SUBJECT, 180_000)).toBe(0);
  });
});

describe("the chat template's tokens", () => {
  const TEN_MINUTES_MS = 600_000;
  const usual = { upstreamBytes: 150, conversationBytes: 2_000, hasTools: false, promptTokens: 60 };
  const odd = { ...usual, promptTokens: 90_000 };

  it("that one organization's prompts have shown hold no more than 1,024 for another", () => {
    const estimator = new TokenEstimator(NOT_COUNTED);
    for (const counted of times(50, odd)) learnTemplate(estimator, counted);
    expect(estimator.overheadTokens(SUBJECT, false)).toBeGreaterThan(89_000);
    expect(estimator.overheadTokens(OTHER, false)).toBe(1_024);
    expect(estimator.overheadTokens({ ...OTHER, model: "acme/other" }, false)).toBe(0);
    expect(estimator.overheadTokens(SUBJECT, true)).toBe(0);
  });

  it("are known to the organization itself and to others as long as prompts show them", () => {
    const clock = { monotonicMs: () => now };
    let now = 0;
    const estimator = new TokenEstimator(NOT_COUNTED, clock);
    const counted = { ...usual, promptTokens: 450 };
    for (; now < 10 * TEN_MINUTES_MS; now += TEN_MINUTES_MS / 4) {
      learnTemplate(estimator, counted);
      for (const subject of [SUBJECT, OTHER]) {
        expect(estimator.overheadTokens(subject, false)).toBeGreaterThan(400);
      }
    }
  });

  it("fall again when it was an exception, for the organization itself as well", () => {
    const clock = { monotonicMs: () => now };
    let now = 0;
    const estimator = new TokenEstimator(NOT_COUNTED, clock);
    learnTemplate(estimator, odd);
    for (; now < 2 * TEN_MINUTES_MS; now += 1_000) learnTemplate(estimator, usual);
    expect(estimator.overheadTokens(SUBJECT, false)).toBeLessThan(64);
    expect(estimator.overheadTokens(OTHER, false)).toBeLessThan(64);
  });

  it("are forgotten of the quietest organization beyond a thousand of them, but for what others have of it", () => {
    const estimator = new TokenEstimator(NOT_COUNTED);
    learnTemplate(estimator, odd);
    for (let organization = 0; organization < 1_000; organization += 1) {
      learnTemplate(estimator, usual, { model: MODEL, organizationId: `org_many_${organization}` });
    }
    expect(estimator.overheadTokens(SUBJECT, false)).toBe(1_024);
  });

  it("are told where they are more than configured: by which model, how often, and by how much at most", () => {
    const estimator = new TokenEstimator(NOT_COUNTED);
    const other = { ...SUBJECT, model: "acme/other" };
    for (const promptTokens of [240, 400, 220, 200]) {
      learnTemplate(estimator, { ...usual, promptTokens }, SUBJECT, 50);
    }
    learnTemplate(estimator, { ...usual, hasTools: true, promptTokens: 201 }, other, 50);
    expect(estimator.exceededOverheads).toEqual([
      { model: MODEL, hasTools: false, prompts: 3, tokens: 250 },
      { model: "acme/other", hasTools: true, prompts: 1, tokens: 51 },
    ]);
  });

  it("fall again when nothing is sent any more", () => {
    let now = 0;
    const estimator = new TokenEstimator(NOT_COUNTED, { monotonicMs: () => now });
    learnTemplate(estimator, odd);
    now = 2 * TEN_MINUTES_MS;
    expect(estimator.overheadTokens(SUBJECT, false)).toBe(0);
  });
});

describe("TokenEstimator.countOutput and countPrompt", () => {
  const generated = { generatedBytes: 11, generatedDeltas: 9, generatedText: "hello world" };

  it("ask the tokenizer", async () => {
    const estimator = new TokenEstimator(COUNTS_WORDS);
    expect(await estimator.countOutput(SUBJECT, generated)).toBe(2);
    expect(await estimator.countPrompt(SUBJECT, "one two three")).toBe(3);
  });

  it("estimate by bytes where the tokenizer cannot count", async () => {
    const estimator = new TokenEstimator(NOT_COUNTED);
    expect(await estimator.countOutput(SUBJECT, generated)).toBe(9);
    expect(await estimator.countPrompt(SUBJECT, "é".repeat(200))).toBe(100);
    expect(await estimator.countPrompt(SUBJECT, "")).toBe(1);
  });

  it("add the chat template's tokens that short prompts have shown", async () => {
    const estimator = new TokenEstimator(COUNTS_WORDS);
    const shown = { upstreamBytes: 90, conversationBytes: 12, hasTools: false, promptTokens: 71 };
    learnTemplate(estimator, { ...shown, hasTools: true, promptTokens: 500 });
    learnTemplate(estimator, { ...shown, conversationBytes: 1_025, promptTokens: 500 });
    expect(await estimator.countPrompt(SUBJECT, "one two three")).toBe(3);
    learnTemplate(estimator, shown);
    // To others it is known as well.
    for (const subject of [SUBJECT, OTHER]) {
      expect(await estimator.countPrompt(subject, "one two three")).toBe(71);
      expect(await estimator.countPrompt(subject, "word ".repeat(999).trimEnd())).toBe(999 + 68);
    }
  });

  it("add nothing where short prompts came to no more than their text", async () => {
    const estimator = new TokenEstimator(COUNTS_WORDS);
    learnTemplate(estimator, {
      upstreamBytes: 90,
      conversationBytes: 13,
      hasTools: false,
      promptTokens: 3,
    });
    expect(await estimator.countPrompt(SUBJECT, "one two three")).toBe(3);
    expect(await estimator.countPrompt(SUBJECT, "one two three four")).toBe(4);
    expect(await estimator.countPrompt(SUBJECT, "word ".repeat(999).trimEnd())).toBe(999);
  });

  it("estimate by bytes where only a part of the text was kept", async () => {
    const estimator = new TokenEstimator(COUNTS_WORDS);
    const long = { ...generated, generatedBytes: MAX_TOKENIZER_BYTES + 4 };
    expect(await estimator.countOutput(SUBJECT, long)).toBe(MAX_TOKENIZER_BYTES / 4 + 1);
  });
});
