import { describe, expect, it } from "vitest";
import type { ChargeInput } from "../../../src/shared/stored/settlement.ts";
import type { Answer } from "../../../src/data-path/translation/client-protocol.ts";
import { createAccount, IDENTITY, OK } from "./account-fixture.ts";
import { NO_TOKENS } from "../../../src/shared/usage/token-usage.ts";

const USAGE = { ...NO_TOKENS, inputTokens: 30, cachedInputTokens: 20, outputTokens: 7, reasoningTokens: 3 };
/** Of USAGE: 30 + 2 + 70. */
const COST = 102n;
const SUBJECT = { model: IDENTITY.model, organizationId: IDENTITY.organizationId };
const STRICT = { worstCaseMicrocents: 125n, shrunk: null, tagRow: undefined };

describe("RequestAccount.settle", () => {
  it("charges the upstream's own count", async () => {
    const { account, charges, observe } = createAccount();
    observe({ usage: USAGE, generatedBytes: 9_999, generatedDeltas: 999 });
    const settled = await account.settle("complete", OK);
    expect(settled).toMatchObject({ tokens: USAGE, costMicrocents: COST, estimated: false });
    expect(charges).toEqual([
      {
        ...IDENTITY,
        totalMicrocents: COST,
        sequence: 1,
        tokens: {
          ...NO_TOKENS,
          inputTokens: 30,
          cachedInputTokens: 20,
          outputTokens: 7,
          reasoningTokens: 3,
          cacheWriteTokens: 0,
          cacheWrite1hTokens: 0,
          inputAudioTokens: 0,
          outputAudioTokens: 0,
        },
        requests: 1,
        estimated: false,
        estimate: null,
        final: { ...OK, checks: [expect.objectContaining({ name: "price", passed: true })] },
      },
    ]);
  });

  it("charges the prompt's estimate and the tokenizer's count where the upstream told nothing", async () => {
    const { account, observe } = createAccount({ counted: 12 });
    observe({ generatedBytes: 100, generatedDeltas: 4, generatedText: "hello" });
    const settled = await account.settle("complete", OK);
    expect(settled).toMatchObject({ estimated: true, costMicrocents: 100n + 120n });
    expect(settled.tokens).toMatchObject({ inputTokens: 100, outputTokens: 12 });
  });

  it("charges by bytes and deltas where the tokenizer fails", async () => {
    const { account, observe } = createAccount();
    observe({ generatedBytes: 100, generatedDeltas: 40 });
    expect((await account.settle("broken", OK)).tokens.outputTokens).toBe(40);
  });

  it("charges an estimate of all answers where the usage of several is that of one", async () => {
    const requested = { choices: 2, prompts: 1 };
    const seen = { usage: USAGE, generatedBytes: 80, generatedDeltas: 2 };
    const { account, observe } = createAccount({ counted: 15, requested });
    observe(seen);
    const settled = await account.settle("complete", OK);
    expect(settled).toMatchObject({ estimated: true, tokens: { ...USAGE, outputTokens: 15 } });
    // Of one answer the same usage is what it says.
    const single = createAccount({ counted: 15 });
    single.observe(seen);
    expect(await single.account.settle("complete", OK)).toMatchObject({ estimated: false, tokens: USAGE });
  });

  it("charges the usage of several answers where a tokenizer, or bytes, come to no more than a third beyond it", async () => {
    const requested = { choices: 2, prompts: 1 };
    for (const seen of [
      { counted: 9, generatedBytes: 80 },
      { counted: 15, generatedBytes: 36 },
    ]) {
      const { account, observe } = createAccount({ counted: seen.counted, requested });
      observe({ usage: USAGE, generatedDeltas: 2, generatedBytes: seen.generatedBytes });
      expect(await account.settle("complete", OK)).toMatchObject({ estimated: false, tokens: USAGE });
    }
  });

  it("charges all prompts where the usage of several is that of one", async () => {
    const { account, observe } = createAccount({ counted: 15, requested: { choices: 2, prompts: 2 } });
    observe({ usage: USAGE, generatedBytes: 80, generatedDeltas: 15 });
    const { tokens } = await account.settle("complete", OK);
    expect(tokens.inputTokens + tokens.cachedInputTokens).toBe(100);
    expect(tokens.outputTokens).toBe(15);
  });

  it("never estimates more than the request can have", async () => {
    const { account, observe } = createAccount({ counted: 5_000 });
    observe({ generatedBytes: 100, generatedDeltas: 1 });
    expect((await account.settle("broken", OK)).tokens.outputTokens).toBe(50);
  });

  it("charges the prompt alone where no answer began", async () => {
    const { account, charges } = createAccount();
    expect(await account.settle("broken", { status: 499, errorCode: null })).toMatchObject({
      costMicrocents: account.promptFloorMicrocents,
      estimated: true,
    });
    expect(account.promptFloorMicrocents).toBe(100n);
    expect(charges[0]).toMatchObject({ requests: 1, final: { status: 499 } });
  });

  it.each([
    ["not_sent", 0],
    ["refused_by_upstream", 1],
  ] as const)("charges nothing when it was %s", async (outcome, requests) => {
    const { account, charges, observe } = createAccount();
    observe({ generatedBytes: 100, generatedDeltas: 4 });
    const settled = await account.settle(outcome, { status: 503, errorCode: "model_starting" });
    expect(settled).toMatchObject({ costMicrocents: 0n, estimated: false });
    expect(charges[0]).toMatchObject({ totalMicrocents: 0n, requests });
  });

  it.each(["broken", "complete"] as const)(
    "takes the text of a %s answer where its usage is behind it",
    async (outcome) => {
      const { account, observe } = createAccount({ counted: 6 });
      observe({
        usage: { ...USAGE, outputTokens: 0, reasoningTokens: 0 },
        isUsageIncomplete: true,
        generatedBytes: 20,
        generatedDeltas: 5,
      });
      const settled = await account.settle(outcome, OK);
      expect(settled.tokens).toMatchObject({ inputTokens: 30, cachedInputTokens: 20, outputTokens: 6 });
      expect(settled.estimated).toBe(true);
    },
  );

  it("never takes less than a usage says that is behind", async () => {
    const { account, observe } = createAccount({ counted: 6 });
    observe({
      usage: { ...USAGE, outputTokens: 9 },
      isUsageIncomplete: true,
      generatedBytes: 20,
      generatedDeltas: 5,
    });
    expect((await account.settle("complete", OK)).tokens.outputTokens).toBe(9);
  });

  it("is decided by its first call", async () => {
    const { account, charges, endings, observe } = createAccount();
    observe({ usage: USAGE });
    const [first, second] = await Promise.all([
      account.settle("complete", OK),
      account.settle("broken", { status: 499, errorCode: null }),
    ]);
    expect(second).toBe(first);
    expect(await account.settle("not_sent", OK)).toBe(first);
    expect(charges).toHaveLength(1);
    expect(endings).toHaveLength(1);
  });

  it("resolves only when the charge is on record", async () => {
    let acknowledge = (): void => undefined;
    const acknowledged = new Promise<void>((resolve) => {
      acknowledge = resolve;
    });
    const { account, observe } = createAccount({ charge: () => acknowledged });
    observe({ usage: USAGE });
    const order: string[] = [];
    const settled = account.settle("complete", OK).then(() => order.push("settled"));
    await Promise.resolve();
    order.push("acknowledged");
    acknowledge();
    await settled;
    expect(order).toEqual(["acknowledged", "settled"]);
  });
});

