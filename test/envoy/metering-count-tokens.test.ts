import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { withChatStack } from "../support/chat-stack.ts";
import { readError } from "../support/http.ts";
import { MESSAGES_PATH, messagesBody, METERED_CATALOG, readSpend } from "./metering-figures.ts";

const chat = withChatStack(() => ({ catalog: METERED_CATALOG }));
const COUNT_PATH = `${MESSAGES_PATH}/count_tokens`;
const CODE = readFileSync(fileURLToPath(new URL("../../src/errors.ts", import.meta.url)), "utf8");

async function count(body: object): Promise<number> {
  const answer = await chat.send({ path: `${COUNT_PATH}?beta=true`, body });
  expect(answer.status).toBe(200);
  return Number(answer.json()["input_tokens"]);
}

/** How far a count is from the tokenizer's own: 0.1 is a tenth. */
function errorOf(counted: number, text: string): number {
  return Math.abs(counted / countTokens(text) - 1);
}

describe("POST /v1/messages/count_tokens", () => {
  it.each([
    ["English", "The quick brown fox jumps over the lazy dog, and then it rests. ".repeat(50)],
    ["code", CODE],
    ["German", "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich. ".repeat(40)],
    ["Chinese", "我能吞下玻璃而不伤身体。今天的天气很好,我们去公园散步吧。".repeat(40)],
    ["a long word", "a".repeat(20_000)],
    ["white space", `x${" ".repeat(20_000)}y`],
    ["marks of a chat template", "<|endoftext|><|im_start|> ".repeat(100)],
  ])("[count_tokens.estimate] counts %s as a tokenizer does", async (_name, text) => {
    const { max_tokens: _, ...body } = messagesBody({}, text);
    const exact = countTokens(text, { disallowedSpecial: new Set() });
    const counted = await count(body);
    expect(counted).toBeGreaterThanOrEqual(exact * 0.9);
    expect(counted).toBeLessThanOrEqual(exact * 1.1 + 2);
  });

  it("counts system prompt, all turns, tools and their results", async () => {
    const text = CODE.slice(0, 3_000);
    const schema = { type: "object", properties: { path: { type: "string", description: text } } };
    const counted = await count({
      model: messagesBody()["model"],
      system: text,
      tools: [{ name: "read", description: text, input_schema: schema }],
      messages: [
        { role: "user", content: [{ type: "text", text }] },
        {
          role: "assistant",
          content: [{ type: "tool_use", id: "toolu_1", name: "read", input: { path: text } }],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: text }] },
      ],
    });
    const json = JSON.stringify(text);
    expect(errorOf(counted, [text, text, text, json, json, json].join("\n"))).toBeLessThan(0.1);
  });

  it("counts an image as some tokens, not by its bytes", async () => {
    const source = { type: "base64", media_type: "image/png", data: "A".repeat(400_000) };
    const counted = await count(
      messagesBody({
        messages: [
          {
            role: "user",
            content: [
              { type: "image", source },
              { type: "text", text: "hi" },
            ],
          },
        ],
      }),
    );
    expect(counted).toBeGreaterThan(1_000);
    expect(counted).toBeLessThan(1_010);
  });

  it("estimates beyond a mebibyte of text", async () => {
    const text = "word ".repeat(300_000);
    const counted = await count(messagesBody({}, text));
    expect(counted).toBeGreaterThan(100_000);
    expect(counted).toBeLessThan(1_500_000);
  });

  it("asks no upstream and costs nothing, whatever the caps", async () => {
    const key = await chat.stack.createKey({ hardCapCents: 0 });
    const answer = await chat.send({ key: key.key, path: COUNT_PATH, body: messagesBody() });
    expect(answer.status).toBe(200);
    expect(answer.json()).toEqual({ input_tokens: 3 });
    expect(chat.upstream.requests).toHaveLength(0);
    expect(await readSpend(chat.stack, key)).toEqual({ key: 0n, organization: 0n });
  });

  it("refuses what the messages route would refuse", async () => {
    const answer = await chat.send({ path: COUNT_PATH, body: messagesBody({ model: "acme/unknown" }) });
    expect(answer.status).toBe(400);
    expect(readError(answer).code).toBe("model_not_found");
  });

  it("answers many at once", async () => {
    const counts = await Promise.all(
      Array.from({ length: 60 }, (_, index) => count(messagesBody({}, `${CODE} ${index}`))),
    );
    expect(Math.max(...counts.map((counted) => errorOf(counted, CODE)))).toBeLessThan(0.1);
  });
});
