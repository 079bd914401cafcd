import { describe, expect, it } from "vitest";
import { completion, describeError, encode } from "../../../../support/messages-exchange.ts";
import { createAnswer, NOW_SECONDS, toChat, toResponse } from "../../../../support/responses-exchange.ts";

const call = (fields: object) => ({ type: "function", ...fields });
const withCalls = (...tool_calls: object[]) => completion({ content: null, tool_calls });
const CUSTOM = { type: "custom", name: "apply_patch" };

describe("a response", () => {
  it("[responses.response.envelope] has every field, and repeats its request", () => {
    const tools = [{ type: "function", name: "f" }];
    const response = toResponse(completion({ content: "Hi" }), {
      tools,
      instructions: "Be brief.",
      temperature: 0,
    });
    expect(response).toMatchObject({
      id: "resp_1",
      object: "response",
      created_at: NOW_SECONDS,
      completed_at: NOW_SECONDS,
      model: "acme/echo",
      instructions: "Be brief.",
      temperature: 0,
      tools: [{ type: "function", name: "f", description: null, parameters: null, strict: null }],
      tool_choice: "auto",
      reasoning: { effort: null, summary: null },
    });
    expect(JSON.stringify(Object.keys(response))).toBe(JSON.stringify([...new Set(Object.keys(response))]));
  });

  it("[responses.response.message] has its text as one message, white space beside calls as none", () => {
    const parts = [
      { type: "text", text: "He" },
      { type: "text", text: "llo" },
    ];
    expect(toResponse(completion({ content: parts })).output).toEqual([
      {
        id: "msg_1",
        type: "message",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "Hello", annotations: [], logprobs: [] }],
      },
    ]);
    const body = completion({ content: "\n\n", tool_calls: [call({ id: "a", function: { name: "f" } })] });
    expect(toResponse(body).output.map(({ type }) => type)).toEqual(["function_call"]);
    expect(toResponse(completion({ content: "" })).output).toEqual([]);
  });

  it("[responses.response.refusal] has a refusal as a part of its own", () => {
    expect(toResponse(completion({ content: null, refusal: "No." }))).toMatchObject({
      status: "completed",
      output: [{ type: "message", content: [{ type: "refusal", refusal: "No." }] }],
    });
  });

  it("[responses.response.function_call] has calls in order, their arguments as they came", () => {
    const { output } = toResponse(
      withCalls(
        call({ id: "a", function: { name: "f", arguments: '{"n":12345678901234567890}' } }),
        call({ id: "a", function: { name: "g", arguments: "{oops" } }),
        call({ function: { name: "h" } }),
        call({ id: "d", function: { name: "i", arguments: { x: 1 } } }),
        call({ id: "e", function: { arguments: "{}" } }),
      ),
    );
    expect(
      output.map((item) => [
        item.type,
        "call_id" in item && item.call_id,
        "arguments" in item && item.arguments,
      ]),
    ).toEqual([
      ["function_call", "a", '{"n":12345678901234567890}'],
      ["function_call", "call_2", "{oops"],
      ["function_call", "call_1", "{}"],
      ["function_call", "d", '{"x":1}'],
    ]);
  });

  it.each([
    ['{"input":"*** Begin"}', "*** Begin"],
    ['{"patch":"*** Begin"}', "*** Begin"],
    ['"*** Begin"', "*** Begin"],
    ["*** Begin", "*** Begin"],
    ['{"input":1}', '{"input":1}'],
    ["", ""],
  ])(
    "[responses.response.custom_call] has of the arguments %j of a custom tool the input %j",
    (args, input) => {
      const body = withCalls(call({ id: "a", function: { name: "apply_patch", arguments: args } }));
      expect(toResponse(body, { tools: [CUSTOM] }).output).toEqual([
        {
          id: "ctc_1",
          type: "custom_tool_call",
          call_id: "a",
          name: "apply_patch",
          input,
          status: "completed",
        },
      ]);
    },
  );

  it("[responses.response.tool_search_call] has the arguments of a search as an object", () => {
    const tools = [{ type: "tool_search", execution: "client" }];
    const body = withCalls(call({ id: "a", function: { name: "tool_search", arguments: '{"query":"x"}' } }));
    expect(toResponse(body, { tools }).output).toEqual([
      {
        id: "tsc_1",
        type: "tool_search_call",
        execution: "client",
        call_id: "a",
        arguments: { query: "x" },
        status: "completed",
      },
    ]);
  });

  it("finds a tool by its namespace again, also where the upstream takes short names only", () => {
    const tools = [
      { type: "namespace", name: "mcp", tools: [{ type: "function", name: "read_the_whole_file" }] },
    ];
    const [sent] = toChat({ tools }, { toolNameMax: 16 }).tools ?? [];
    const body = withCalls(call({ id: "a", function: { name: sent?.function.name, arguments: "{}" } }));
    expect(toResponse(body, { tools }, { toolNameMax: 16 }).output).toMatchObject([
      { namespace: "mcp", name: "read_the_whole_file" },
    ]);
  });

  it("[responses.response.choices] is of the choice of index 0, and there must be one", () => {
    const others = [
      { index: 1, message: { content: "B" } },
      { index: 0, message: { content: "A" } },
    ];
    expect(JSON.stringify(toResponse({ choices: others }).output)).toContain('"A"');
    const read = () => createAnswer().translateBody(encode({ choices: [] }));
    expect(describeError(read)).toMatch(/^502 upstream_error /);
  });

  it.each([
    ["length", "max_output_tokens"],
    ["content_filter", "content_filter"],
  ])("[responses.response.incomplete] is incomplete after %s, its last item too", (finish_reason, reason) => {
    const body = completion({ reasoning_content: "Hm", content: "Half" }, { choice: { finish_reason } });
    expect(toResponse(body)).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason },
      output: [{ status: "completed" }, { status: "incomplete" }],
    });
    const cut = withCalls(call({ id: "a", function: { name: "f", arguments: '{"a":' } }));
    const cutBody = { ...cut, choices: [{ ...(cut["choices"] as object[])[0], finish_reason }] };
    expect(toResponse(cutBody).output).toMatchObject([{ status: "incomplete", arguments: '{"a":' }]);
  });

  it("[responses.usage.figures] counts the cached tokens in, and tells those written to a cache", () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 20,
      prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 5 },
    };
    expect(toResponse(completion({ content: "Hi" }, { body: { usage } })).usage).toEqual({
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 30, cache_write_tokens: 10 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 5 },
      total_tokens: 120,
    });
  });

  it("[responses.reasoning.content] shows reasoning as what it is", () => {
    expect(toResponse(completion({ reasoning_content: "Hm", content: "Hi" })).output[0]).toEqual({
      id: "rs_1",
      type: "reasoning",
      status: "completed",
      summary: [],
      content: [{ type: "reasoning_text", text: "Hm" }],
    });
  });

  it("[responses.reasoning.summary] shows it in the place of a summary when one is asked for", () => {
    for (const reasoning of [{ summary: "auto" }, { generate_summary: "concise" }]) {
      expect(toResponse(completion({ reasoning: "Hm" }), { reasoning }).output[0]).toEqual({
        id: "rs_1",
        type: "reasoning",
        status: "completed",
        summary: [{ type: "summary_text", text: "Hm" }],
      });
    }
  });

  it("[responses.reasoning.carried] packs it for the next request, if it is of use there", () => {
    const include = ["reasoning.encrypted_content"];
    const body = completion({ reasoning_content: "Hm", content: "Hi" });
    const [item] = toResponse(body, { include }).output;
    expect(item).toMatchObject({ encrypted_content: expect.stringMatching(/^gw1\./) as string });
    const { content: _content, ...carrier } = item as unknown as Record<string, unknown>;
    const input = [{ role: "user", content: "A" }, carrier, { role: "assistant", content: "Hi" }];
    expect(toChat({ input }).messages[1]).toMatchObject({ reasoning_content: "Hm" });
    expect(toResponse(body, { include }, { reasoningHistory: "drop" }).output[0]).not.toHaveProperty(
      "encrypted_content",
    );
    const long = completion({ reasoning_content: "x".repeat(513 * 1_024), content: "Hi" });
    expect(toResponse(long, { include }).output[0]).not.toHaveProperty("encrypted_content");
  });

  it("[responses.reasoning.hidden] leaves it out with effort none, and counts it", () => {
    const answer = createAnswer({ reasoning: { effort: "none", summary: "auto" } });
    answer.translateBody(encode(completion({ reasoning_content: "Hm", content: "Hi" })));
    expect(answer.observation.generatedText).toContain("Hm");
    const { output } = toResponse(completion({ reasoning_content: "Hm", content: "Hi" }), {
      reasoning: { effort: "none" },
    });
    expect(output.map(({ type }) => type)).toEqual(["message"]);
  });
});
