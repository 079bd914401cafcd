import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../src/shared/contract/errors.ts";
import { parse, toChatMessages } from "../../support/messages-exchange.ts";
import { runs } from "../../support/extent.ts";

const text = fc.oneof(fc.constant(""), fc.string({ maxLength: 10 }));
const textBlock = fc.record({ type: fc.constant("text"), text });
const image = fc.constant({ type: "image", source: { type: "url", url: "https://example.com/a.png" } });
const toolResult = fc.record({
  type: fc.constant("tool_result"),
  tool_use_id: fc.constantFrom("a", "b", "c"),
  content: fc.oneof(text, fc.array(fc.oneof(textBlock, image), { maxLength: 3 })),
  is_error: fc.boolean(),
});
const toolUse = fc.record({
  type: fc.constant("tool_use"),
  id: fc.constantFrom("a", "b", "c"),
  name: fc.constantFrom("f", "g"),
  input: fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
});
const thinking = fc.record({ type: fc.constant("thinking"), thinking: text, signature: fc.constant("s") });
const dropped = fc.constantFrom(
  { type: "redacted_thinking", data: "x" },
  { type: "server_tool_use", id: "s" },
);

const message = fc.oneof(
  fc.record({
    role: fc.constant("user"),
    content: fc.oneof(text, fc.array(fc.oneof(textBlock, image, toolResult), { maxLength: 4 })),
  }),
  fc.record({
    role: fc.constant("assistant"),
    content: fc.oneof(text, fc.array(fc.oneof(textBlock, toolUse, thinking, dropped), { maxLength: 4 })),
  }),
  fc.record({ role: fc.constant("system"), content: fc.oneof(text, fc.array(textBlock, { maxLength: 2 })) }),
);

const conversation = fc
  .array(message, { maxLength: 12 })
  .map((list) => [{ role: "user", content: "Hello" }, ...list]);

describe("messages request", () => {
  it("becomes turns that strict chat templates take", () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        const roles = toChatMessages(messages).map(({ role }) => role);
        expect(roles.slice(1)).not.toContain("system");
        // What follows a message of the same side is a result, or the user's own words after results.
        const sides = roles.map((role) => (role === "assistant" ? "assistant" : "user"));
        const repeated = roles.filter((_, at) => at > 0 && sides[at] === sides[at - 1]);
        const before = roles.filter((_, at) => sides[at] === sides[at + 1]);
        expect(new Set(before)).toSatisfy(
          (set: Set<string>) => set.size === 0 || (set.size === 1 && set.has("tool")),
        );
        expect(repeated).not.toContain("assistant");
      }),
      { numRuns: runs(500) },
    );
  });

  it("keeps every tool call, every result and every word", () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        const sent = JSON.stringify(toChatMessages(messages));
        const lost = messages
          .flatMap(({ content }) => listPieces(content))
          .filter((piece) => !sent.includes(piece));
        expect(lost).toEqual([]);
      }),
      { numRuns: runs(500) },
    );
  });

  it("answers each call once, right behind it, and has no result of another", () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        expect(findUnpaired(toChatMessages(messages))).toEqual([]);
      }),
      { numRuns: runs(500) },
    );
  });

  it("is translated or refused with a 400, whatever it holds", () => {
    const names = [
      "system",
      "messages",
      "tools",
      "tool_choice",
      "thinking",
      "output_config",
      "metadata",
      "stop_sequences",
    ];
    const block = fc.record(
      {
        type: fc.constantFrom("text", "image", "document", "tool_result", "tool_use", "thinking", "x"),
        text: fc.jsonValue(),
        source: fc.jsonValue(),
        content: fc.jsonValue(),
      },
      { requiredKeys: ["type"] },
    );
    const odd = fc.oneof(
      fc.jsonValue({ maxDepth: 4 }),
      fc.array(
        fc.record({
          role: fc.constantFrom("user", "assistant", "system", "x"),
          content: fc.oneof(fc.jsonValue(), fc.array(block)),
        }),
      ),
      fc.array(block),
    );
    const fields = fc.dictionary(fc.constantFrom(...names), odd, { maxKeys: 3 });
    fc.assert(
      fc.property(fields, (body) => {
        const refused = findError(() => parse(body).promptSize());
        expect(refused).toSatisfy(
          (error) =>
            error === null ||
            (error instanceof GatewayError && error.status("messages") === 400 && error.param !== null),
        );
      }),
      { numRuns: runs(1_000) },
    );
  });
});

/** Ids of calls that are not answered before the next turn, and of results that answer none. */
function findUnpaired(messages: ReturnType<typeof toChatMessages>): string[] {
  const unpaired: string[] = [];
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      const at = open.indexOf(message.tool_call_id);
      if (at === -1) unpaired.push(message.tool_call_id);
      else open.splice(at, 1);
      continue;
    }
    unpaired.push(...open);
    open = message.role === "assistant" ? (message.tool_calls ?? []).map(({ id }) => id) : [];
  }
  return [...unpaired, ...open];
}

/** What of a message's content must be found in the upstream's request. */
function listPieces(content: unknown): string[] {
  const blocks = Array.isArray(content) ? content : [{ type: "text", text: content }];
  return blocks.map((block: Record<string, string>) => {
    if (block["type"] === "tool_use") return `"id":"${block["id"]}"`;
    // Its text stands for it: of what answers no call, nothing else is left.
    if (block["type"] === "tool_result") {
      return typeof block["content"] === "string" ? escape(block["content"]) : "";
    }
    return escape(block["text"] ?? "");
  });
}

function escape(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function findError(attempt: () => unknown): unknown {
  try {
    attempt();
    return null;
  } catch (error) {
    return error;
  }
}
