import { describe, expect, it } from "vitest";
import { howItFailed, joinOutputs } from "../../../src/data-path/exchange/answer-output.ts";
import type { Answer, AnswerOutput } from "../../../src/data-path/translation/client-protocol.ts";

function output(text: string, changes: Partial<AnswerOutput> = {}): AnswerOutput {
  return { bytes: Buffer.from(text), final: false, failed: null, ...changes };
}

describe("joinOutputs", () => {
  it("puts the last bytes behind those before, and ends as they do", () => {
    const joined = joinOutputs(output("data: 1\n\n"), output("data: [DONE]\n\n", { final: true }));
    expect(Buffer.from(joined.bytes).toString()).toBe("data: 1\n\ndata: [DONE]\n\n");
    expect(joined.final).toBe(true);
  });

  it("is the last where nothing came before", () => {
    const last = output("x", { final: true });
    expect(joinOutputs(output(""), last)).toBe(last);
  });
});

describe("howItFailed", () => {
  it.each([
    [true, "refused_by_upstream"],
    [false, "broken"],
  ])("is free only before anything was generated: %s", (isRefused, outcome) => {
    expect(howItFailed({ observation: { isRefused } } as Answer)).toBe(outcome);
  });
});
