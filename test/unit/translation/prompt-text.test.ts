import { describe, expect, it } from "vitest";
import { measurePromptBytes } from "../../../src/data-path/settlement/tokens/estimate-prompt.ts";
import { atOnce } from "../../../src/shared/event-loop/steps.ts";
import { readPromptText } from "../../../src/data-path/translation/conversation/prompt-text.ts";

const read = (body: unknown) => atOnce(readPromptText(Buffer.from(JSON.stringify(body))));

describe("readPromptText", () => {
  it("has the text of every turn, of tools and of the answer's schema", () => {
    const { text, media } = read({
      model: "x",
      messages: [
        { role: "system", content: "be brief" },
        {
          role: "user",
          content: [
            { type: "text", text: "look" },
            { type: "text", text: "here" },
          ],
        },
        {
          role: "assistant",
          content: null,
          reasoning_content: "hm",
          tool_calls: [{ id: "1", type: "function", function: { name: "read", arguments: '{"a":1}' } }],
        },
        { role: "tool", tool_call_id: "1", content: "found" },
      ],
      tools: [{ type: "function", function: { name: "read", parameters: {} } }],
      response_format: { type: "json_schema", json_schema: { name: "out" } },
    });
    expect(text.split("\n")).toEqual([
      "be brief",
      "look",
      "here",
      "hm",
      'read {"a":1}',
      "found",
      '{"name":"read","parameters":{}}',
      '{"name":"out"}',
    ]);
    expect(media).toBe(0);
  });

  it("counts images and files as a thousand tokens each", () => {
    const image = { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(100)}` } };
    const file = { type: "file", file: { filename: "a.pdf", file_data: "A".repeat(100) } };
    const content = [{ type: "text", text: "hi" }, image, file];
    expect(read({ messages: [{ role: "user", content }] })).toEqual({ text: "hi", media: 2 });
  });

  it.each([[[]], ["text"], [null], [{}], [{ messages: "x", tools: 3 }], [{ messages: [null, 1] }]])(
    "finds nothing in %j",
    (body) => {
      expect(read(body)).toEqual({ text: "", media: 0 });
    },
  );
});

describe("measurePromptBytes", () => {
  const unmeasured = {
    promptSize: () => {
      throw new Error("measured");
    },
  };
  const measured = (hasMedia: boolean) => ({
    promptSize: () => ({
      textBytes: 50,
      visibleTextBytes: 40,
      messages: 1,
      hasMedia,
      hasTools: false,
      predictionBytes: 0,
      isWhole: true,
    }),
  });

  it("takes the body's own bytes where they are text", () => {
    const measure = measurePromptBytes(measured(false), 100_000);
    expect(measure).toEqual({ bytes: 100_000, visibleTextBytes: 40, mediaTokens: 0 });
  });

  it("takes only the text's bytes beside images", () => {
    const measure = measurePromptBytes(measured(true), 100_000);
    expect(measure).toEqual({ bytes: 50, visibleTextBytes: 40, mediaTokens: 1_000 });
  });

  it("does not measure small bodies", () => {
    const measure = measurePromptBytes(unmeasured, 8_191);
    expect(measure).toEqual({ bytes: 8_191, visibleTextBytes: 0, mediaTokens: 0 });
  });
});
