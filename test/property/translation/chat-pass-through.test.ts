import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  applyEdits,
  findMembers,
  removeMembers,
} from "../../../src/data-path/translation/json/object-spans.ts";
import { ChunkRewriter } from "../../../src/data-path/translation/openai/chunk-rewriter.ts";
import { CHAT } from "../../../src/data-path/translation/chat-to-chat/answer.ts";
import { GeneratedText } from "../../../src/data-path/translation/upstream/generated-text.ts";
import { parseWith } from "../../support/parse-with.ts";
import {
  createAnswer,
  createChunk,
  createModel,
  streamThrough,
  USAGE_CHUNK,
} from "../../unit/translation/chat-to-chat/chat-fixtures.ts";
import { runs } from "../../support/extent.ts";

const lineEnd = fc.constantFrom("\n", "\r\n", "\r");
const text = fc.string({ unit: "grapheme", maxLength: 8 });
const event = fc.oneof(
  { weight: 6, arbitrary: text.map((content) => [`data: ${createChunk({ content })}`]) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      [`data: ${USAGE_CHUNK}`],
      [`data:${createChunk({}, { finish: "stop" })}`],
      [": ping"],
      ["data: [DONE]"],
      [""],
      ["event: error", 'data: {"message":"żółć"}'],
      ['data: {"error":{"code":400,"message":"no"}}'],
      ["data: {oops"],
      ["id: 4", "retry: 10"],
      ['data: {"choices":[],', 'data: "usage":null,"model":"é"}'],
      [`data: ${createChunk({ content: "a" }, { extra: { usage: null } })}`],
    ),
  },
);
const stream = fc
  .tuple(fc.boolean(), fc.array(event, { maxLength: 12 }), lineEnd, fc.boolean())
  .map(([bom, events, end, isCut]) => {
    const whole = Buffer.from(
      (bom ? "\uFEFF" : "") + events.map((lines) => `${lines.join(end)}${end}${end}`).join(""),
    );
    return isCut ? whole.subarray(0, -3) : whole;
  });
const request = fc.constantFrom({ stream: true }, { stream: true, stream_options: { include_usage: true } });

function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  for (let start = 0; start < bytes.length;) {
    const size = sizes[pieces.length % sizes.length] ?? 1;
    pieces.push(bytes.subarray(start, start + size));
    start += size;
  }
  return pieces;
}

