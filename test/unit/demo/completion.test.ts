import { describe, expect, it } from "vitest";
import {
  createDemoCompletion,
  DemoRequestError,
  splitWords,
} from "../../../src/operation/demo/completion.ts";

describe("createDemoCompletion", () => {
  it("repeats the last user message and counts a word as a token", () => {
    const completion = createDemoCompletion({
      model: "echo",
      messages: [
        { role: "system", content: "be kind" },
        { role: "user", content: "first" },
        { role: "assistant", content: "first" },
        { role: "user", content: "say  it again" },
      ],
    });
    expect(completion.tokens.join("")).toBe("say  it again");
    expect(completion.usage).toEqual({ prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 });
    expect(completion.finishReason).toBe("stop");
  });

  it("stops at the token limit and says so", () => {
    const completion = createDemoCompletion({
      model: "echo",
      max_tokens: 2,
      messages: [{ role: "user", content: "one two three" }],
    });
    expect(completion.tokens.join("")).toBe("one two");
    expect(completion.finishReason).toBe("length");
  });

  it("reads text parts and names the others", () => {
    const content = [
      { type: "text", text: "look" },
      { type: "image_url", image_url: { url: "data:," } },
    ];
    const completion = createDemoCompletion({ model: "echo", messages: [{ role: "user", content }] });
    expect(completion.tokens.join("")).toBe("look [image_url]");
  });

  it.each([
    { name: "a body that is no object", body: [], param: null },
    { name: "no model", body: { messages: [] }, param: "model" },
    { name: "no messages", body: { model: "echo" }, param: "messages" },
    { name: "a message without a role", body: { model: "echo", messages: [{}] }, param: "messages.0.role" },
    {
      name: "a content that is a number",
      body: { model: "echo", messages: [{ role: "user", content: 1 }] },
      param: "messages.0.content",
    },
    {
      name: "a token limit of zero",
      body: { model: "echo", max_tokens: 0, messages: [{ role: "user", content: "x" }] },
      param: "max_tokens",
    },
  ])("refuses $name and names the field", ({ body, param }) => {
    let thrown: unknown;
    try {
      createDemoCompletion(body);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(DemoRequestError);
    expect((thrown as DemoRequestError).param).toBe(param);
  });
});

describe("splitWords", () => {
  it.each(["", "word", " leading", "trailing  ", "two\nlines here ", "日本 語"])(
    "loses nothing of %j",
    (text) => {
      expect(splitWords(text).join("")).toBe(text);
    },
  );
});
