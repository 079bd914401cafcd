import { describe, expect, it } from "vitest";
import { refusal, toChat, toChatMessages } from "../../../../support/messages-exchange.ts";

const user = (content: unknown) => ({ role: "user", content });
const assistant = (content: unknown) => ({ role: "assistant", content });
const system = (content: unknown) => ({ role: "system", content });
const toolUse = (id: string) => ({ type: "tool_use", id, name: "f", input: {} });
const toolResult = (id: string, content: unknown = id) => ({ type: "tool_result", tool_use_id: id, content });
const text = (value: string) => ({ type: "text", text: value });
const image = { type: "image", source: { type: "url", url: "https://example.com/a.png" } };

describe("turns", () => {
  it.each([
    [
      { role: "tool", content: "x" },
      "invalid_parameter messages.0.role: Input should be 'user', 'assistant' or 'system'",
    ],
    [{ content: "x" }, "missing_required_parameter messages.0.role: Field required"],
    [{ role: "user" }, "missing_required_parameter messages.0.content: Field required"],
    [
      { role: "user", content: 7 },
      "invalid_parameter messages.0.content: Input should be a string or a list of blocks",
    ],
    [
      { role: "assistant", content: {} },
      "invalid_parameter messages.0.content: Input should be a string or a list of blocks",
    ],
    [
      { role: "system", content: 7 },
      "invalid_parameter messages.0.content: Input should be a string or a list of text blocks",
    ],
    [{ role: "user", content: ["x"] }, "invalid_parameter messages.0.content.0: Input should be an object"],
    [{ role: "user", content: [{}] }, "missing_required_parameter messages.0.content.0.type: Field required"],
  ])("[turns.roles] %j is refused", (message, expected) => {
    expect(refusal({ messages: [message] })).toBe(`400 ${expected}`);
  });

  it("[turns.roles] user and assistant alternate unchanged", () => {
    expect(toChatMessages([user("a"), assistant("b"), user("c")])).toEqual([
      { role: "user", content: "a" },
      { role: "assistant", content: "b" },
      { role: "user", content: "c" },
    ]);
  });

  it("[turns.system_first] system messages before the conversation belong to the system prompt", () => {
    const messages = [system("two"), system([text("three"), text("four")]), user("a")];
    expect(toChat({ system: "one", messages }).messages).toEqual([
      { role: "system", content: "one\n\ntwo\n\nthree\n\nfour" },
      { role: "user", content: "a" },
    ]);
  });

  it("[turns.system_folded] later ones end the user turn that they follow", () => {
    expect(toChatMessages([user("a"), system("note"), assistant("b"), user("c")])).toEqual([
      { role: "user", content: "a\n\nnote" },
      { role: "assistant", content: "b" },
      { role: "user", content: "c" },
    ]);
    expect(toChatMessages([user([image]), system("note")])).toEqual([
      { role: "user", content: [{ type: "image_url", image_url: { url: image.source.url } }, text("note")] },
    ]);
  });

  it("[turns.system_waits] between a tool call and its results they wait", () => {
    const calls = assistant([toolUse("a")]);
    const expected = [
      { role: "tool", tool_call_id: "a", content: "a" },
      { role: "user", content: "go on\n\nnote" },
    ];
    expect(
      toChatMessages([user("x"), calls, system("note"), user([toolResult("a"), text("go on")])]).slice(2),
    ).toEqual(expected);
    const answered = [user("x"), calls, user([toolResult("a")]), system("note"), assistant("b")];
    expect(toChatMessages(answered).slice(3)).toEqual([
      { role: "user", content: "note" },
      { role: "assistant", content: "b" },
    ]);
    expect(toChatMessages([user("x"), calls, system("note")]).slice(3)).toEqual([
      { role: "user", content: "note" },
    ]);
  });

  it("[turns.system_opens] after an assistant's text they open the next user turn", () => {
    expect(toChatMessages([user("a"), assistant("b"), system("note"), user("c")]).slice(2)).toEqual([
      { role: "user", content: "note\n\nc" },
    ]);
    expect(toChatMessages([user("a"), assistant("b"), system("note"), assistant("d")]).slice(2)).toEqual([
      { role: "user", content: "note" },
      { role: "assistant", content: "d" },
    ]);
  });

  it("[turns.tool_changes] changes of the tool set are told as text", () => {
    const changes = [
      { type: "tool_addition", tool: { type: "tool_reference", name: "f" } },
      { type: "tool_removal", tool: { type: "mcp_toolset_reference", server_name: "s" } },
    ];
    expect(toChatMessages([user("a"), system(changes)])).toEqual([
      { role: "user", content: "a\n\nTool available: f\n\nTool no longer available: s" },
    ]);
    expect(refusal({ messages: [user("a"), system([image])] })).toContain(
      "messages.1.content.0: only text blocks",
    );
  });

  it("[turns.merged] messages of one role in a row are one turn", () => {
    expect(toChatMessages([user("a"), user("b"), assistant("c"), assistant("d"), user("e")])).toEqual([
      { role: "user", content: "a\n\nb" },
      { role: "assistant", content: "c\n\nd" },
      { role: "user", content: "e" },
    ]);
  });

  it("[turns.empty] empty texts and messages disappear, and what is around them is merged", () => {
    const messages = [
      user("a"),
      assistant(""),
      assistant([]),
      user([text(""), text("b")]),
      assistant([text("")]),
    ];
    expect(toChatMessages(messages)).toEqual([{ role: "user", content: "a\n\nb" }]);
  });

  it.each([
    ["an empty text", [user("")]],
    ["a system message alone", [system("a")]],
    ["dropped blocks alone", [assistant([{ type: "redacted_thinking", data: "x" }])]],
  ])("[turns.empty] %s is refused", (_name, messages) => {
    expect(refusal({ messages })).toBe(
      "400 invalid_parameter messages: at least one message with content is required",
    );
  });

  it("[turns.user] results come first, then their media, then the rest in order", () => {
    const content = [text("before"), toolResult("a", [image]), image, toolResult("b"), text("after")];
    const url = { type: "image_url", image_url: { url: image.source.url } };
    expect(toChatMessages([assistant([toolUse("a"), toolUse("b")]), user(content)]).slice(1)).toEqual([
      { role: "tool", tool_call_id: "a", content: "[The result is attached in the next message.]" },
      { role: "tool", tool_call_id: "b", content: "b" },
      { role: "user", content: [url, text("before"), url, text("after")] },
    ]);
  });

  it("[turns.user] text alone is one string", () => {
    expect(toChatMessages([user([text("a"), text("b")])])).toEqual([{ role: "user", content: "a\n\nb" }]);
  });

  it("[turns.results_together] results of parallel calls in two messages stand together", () => {
    const messages = [
      user("x"),
      assistant([toolUse("a"), toolUse("b")]),
      user([toolResult("a"), text("and")]),
      user([toolResult("b")]),
    ];
    expect(toChatMessages(messages).slice(2)).toEqual([
      { role: "tool", tool_call_id: "a", content: "a" },
      { role: "tool", tool_call_id: "b", content: "b" },
      { role: "user", content: "and" },
    ]);
  });

  it("[turns.assistant] is text or null, tool calls in order, and reasoning", () => {
    const content = [
      { type: "thinking", thinking: "hm", signature: "s" },
      text("ok"),
      toolUse("a"),
      toolUse("b"),
    ];
    const call = (id: string) => ({ id, type: "function", function: { name: "f", arguments: "{}" } });
    expect(toChatMessages([user("x"), assistant(content)])[1]).toEqual({
      role: "assistant",
      content: "ok",
      reasoning_content: "hm",
      tool_calls: [call("a"), call("b")],
    });
    expect(toChatMessages([user("x"), assistant([toolUse("a")])])[1]).toEqual({
      role: "assistant",
      content: null,
      tool_calls: [call("a")],
    });
  });

  it("[turns.sentences] adjacent texts are one sentence, texts across other blocks are not", () => {
    const content = [
      text("The sky"),
      text(" is blue."),
      toolUse("a"),
      text("Next."),
      { type: "server_tool_use" },
      text("Last."),
    ];
    expect(toChatMessages([user("x"), assistant(content)])[1]).toMatchObject({
      content: "The sky is blue.\n\nNext.\n\nLast.",
    });
  });

  it("[turns.prefill] a last message of the assistant is passed on", () => {
    expect(toChatMessages([user("x"), assistant("Sure:")])[1]).toEqual({
      role: "assistant",
      content: "Sure:",
    });
  });
});
