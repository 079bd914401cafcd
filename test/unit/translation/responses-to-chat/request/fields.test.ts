import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { describeError, encode } from "../../../../support/messages-exchange.ts";
import { parse, refusal, toChat, toResponse } from "../../../../support/responses-exchange.ts";
import { completion } from "../../../../support/messages-exchange.ts";
import { parseWith } from "../../../../support/parse-with.ts";

describe("a Responses request", () => {
  it("[responses.request.body] is a JSON object that is not too deep", () => {
    const read = (text: string) => parseWith("responses", encode(text));
    expect(describeError(() => read("[]"))).toMatch(/^400 invalid_json /);
    expect(describeError(() => read(`{"input":${"[".repeat(600)}${"]".repeat(600)}}`))).toMatch(/512 levels/);
  });

  it("[responses.request.model] names the upstream's model, and cannot do without", () => {
    expect(toChat().model).toBe("echo-7b");
    expect(refusal({ model: null })).toBe("400 missing_required_parameter model: Field required");
  });

  it("[responses.request.input] is a string or items, and never nothing", () => {
    expect(toChat({ input: "Hi" }).messages).toEqual([{ role: "user", content: "Hi" }]);
    expect(refusal({ input: null })).toBe("400 missing_required_parameter input: Field required");
    expect(refusal({ input: 5 })).toMatch(/^400 invalid_parameter input: /);
    const empty = "400 invalid_parameter input: at least one message with content is required";
    expect(refusal({ input: [] })).toBe(empty);
    expect(refusal({ input: "" })).toBe(empty);
    expect(refusal({ input: [{ role: "developer", content: "Be brief." }] })).toBe(empty);
  });

  it("[responses.request.instructions] come first, a list as items", () => {
    expect(toChat({ instructions: "A" }).messages[0]).toEqual({ role: "system", content: "A" });
    expect(toChat({ instructions: [{ role: "developer", content: "B" }] }).messages[0]).toEqual({
      role: "system",
      content: "B",
    });
  });

  it("[responses.request.max_output_tokens] is an integer from 1", () => {
    expect(toChat({ max_output_tokens: 1 }).max_tokens).toBe(1);
    expect(toChat({ max_output_tokens: 9 }, { maxTokensField: "max_completion_tokens" })).toMatchObject({
      max_completion_tokens: 9,
    });
    expect(refusal({ max_output_tokens: 0 })).toMatch(/^400 invalid_parameter max_output_tokens: /);
    expect(parse({ max_output_tokens: 7 }).maxOutputTokens).toBe(7);
  });

  it("[responses.request.sampling] keeps temperature and top_p, 0 too", () => {
    expect(toChat({ temperature: 0, top_p: 0.5 })).toMatchObject({ temperature: 0, top_p: 0.5 });
  });

  it("[responses.request.stream] always asks for usage", () => {
    expect(toChat({ stream: true, stream_options: { include_obfuscation: true } })).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(toChat()).not.toHaveProperty("stream");
  });

  it("[responses.request.text_format] becomes response_format", () => {
    const schema = { type: "object", properties: { a: { type: "string" } } };
    const format = { type: "json_schema", name: "answer", schema };
    expect(toChat({ text: { format } }).response_format).toEqual({
      type: "json_schema",
      json_schema: { name: "answer", schema },
    });
    expect(toChat({ text: { format: { ...format, strict: false } } }).response_format).toMatchObject({
      json_schema: { strict: false },
    });
    expect(toChat({ text: { format: { type: "json_object" } } }).response_format).toEqual({
      type: "json_object",
    });
    expect(toChat({ text: { format: { type: "text" } } })).not.toHaveProperty("response_format");
    expect(refusal({ text: { format: { type: "grammar" } } })).toMatch(/ text\.format\.type: /);
    expect(refusal({ text: { format: { type: "json_schema", name: "a" } } })).toMatch(
      / text\.format\.schema: /,
    );
    expect(refusal({ text: { format: { type: "json_schema", schema } } })).toMatch(/ text\.format\.name: /);
  });

  it("[responses.request.effort] is the nearest that the model takes; an unknown word says nothing", () => {
    expect(toChat({ reasoning: { effort: "xhigh" } }).reasoning_effort).toBe("xhigh");
    expect(toChat({ reasoning: { effort: "xhigh" } }, { reasoningEfforts: ["low", "high"] })).toMatchObject({
      reasoning_effort: "high",
    });
    expect(toChat({ reasoning: { effort: "ultra" } })).not.toHaveProperty("reasoning_effort");
    expect(() => toChat({ reasoning_effort: "high" })).toThrow("`reasoning: {effort: …}`");
    expect(toChat({ reasoning_effort: null })).not.toHaveProperty("reasoning_effort");
  });

  it("[responses.request.logprobs] are asked for and told", () => {
    const include = ["message.output_text.logprobs"];
    expect(toChat({ include })).toMatchObject({ logprobs: true });
    expect(toChat({ include, top_logprobs: 3 })).toMatchObject({ logprobs: true, top_logprobs: 3 });
    expect(toChat()).not.toHaveProperty("logprobs");
    const content = [{ token: "Hi", logprob: -0.5, top_logprobs: [] }];
    const body = completion({ content: "Hi" }, { choice: { logprobs: { content } } });
    expect(toResponse(body, { include }).output).toMatchObject([{ content: [{ logprobs: content }] }]);
  });

  it("[responses.request.user] is the safety identifier first, hashed where it is long", () => {
    expect(toChat({ user: "u", safety_identifier: "s" }).user).toBe("s");
    const long = "x".repeat(65);
    expect(toChat({ user: long }).user).toBe(createHash("sha256").update(long).digest("hex"));
  });

  it("[responses.request.service_tier] is asked for as it is written, and answered with what served", () => {
    expect(toChat({ service_tier: "Flex" }).service_tier).toBe("Flex");
    expect(toChat({ service_tier: null })).not.toHaveProperty("service_tier");
    const answer = completion({ content: "Hi" });
    expect(toResponse(answer, { service_tier: "flex" })["service_tier"]).toBe("default");
    expect(toResponse({ ...answer, service_tier: "priority" }, {})["service_tier"]).toBe("priority");
    expect(refusal({ service_tier: 1 })).toMatch(/^400 invalid_parameter service_tier: /);
  });

  it("[responses.request.state] is refused in words that say what to send instead", () => {
    for (const field of ["previous_response_id", "conversation"]) {
      expect(refusal({ [field]: "resp_1" })).toBe(
        `400 unsupported_parameter ${field}: this gateway stores no responses; send the whole input with every request`,
      );
    }
    expect(refusal({ prompt: { id: "p" } })).toMatch(/^400 unsupported_parameter prompt: /);
    for (const background of [true, "true", 1]) {
      expect(refusal({ background })).toMatch(/^400 unsupported_parameter background: /);
    }
    toChat({ previous_response_id: null, conversation: null, prompt: null, background: false });
  });

  it("[responses.request.store] is accepted either way and answered with false", () => {
    for (const store of [true, false, null]) {
      expect(toResponse(completion({ content: "Hi" }), { store })["store"]).toBe(false);
      expect(toChat({ store })).not.toHaveProperty("store");
    }
  });

  it("[profile.prompt_cache_key] reaches an upstream that uses it", () => {
    const fields = { prompt_cache_key: "k" };
    expect(toChat(fields, { promptCacheKey: true }).prompt_cache_key).toBe("k");
    expect(toChat(fields)).not.toHaveProperty("prompt_cache_key");
    expect(toChat({}, { promptCacheKey: true })).not.toHaveProperty("prompt_cache_key");
  });

  it("[responses.request.hints] are dropped, and told back where the protocol does so", () => {
    const hints = {
      truncation: "auto",
      metadata: { a: "b" },
      prompt_cache_key: "k",
      text: { verbosity: "low" },
      reasoning: { context: "all_turns", mode: "x" },
      max_tool_calls: 3,
      client_metadata: { installation: "i" },
      context_management: [],
      something_new: 1,
    };
    expect(toChat(hints)).toEqual(toChat());
    expect(toResponse(completion({ content: "Hi" }), hints)).toMatchObject({
      truncation: "disabled",
      metadata: { a: "b" },
      prompt_cache_key: "k",
      text: { format: { type: "text" }, verbosity: "low" },
      max_tool_calls: 3,
    });
  });

  it.each([
    ["stream", "yes"],
    ["temperature", "1"],
    ["tools", {}],
    ["text", "json"],
    ["reasoning", "high"],
    ["metadata", []],
    ["include", "x"],
    ["instructions", 5],
    ["parallel_tool_calls", 1],
    ["user", 5],
  ])("[responses.request.types] is refused when %s is of the wrong type", (field, value) => {
    expect(refusal({ [field]: value })).toMatch(new RegExp(`^400 invalid_parameter ${field}: `));
    toChat({ [field]: null });
  });
});
