import { describe, expect, it } from "vitest";
import {
  chunk,
  DONE,
  encode,
  event,
  FINISH,
  toolChunk,
  USAGE,
} from "../../../../support/messages-exchange.ts";
import { completion } from "../../../../support/messages-exchange.ts";
import { contentOf, createAnswer, runStream } from "../../../../support/responses-exchange.ts";
import { checkResponseStream } from "../../../../support/responses-protocol-checker.ts";

const TEXT = [chunk({ content: "Hel" }), chunk({ content: "lo" }), FINISH, USAGE, DONE];

describe("a stream", () => {
  it("[responses.stream.grammar] has every event of a message in its place", () => {
    const { events } = runStream(TEXT);
    expect(checkResponseStream(events)).toBe("response.completed");
    expect(events.map(({ type }) => type.replace("response.", ""))).toEqual([
      "created",
      "in_progress",
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
      "output_item.done",
      "completed",
    ]);
  });

  it.each([
    [{}, ["reasoning_text.delta Hm", "reasoning_text.done Hm"]],
    [
      { reasoning: { summary: "auto" } },
      ["reasoning_summary_text.delta Hm", "reasoning_summary_text.done Hm"],
    ],
  ])("closes reasoning before the message begins, with %j", (fields, events) => {
    const pieces = [chunk({ reasoning_content: "Hm" }), chunk({ content: "Hi" }), FINISH, DONE];
    expect(contentOf(pieces, fields)).toEqual([
      "added 0 reasoning",
      ...events,
      "done 0 reasoning completed",
      "added 1 message",
      "output_text.delta Hi",
      "output_text.done Hi",
      "done 1 message completed",
    ]);
    expect(checkResponseStream(runStream(pieces, fields).events)).toBe("response.completed");
  });

  it("[responses.stream.live] gives each piece out at once, the input of a custom tool when it is whole", () => {
    const answer = createAnswer({ stream: true, tools: [{ type: "custom", name: "patch" }] });
    const push = (text: string) => new TextDecoder().decode(answer.push(encode(text)).bytes);
    expect(push(chunk({ content: "Hel" }))).toContain('"delta":"Hel"');
    expect(push(toolChunk({ index: 0, id: "a", name: "f", arguments: '{"x":' }))).toContain(
      '"delta":"{\\"x\\":"',
    );
    expect(push(toolChunk({ index: 0, arguments: "1}" }))).toContain("output_item.done");
    expect(push(toolChunk({ index: 1, id: "b", name: "patch", arguments: '{"input":"A' }))).not.toContain(
      "delta",
    );
    expect(push(toolChunk({ index: 1, arguments: 'B"}' }))).toContain('"delta":"AB"');
  });

  it("[responses.stream.side_by_side] lets calls be open side by side, and text wait for them", () => {
    const pieces = [
      toolChunk({ index: 0, id: "a", name: "f", arguments: "{" }),
      toolChunk({ index: 1, id: "b", name: "g", arguments: "{" }),
      chunk({ content: "Done" }),
      toolChunk({ index: 1, arguments: "}" }),
      toolChunk({ index: 0, arguments: "}" }),
      FINISH,
      DONE,
    ];
    expect(contentOf(pieces).filter((line) => /added|done \d|text\.delta/.test(line))).toEqual([
      "added 0 function_call",
      "added 1 function_call",
      "done 1 function_call completed",
      "done 0 function_call completed",
      "added 2 message",
      "output_text.delta Done",
      "done 2 message completed",
    ]);
    expect(checkResponseStream(runStream(pieces).events)).toBe("response.completed");
  });

  it("is done with a call as soon as its arguments are whole", () => {
    const answer = createAnswer({ stream: true });
    const { bytes } = answer.push(encode(toolChunk({ index: 0, id: "a", name: "f", arguments: '{"x":1}' })));
    expect(new TextDecoder().decode(bytes)).toContain("response.output_item.done");
  });

  it("begins a call when its id and its whole name are known", () => {
    const tools = [{ type: "namespace", name: "mcp", tools: [{ type: "function", name: "read" }] }];
    const pieces = [
      toolChunk({ index: 0, name: "mcp__" }),
      toolChunk({ index: 0, name: "read" }),
      toolChunk({ index: 0, id: "a", name: "mcp__read" }),
      FINISH,
      DONE,
    ];
    const { response, events } = runStream(pieces, { tools });
    expect(response?.output).toMatchObject([
      { namespace: "mcp", name: "read", call_id: "a", arguments: "{}" },
    ]);
    expect(checkResponseStream(events)).toBe("response.completed");
  });

  it("[responses.stream.usage] waits for usage with its last event", () => {
    const { outputs, response } = runStream(TEXT);
    expect(outputs.map(({ final }) => final)).toEqual([false, false, false, false, true, true]);
    expect(response?.usage?.total_tokens).toBe(15);
    expect(runStream([chunk({ content: "Hi" }), FINISH]).response?.status).toBe("completed");
  });

  it("gives of a JSON answer the same items as of a stream", () => {
    const answer = createAnswer({ stream: true });
    const { bytes, final } = answer.translateBody(encode(completion({ content: "Hello" })));
    expect(final).toBe(true);
    expect(new TextDecoder().decode(bytes)).toContain('"delta":"Hello"');
  });

  it("leaves nothing done that was open when the upstream broke off", () => {
    const { events, response, outputs } = runStream([
      chunk({ reasoning_content: "Hm" }),
      chunk({ content: "Ha" }),
    ]);
    expect(checkResponseStream(events)).toBe("response.failed");
    expect(response).toMatchObject({
      error: { code: "server_error" },
      output: [{ status: "completed" }, { status: "incomplete", content: [{ text: "Ha" }] }],
    });
    expect(events.filter(({ type }) => type === "response.output_item.done")).toHaveLength(1);
    expect(outputs.at(-1)?.failed?.code).toBe("upstream_error");
  });

  it.each([
    ["an error", event({ error: { message: "no", code: 500 } })],
    ["text", event("what?")],
    ["a list", event("[]")],
    ["nothing", ""],
  ])("begins with response.created also when %s is all that comes", (_name, piece) => {
    const { events, response } = runStream([piece]);
    expect(checkResponseStream(events)).toBe("response.failed");
    expect(response?.usage).toBeNull();
  });

  it("[responses.errors.event] ends with the error that SDKs raise and the one that Codex reads", () => {
    const message = "This model's maximum context length is 8192 tokens.";
    const { events } = runStream([chunk({ content: "A" }), event({ error: { message, code: 400 } })]);
    expect(events.at(-2)?.data).toMatchObject({
      type: "error",
      code: "context_length_exceeded",
      message,
      param: null,
      error: { type: "invalid_request_error", code: "context_length_exceeded", message, request_id: "req_1" },
    });
    expect(events.at(-1)?.data["response"]).toMatchObject({
      error: { code: "context_length_exceeded", message },
    });
  });

  it("[responses.stream.bounded] ends in an error when it grows beyond all bounds", () => {
    const piece = "x".repeat(1_048_576);
    const many = Array.from({ length: 17 }, () => chunk({ content: piece }));
    expect(runStream(many).response?.status).toBe("failed");
    const held = Array.from({ length: 5 }, () => chunk({ content: piece }));
    const open = toolChunk({ index: 0, id: "a", name: "f", arguments: "{" });
    expect(runStream([open, ...held]).response?.status).toBe("failed");
    const calls = Array.from({ length: 1_025 }, (_, index) =>
      toolChunk({ index, id: `c${index}`, name: "f" }),
    );
    expect(runStream(calls).response?.status).toBe("failed");
  });

  it("[responses.stream.comment] tells by a comment that an answer of which nothing is shown goes on", () => {
    const hidden = Array.from({ length: 70 }, () => chunk({ reasoning_content: "Hm" }));
    const { text, events } = runStream([...hidden, ...TEXT], { reasoning: { effort: "none" } });
    expect(text.match(/^: in progress$/gm)).toHaveLength(2);
    expect(checkResponseStream(events)).toBe("response.completed");
  });

  it("reads the old function_call as one call", () => {
    const pieces = [
      chunk({ function_call: { name: "f", arguments: '{"a"' } }),
      chunk({ function_call: { arguments: ":1}" } }),
      FINISH,
      DONE,
    ];
    expect(runStream(pieces).response?.output).toMatchObject([{ name: "f", arguments: '{"a":1}' }]);
  });
});