describe("chat pass-through", () => {
  it("writes the same bytes and observes the same, wherever the upstream's bytes are split", () => {
    fc.assert(
      fc.property(
        stream,
        request,
        fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 20 }),
        (bytes, fields, sizes) => {
          const whole = createAnswer(fields);
          const expected = streamThrough(whole, [bytes]);
          for (const pieces of [cut(bytes, sizes), cut(bytes, [1])]) {
            const answer = createAnswer(fields);
            expect(streamThrough(answer, pieces)).toEqual(expected);
            expect({ ...answer.observation, text: answer.observation.generatedText }).toEqual({
              ...whole.observation,
              text: whole.observation.generatedText,
            });
          }
          expect(expected.final).toBe(expected.failedCode === null);
        },
      ),
      { numRuns: runs(300) },
    );
  });

  it("says of a chunk among others what it says of it alone, however alike they are", () => {
    const content = fc.oneof(
      text,
      fc.string({ unit: "binary", maxLength: 6 }),
      fc.constantFrom(
        "",
        '"',
        "\\",
        "\n",
        "\u001a",
        '","finish_reason":"stop',
        "igw:text:9b1f6a0c",
        '{"a":1}',
      ),
    );
    const delta = fc.oneof(
      { weight: 6, arbitrary: content.map((value) => ({ content: value })) },
      {
        weight: 1,
        arbitrary: fc.oneof(
          content.map((value) => ({ role: "assistant", content: value })),
          content.map((value) => ({ content: value, reasoning_content: "why" })),
          content.map((value) => ({ reasoning_content: value, content: null })),
          content.map((value) => ({ tool_calls: [{ index: 0, function: { arguments: value } }] })),
        ),
      },
    );
    const extra = fc.constantFrom(
      {},
      {},
      {},
      { usage: null },
      { usage: { prompt_tokens: 1 } },
      { model: "x" },
    );
    const chunk = fc
      .tuple(delta, extra, fc.boolean(), fc.constantFrom(undefined, undefined, 1, "\t"))
      .map(([one, more, escapes, space]) => {
        const json = JSON.stringify(JSON.parse(createChunk(one, { extra: more })), null, space);
        // Not the "a" of an escape that is there.
        return escapes
          ? json.replaceAll(/\\u....|a/gu, (found) => (found === "a" ? "\\u0061" : found))
          : json;
      });
    const model = createModel().id;
    fc.assert(
      fc.property(fc.array(chunk, { minLength: 1, maxLength: 20 }), request, (chunks, fields) => {
        const usageVisibility = "stream_options" in fields ? "last" : "none";
        const create = () => {
          const generated = new GeneratedText();
          const options = { model, usageVisibility, generated, ...CHAT } as const;
          return { generated, rewriter: new ChunkRewriter(options) };
        };
        const together = create();
        let expectedText = "";
        let expectedDeltas = 0;
        for (const each of chunks) {
          const alone = create();
          expect(together.rewriter.rewrite(each, false)).toBe(alone.rewriter.rewrite(each, false));
          expectedText += alone.generated.generatedText;
          expectedDeltas += alone.generated.generatedDeltas;
        }
        expect(together.generated.generatedText).toBe(expectedText);
        expect(together.generated.generatedDeltas).toBe(expectedDeltas);
      }),
      { numRuns: runs(1_000) },
    );
  });

  it("finds the members that JSON.parse finds, and takes one out as `delete` does", () => {
    const spacing = fc.constantFrom<[string | number | undefined]>([undefined], [1], ["\t"]);
    fc.assert(
      fc.property(
        fc.dictionary(fc.oneof(fc.constantFrom("usage", "model"), fc.string()), fc.jsonValue()),
        spacing,
        (object, [space]) => {
          const json = JSON.stringify(object, null, space);
          const members = findMembers(json)!;
          const parsed = JSON.parse(json) as Record<string, unknown>;
          expect(
            members.map(({ key, valueStart, valueEnd }) => [
              key,
              JSON.parse(json.slice(valueStart, valueEnd)),
            ]),
          ).toEqual(Object.entries(parsed));
          delete parsed["usage"];
          expect(JSON.parse(applyEdits(json, removeMembers(members, "usage")))).toEqual(parsed);
        },
      ),
      { numRuns: runs(500) },
    );
  });

  it("ends on any text, and takes whatever JSON.parse takes", () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.constantFrom("{", "}", "[", "]", '"', "\\", ":", ",", "a", "1", " "),
          maxLength: 40,
        }),
        (garbage) => {
          expect(() => findMembers(garbage)).not.toThrow();
        },
      ),
      { numRuns: runs(2000) },
    );
  });

  it("sends the upstream the client's request with another model and usage asked for, nothing else", () => {
    const extra = fc.dictionary(
      fc.string({ minLength: 1 }).map((key) => `x_${key}`),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(extra, text, fc.boolean(), (fields, content, stream) => {
        const sent = { ...fields, model: "acme/chat", messages: [{ role: "user", content }], stream };
        const body = Buffer.from(JSON.stringify(sent));
        const upstream: unknown = JSON.parse(
          Buffer.from(parseWith("chat", body).toUpstream(createModel())).toString(),
        );
        expect(upstream).toEqual({
          ...(JSON.parse(body.toString()) as object),
          model: "Org/Chat-32B",
          ...(stream && { stream_options: { include_usage: true } }),
        });
      }),
    );
  });
});