describe("RequestAccount.chargeProgress", () => {
  it("charges a lower bound, with the best estimate beside it and a higher sequence number each time", async () => {
    const { account, charges, observe } = createAccount();
    observe({ generatedBytes: 4, generatedDeltas: 1 });
    await account.chargeProgress();
    await account.chargeProgress();
    observe({ generatedBytes: 120, generatedDeltas: 3 });
    await account.chargeProgress();
    observe({ usage: USAGE, generatedBytes: 120, generatedDeltas: 3 });
    await account.chargeProgress();
    await account.settle("complete", OK);
    await account.chargeProgress();
    expect(
      charges.map(({ sequence, totalMicrocents, estimate, final }) => [
        sequence,
        totalMicrocents,
        estimate?.totalMicrocents,
        final !== null,
      ]),
    ).toEqual([
      // 400 bytes are at least 3 tokens, which may all come from the upstream's cache; a token a delta.
      [1, 11n, 110n, false],
      [2, 31n, 100n + 300n, false],
      // 50 prompt tokens as reported, at the price of cached ones until the end.
      [3, 75n, COST, false],
      [4, COST, undefined, true],
    ]);
  });

  it.each([
    ["nothing was generated yet", {}],
    ["only the prompt's tokens were reported", { usage: { ...USAGE, outputTokens: 0 } }],
  ])("charges nothing while %s: an error may come that costs nothing", async (_name, observation) => {
    const { account, charges, observe } = createAccount();
    observe(observation);
    await account.chargeProgress();
    expect(charges).toEqual([]);
  });

  it("counts nothing that a learned low end says need not be", async () => {
    const { account, charges, estimator, observe } = createAccount();
    const few = { promptBytes: 10_000, promptTokens: 10, generatedBytes: 100, generatedDeltas: 100 };
    estimator.learn(SUBJECT, { ...few, template: null, outputTokens: 25 });
    observe({ generatedBytes: 40, generatedDeltas: 40 });
    await account.chargeProgress();
    // No prompt token for sure, and a token for four deltas.
    expect(charges.map(({ totalMicrocents }) => totalMicrocents)).toEqual([100n]);
  });

  it("is never above what the same answer is charged when it is broken off", async () => {
    const { account, charges, observe } = createAccount({ counted: 2 });
    observe({ generatedBytes: 100, generatedDeltas: 40, generatedText: "hello" });
    await account.chargeProgress();
    const settled = await account.settle("broken", OK);
    expect(settled.tokens.outputTokens).toBe(40);
    expect(charges[0]?.totalMicrocents).toBeLessThanOrEqual(settled.costMicrocents);
  });

  it("charges nothing before an answer has begun", async () => {
    const { account, charges } = createAccount();
    await account.chargeProgress();
    expect(charges).toEqual([]);
  });

  it("is never above the worst case that is held", async () => {
    const { account, charges, observe } = createAccount();
    account.setTerms(STRICT);
    observe({ generatedBytes: 4, generatedDeltas: 40 });
    await account.chargeProgress();
    observe({ generatedBytes: 4, generatedDeltas: 45 });
    await account.chargeProgress();
    expect(charges.map(({ totalMicrocents }) => totalMicrocents)).toEqual([125n]);
    expect(charges.map(({ estimate }) => estimate?.totalMicrocents)).toEqual([125n]);
  });

  it("ends in no estimate above the worst case that is held", async () => {
    const { account, charges, observe } = createAccount({ counted: 45 });
    account.setTerms(STRICT);
    observe({ generatedBytes: 4, generatedDeltas: 45 });
    expect(await account.settle("complete", OK)).toMatchObject({ estimated: true, costMicrocents: 125n });
    expect(charges.at(-1)?.final?.checks[0]?.figures).toMatchObject({ bounded_by: "hold" });
    const told = createAccount();
    told.account.setTerms(STRICT);
    told.observe({ usage: { ...USAGE, outputTokens: 45 } });
    expect((await told.account.settle("complete", OK)).costMicrocents).toBeGreaterThan(125n);
    expect(told.charges.at(-1)?.final?.checks[0]?.figures).not.toHaveProperty("bounded_by");
  });

  it("waits for the one before", async () => {
    const waiting: (() => void)[] = [];
    const { account, charges, observe } = createAccount({
      charge: () => new Promise((resolve) => waiting.push(resolve)),
    });
    observe({ generatedBytes: 4, generatedDeltas: 1 });
    const first = account.chargeProgress();
    observe({ generatedBytes: 40, generatedDeltas: 10 });
    await account.chargeProgress();
    expect(charges).toHaveLength(1);
    waiting[0]?.();
    await first;
    void account.chargeProgress();
    expect(charges).toHaveLength(2);
  });
});

