import { describe, expect, it } from "vitest";
import { chunk, completion, DONE, runStream, toMessage } from "../../../../support/messages-exchange.ts";

const tool_calls = [{ index: 0, id: "c", type: "function", function: { name: "f", arguments: "{}" } }];

interface Case {
  readonly message?: Record<string, unknown>;
  readonly choice?: Record<string, unknown>;
  readonly fields?: Record<string, unknown>;
}

/** The same ending, whole and streamed. */
function stopsOf({ message = { content: "Hi" }, choice = {}, fields = {} }: Case): unknown[] {
  const whole = toMessage(completion(message, { choice }), fields);
  const pieces = [chunk(message), chunk({}, { choice: { finish_reason: "stop", ...choice } }), DONE];
  const delta = runStream(pieces, fields).events.find(({ event }) => event === "message_delta")!.data[
    "delta"
  ];
  return [whole, delta].map((stop) => {
    const { stop_reason, stop_sequence, stop_details } = stop as typeof whole;
    return { stop_reason, stop_sequence, stop_details };
  });
}

const stop = (stop_reason: string, more: object = {}) => {
  const expected = { stop_reason, stop_sequence: null, stop_details: null, ...more };
  return [expected, expected];
};

describe("stop reasons", () => {
  it.each(["length", "max_tokens"])("[stop.max_tokens] %s, with tool calls too", (finish_reason) => {
    expect(stopsOf({ choice: { finish_reason } })).toEqual(stop("max_tokens"));
    expect(stopsOf({ choice: { finish_reason }, message: { tool_calls } })).toEqual(stop("max_tokens"));
  });

  it("[stop.refusal] content_filter, or a refusal", () => {
    const details = (explanation: string | null) => ({
      stop_details: { type: "refusal", category: null, explanation },
    });
    expect(stopsOf({ choice: { finish_reason: "content_filter" } })).toEqual(stop("refusal", details(null)));
    expect(stopsOf({ message: { refusal: "No." } })).toEqual(stop("refusal", details("No.")));
  });

  it.each(["stop", "tool_calls", "function_call", "eos_token", "tool_use"])(
    "[stop.tool_use] %s with a tool call",
    (finish_reason) => {
      expect(stopsOf({ choice: { finish_reason }, message: { tool_calls } })).toEqual(stop("tool_use"));
    },
  );

  it.each(["stop_reason", "matched_stop"])(
    "[stop.stop_sequence] %s, when the client asked for it",
    (field) => {
      const fields = { stop_sequences: ["END"] };
      expect(stopsOf({ choice: { [field]: "END" }, fields })).toEqual(
        stop("stop_sequence", { stop_sequence: "END" }),
      );
      expect(stopsOf({ choice: { [field]: "<|im_end|>" }, fields })).toEqual(stop("end_turn"));
      expect(stopsOf({ choice: { [field]: 151_645 }, fields })).toEqual(stop("end_turn"));
      expect(stopsOf({ choice: { [field]: "END" } })).toEqual(stop("end_turn"));
    },
  );

  it.each(["stop", "eos_token", "tool_calls", "COMPLETE"])(
    "[stop.end_turn] %s without a tool call",
    (finish_reason) => {
      expect(stopsOf({ choice: { finish_reason } })).toEqual(stop("end_turn"));
    },
  );

  it("[stop.end_turn] no finish reason in a whole answer, or before [DONE]", () => {
    expect(toMessage(completion({ content: "Hi" }, { choice: { finish_reason: null } })).stop_reason).toBe(
      "end_turn",
    );
    const { events } = runStream([chunk({ content: "Hi" }), DONE]);
    expect(events.at(-2)!.data).toMatchObject({ delta: { stop_reason: "end_turn" } });
  });

  it("[stop.always_present] the fields are there, null where they do not apply", () => {
    const message = toMessage(completion({ content: "Hi" }));
    expect(message).toHaveProperty("stop_sequence", null);
    expect(message).toHaveProperty("stop_details", null);
    const { events } = runStream([chunk({ content: "Hi" }), DONE]);
    expect(events.at(-2)!.data["delta"]).toEqual({
      stop_reason: "end_turn",
      stop_sequence: null,
      stop_details: null,
      container: null,
    });
  });
});

describe("usage", () => {
  const usageOf = (usage: unknown) => toMessage(completion({ content: "Hi" }, { body: { usage } })).usage;
  const tokens = { prompt_tokens: 100, completion_tokens: 20 };

  it.each([
    ["OpenAI, vLLM", { prompt_tokens_details: { cached_tokens: 60 } }],
    ["DeepSeek", { prompt_cache_hit_tokens: 60 }],
    ["Moonshot", { cached_tokens: 60 }],
    ["the first positive", { prompt_tokens_details: { cached_tokens: 0 }, prompt_cache_hit_tokens: 60 }],
  ])("[usage.cache_read] from %s", (_name, more) => {
    expect(usageOf({ ...tokens, ...more })).toMatchObject({ cache_read_input_tokens: 60, input_tokens: 40 });
  });

  it.each(["cache_write_tokens", "cache_creation_tokens"])("[usage.cache_creation] from %s", (field) => {
    const prompt_tokens_details = { cached_tokens: 50, [field]: 30 };
    expect(usageOf({ ...tokens, prompt_tokens_details })).toMatchObject({
      input_tokens: 20,
      cache_read_input_tokens: 50,
      cache_creation_input_tokens: 30,
    });
  });

  it("[usage.input] the three add up to the prompt, whatever the upstream says", () => {
    const prompt_tokens_details = { cached_tokens: 90, cache_write_tokens: 90 };
    expect(usageOf({ ...tokens, prompt_tokens_details })).toMatchObject({
      input_tokens: 0,
      cache_read_input_tokens: 90,
      cache_creation_input_tokens: 10,
    });
    expect(usageOf(tokens).input_tokens).toBe(100);
  });

  it("[usage.output] are the completion's tokens", () => {
    expect(usageOf(tokens).output_tokens).toBe(20);
  });

  it("[usage.thinking] the reasoning's, or null", () => {
    const details = (reasoning_tokens: unknown) => ({ completion_tokens_details: { reasoning_tokens } });
    expect(usageOf({ ...tokens, ...details(7) }).output_tokens_details).toEqual({ thinking_tokens: 7 });
    expect(usageOf({ ...tokens, ...details(0) }).output_tokens_details).toEqual({ thinking_tokens: 0 });
    expect(usageOf({ ...tokens, ...details(null) }).output_tokens_details).toBeNull();
    expect(usageOf(tokens).output_tokens_details).toBeNull();
  });

  it("[usage.nulls] the rest is null", () => {
    expect(usageOf(tokens)).toMatchObject({
      cache_creation: null,
      server_tool_use: null,
      service_tier: null,
      speed: null,
      inference_geo: null,
    });
  });

  it.each([null, undefined, "x", { prompt_tokens: -1, completion_tokens: 1 }, { prompt_tokens: "9" }])(
    "[usage.missing] %j gives zeros",
    (usage) => {
      expect(usageOf(usage)).toMatchObject({
        input_tokens: 0,
        cache_read_input_tokens: 0,
        cache_creation_input_tokens: 0,
        output_tokens: 0,
      });
    },
  );
});
