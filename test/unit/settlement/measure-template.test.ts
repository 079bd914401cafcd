import { describe, expect, it } from "vitest";
import { measureTemplate } from "../../../src/data-path/settlement/tokens/estimate-prompt.ts";
import type { TemplateSize } from "../../../src/data-path/settlement/tokens/learned-template.ts";
import type { PromptSize } from "../../../src/data-path/translation/client-protocol.ts";
import { createOpenInput } from "./settlement-fixture.ts";

interface PromptOf {
  readonly size?: Partial<PromptSize>;
  readonly isStrict?: boolean;
  readonly upstreamBytes?: number;
}

function measure({ size = {}, isStrict = false, upstreamBytes = 100 }: PromptOf = {}): TemplateSize | null {
  const input = createOpenInput({ limits: { isStrict } }, upstreamBytes);
  const request = { ...input.request, promptSize: () => ({ ...input.request.promptSize(), ...size }) };
  return measureTemplate({ ...input, request });
}

describe("measureTemplate", () => {
  it("measures a prompt that stands whole in the body", () => {
    expect(measure({ size: { hasTools: true } })).toEqual({
      upstreamBytes: 100,
      conversationBytes: 50,
      hasTools: true,
      configuredTokens: 0,
    });
  });

  it("takes no text for the conversation that may have a schema", () => {
    expect(measure({ size: { textBytes: 101 } })?.conversationBytes).toBeNull();
  });

  it.each([
    { why: "media, whose tokens no byte tells", size: { hasMedia: true } },
    { why: "no messages, and thus no template", size: { messages: 0 } },
    { why: "what the model server adds", size: { isWhole: false } },
  ])("is nothing for a request with $why", ({ size }) => {
    expect(measure({ size })).toBeNull();
  });

  it("measures no long body but under strict caps, whose holds rest on it", () => {
    expect(measure({ upstreamBytes: 1_025 })).toBeNull();
    expect(measure({ upstreamBytes: 1_025, isStrict: true })).not.toBeNull();
  });
});