describe("RequestAccount.onSettled", () => {
  it("comes only when progress that is on its way has been answered too, which the client does not wait for", async () => {
    let answer = (): void => undefined;
    const charge = (input: ChargeInput) =>
      input.final === null
        ? new Promise<void>((resolve) => {
            answer = resolve;
          })
        : Promise.resolve();
    const tested = createAccount({ charge });
    tested.observe({ generatedBytes: 4, generatedDeltas: 1 });
    const progress = tested.account.chargeProgress();
    await tested.account.settle("broken", OK);
    expect(tested.settledCount).toBe(0);
    answer();
    await progress;
    await new Promise(setImmediate);
    expect(tested.settledCount).toBe(1);
  });
});

describe("the state of an account", () => {
  it("has no response before its route and after its end, and no new terms once it is routed", async () => {
    const { account, observe } = createAccount();
    expect(() => account.observe({} as Answer)).toThrow("opening");
    observe({});
    expect(() => account.setTerms(STRICT)).toThrow("routed");
    await account.settle("complete", OK);
    expect(() => account.observe({} as Answer)).toThrow("settling");
  });
});

describe("what an account teaches", () => {
  it("is the upstream's own count and never an estimate", async () => {
    const { account, estimator, observe } = createAccount({ counted: 1_000 });
    const before = estimator.estimatePrompt(SUBJECT, 1_000);
    observe({ generatedBytes: 1_000, generatedDeltas: 1 });
    await account.settle("broken", OK);
    expect(estimator.estimatePrompt(SUBJECT, 1_000)).toBe(before);
    const known = createAccount();
    known.observe({ usage: { ...USAGE, inputTokens: 380 } });
    await known.account.settle("complete", OK);
    expect(known.estimator.estimatePrompt(SUBJECT, 1_000)).toBeGreaterThan(before);
  });
});
