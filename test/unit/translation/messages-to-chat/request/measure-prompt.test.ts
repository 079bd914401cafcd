import { describe, expect, it } from "vitest";
import { parse, toChat } from "../../../../support/messages-exchange.ts";

const user = (content: unknown) => ({ role: "user", content });
const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "x".repeat(1_000) } };

describe("promptSize", () => {
  it("counts UTF-8 bytes of system, messages, tools and schema, never fewer than the upstream gets", () => {
    const fields = {
      system: "sé",
      messages: [
        user([
          { type: "text", text: "grüße" },
          { type: "document", source: { type: "text", data: "d" } },
        ]),
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "hm" },
            { type: "text", text: "ok" },
            { type: "tool_use", id: "id", name: "f", input: { a: 1 } },
          ],
        },
        user([
          { type: "tool_result", tool_use_id: "id", content: "r", is_error: true },
          { type: "text", text: "b" },
        ]),
        { role: "system", content: "note" },
      ],
      tools: [{ name: "f", description: "d", input_schema: { type: "object" } }],
      output_config: { format: { type: "json_schema", schema: { type: "object" } } },
    };
    const size = parse(fields).promptSize();
    const body = toChat(fields);
    const sent = [
      ...body.messages.flatMap(listTexts),
      ...body.tools!.map((tool) => JSON.stringify(tool.function)),
      JSON.stringify(body.response_format),
    ];
    const sentBytes = sent.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    expect(size.textBytes).toBeGreaterThanOrEqual(sentBytes);
    expect(size.textBytes).toBeLessThan(sentBytes + 200);
    expect(size.messages).toBeGreaterThanOrEqual(body.messages.length);
    expect(size).toMatchObject({ hasMedia: false, hasTools: true });
  });

  it.each([
    ["an image", [image]],
    ["an image in a tool's result", [{ type: "tool_result", tool_use_id: "a", content: [image] }]],
    ["a PDF", [{ type: "document", source: { type: "base64", media_type: "application/pdf", data: "x" } }]],
  ])("knows of %s, and does not count its bytes", (_name, content) => {
    const size = parse({ messages: [user(content)] }).promptSize();
    expect(size.hasMedia).toBe(true);
    expect(size.textBytes).toBeLessThan(100);
  });

  it("stays known after the conversation was let go", () => {
    const request = parse();
    const size = request.promptSize();
    request.createAnswer({
      model: {
        id: "acme/echo",
        maxOutputTokens: 100,
        upstreamModel: "e",
        profile: { toolNameMax: null } as never,
      },
      estimatedInputTokens: 1,
      nowMs: () => 0,
      requestId: "req_1",
    });
    expect(request.promptSize()).toEqual(size);
  });
});

function listTexts(message: object): string[] {
  return Object.entries(message).flatMap(([key, value]) => {
    if (key === "role" || value === null) return [];
    return typeof value === "string"
      ? [value]
      : [...JSON.stringify(value).matchAll(/"(?:arguments|name|id)":"([^"]*)/g)].map(([, text]) => text!);
  });
}
