import { describe, expect, it } from "vitest";
import {
  TemplateWatch,
  type WatchedRequest,
} from "../../../src/data-path/settlement/tokens/template-watch.ts";
import type { PromptSize } from "../../../src/data-path/translation/client-protocol.ts";
import { IDENTITY } from "./account-fixture.ts";
import { createOpenInput } from "./settlement-fixture.ts";

interface WatchedOf {
  readonly size?: Partial<PromptSize>;
  readonly isStrict?: boolean;
  readonly upstreamBytes?: number;
}

function watchedOf({ size = {}, isStrict = false, upstreamBytes = 100 }: WatchedOf = {}): WatchedRequest {
  const input = createOpenInput({ isStrict }, upstreamBytes);
  const request = { ...input.request, promptSize: () => ({ ...input.request.promptSize(), ...size }) };
  return { ...input, request };
}

function createWatch() {
  const learned: { readonly hasTools: boolean; readonly promptTokens: number }[] = [];
  const watch = new TemplateWatch({
    learnOverhead: (_, { hasTools, promptTokens }) => void learned.push({ hasTools, promptTokens }),
  });
  return { watch, learned };
}

describe("TemplateWatch", () => {
  it("learns from a prompt that stands whole in the body", () => {
    const { watch, learned } = createWatch();
    watch.watch(watchedOf({ size: { hasTools: true } }))?.(90);
    expect(learned).toEqual([{ hasTools: true, promptTokens: 90 }]);
    expect(watch.exceeded).toEqual([]);
  });

  it("tells the model whose template is larger than configured, how often, and by how much at most", () => {
    const { watch } = createWatch();
    for (const tokens of [140, 300, 120]) watch.watch(watchedOf())?.(tokens);
    watch.watch(watchedOf({ size: { hasTools: true } }))?.(101);
    expect(watch.exceeded).toEqual([
      { model: IDENTITY.model, hasTools: false, prompts: 3, tokens: 200 },
      { model: IDENTITY.model, hasTools: true, prompts: 1, tokens: 1 },
    ]);
  });

  it.each([
    { why: "media, whose tokens no byte tells", size: { hasMedia: true } },
    { why: "no messages, and thus no template", size: { messages: 0 } },
    { why: "what the model server adds", size: { isWhole: false } },
  ])("learns nothing from a request with $why", ({ size }) => {
    expect(createWatch().watch.watch(watchedOf({ size }))).toBeNull();
  });

  it("measures no long body but under strict caps, whose holds rest on it", () => {
    const { watch } = createWatch();
    expect(watch.watch(watchedOf({ upstreamBytes: 1_025 }))).toBeNull();
    expect(watch.watch(watchedOf({ upstreamBytes: 1_025, isStrict: true }))).not.toBeNull();
  });
});
