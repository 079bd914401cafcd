import { describe, expect, it } from "vitest";
import {
  contentOf,
  chunk,
  completion,
  DONE,
  FINISH,
  refusal,
  toChat,
  toMessage,
} from "../../../../support/messages-exchange.ts";

const effort = (fields: object, profile: object = {}) =>
  toChat(fields as Record<string, unknown>, profile).reasoning_effort;

describe("thinking and effort", () => {
  it("[thinking.order] the first that says something counts", () => {
    const enabled = { type: "enabled", budget_tokens: 1_024 };
    const output_config = { effort: "high" };
    expect(effort({ reasoning_effort: "minimal", thinking: { type: "disabled" }, output_config })).toBe(
      "minimal",
    );
    expect(effort({ thinking: { type: "disabled" }, output_config })).toBe("none");
    expect(effort({ thinking: enabled, output_config })).toBe("high");
    expect(effort({ thinking: enabled })).toBe("low");
    expect(effort({})).toBeUndefined();
  });

  it.each([
    [1, "low"],
    [4_096, "low"],
    [4_097, "medium"],
    [16_384, "medium"],
    [16_385, "high"],
    [1_000_000, "high"],
  ])("[thinking.budget] of %i tokens is %s", (budget_tokens, expected) => {
    expect(effort({ thinking: { type: "enabled", budget_tokens } })).toBe(expected);
  });

  it.each([undefined, null, "1024", 10.5])("[thinking.budget] %j is refused", (budget_tokens) => {
    expect(refusal({ thinking: { type: "enabled", budget_tokens } })).toBe(
      "400 missing_required_parameter thinking.enabled.budget_tokens: Field required",
    );
  });

  it.each(["adaptive", "between_tools", "tomorrows_thinking"])(
    "[thinking.adaptive] %s says nothing",
    (type) => {
      expect(toChat({ thinking: { type } })).toEqual(toChat());
      expect(effort({ thinking: { type }, output_config: { effort: "xhigh" } })).toBe("xhigh");
    },
  );

  it.each(["low", "medium", "high", "xhigh", "max"])("[thinking.effort] %s is passed on", (level) => {
    expect(effort({ output_config: { effort: level } })).toBe(level);
  });

  it.each([
    ["max", ["low", "medium", "high"], "high"],
    ["medium", ["low", "high"], "low"],
    ["none", ["low", "medium"], "low"],
    ["low", ["none", "high"], "none"],
    ["high", [], undefined],
  ])("[thinking.effort] %s with the levels %j is %s", (level, reasoningEfforts, expected) => {
    expect(effort({ reasoning_effort: level }, { reasoningEfforts })).toBe(expected);
  });

  it.each(["ultra", 7, null])("[thinking.effort] %j says nothing", (level) => {
    expect(toChat({ output_config: { effort: level } })).toEqual(toChat());
  });

  it("[thinking.explicit] an unknown word is refused", () => {
    expect(refusal({ reasoning_effort: "ultra" })).toBe(
      "400 invalid_parameter reasoning_effort: Input should be one of 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'",
    );
    expect(effort({ reasoning_effort: "minimal" })).toBe("minimal");
  });

  it("[thinking.hidden] disabled thinking hides reasoning", () => {
    const thinking = { type: "disabled" };
    const body = completion({ reasoning_content: "hm", content: "Hi" });
    expect(toMessage(body, { thinking }).content).toEqual([{ type: "text", text: "Hi" }]);
    const pieces = [chunk({ reasoning_content: "hm" }), chunk({ content: "Hi" }), FINISH, DONE];
    expect(contentOf(pieces, { thinking })).toEqual(["start text", "text Hi", "stop"]);
  });
});
