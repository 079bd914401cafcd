import { describe, expect, it } from "vitest";
import {
  chunk,
  createAnswer,
  encode,
  event,
  runStream,
  summarize,
  toolChunk,
} from "../../../../support/messages-exchange.ts";

const hello = JSON.stringify({ choices: [{ index: 0, delta: { content: "Hello" } }] });

describe("bounds of a stream", () => {
  const MEBIBYTE = 1_048_576;

  it("[stream.bounded] an endless line is an error", () => {
    const answer = createAnswer({ stream: true });
    answer.push(encode(event(hello)));
    const piece = encode("x".repeat(MEBIBYTE));
    let pushed = 0;
    let failed = null;
    while (failed === null && pushed < 32) {
      ({ failed } = answer.push(piece));
      pushed += 1;
    }
    expect(failed).toMatchObject({ code: "upstream_error" });
    expect(pushed).toBeLessThanOrEqual(17);
    expect(answer.push(piece).bytes).toHaveLength(0);
  });

  it("[stream.bounded] an endless event of many lines is an error", () => {
    const answer = createAnswer({ stream: true });
    const piece = encode(`data: ${"x".repeat(MEBIBYTE)}\n`);
    const outputs = Array.from({ length: 20 }, () => answer.push(piece));
    expect(outputs.some(({ failed }) => failed !== null)).toBe(true);
  });

  it("[stream.bounded] endless nesting is an error, and quickly", () => {
    const { outputs } = runStream([event(`{"choices":${"[".repeat(1_000_000)}`)]);
    expect(outputs[0]!.failed).toMatchObject({ code: "upstream_error" });
  });

  it("[stream.bounded] arguments that have to be held back are bounded", () => {
    const answer = createAnswer({ stream: true });
    answer.push(encode(toolChunk({ index: 0, id: "a", name: "f", arguments: "{" })));
    const piece = encode(toolChunk({ index: 1, id: "b", name: "g", arguments: "x".repeat(MEBIBYTE) }));
    const failures = Array.from({ length: 6 }, () => answer.push(piece).failed);
    expect(failures[2]).toBeNull();
    expect(failures[5]).toMatchObject({ code: "upstream_error" });
  });

  it("[stream.bounded] very many very small pieces are bounded too", () => {
    const answer = createAnswer({ stream: true });
    answer.push(encode(toolChunk({ index: 0, id: "a", name: "f", arguments: "{" })));
    const pieces = encode((chunk({ content: "x" }) + chunk({ reasoning_content: "y" })).repeat(1_000));
    const failures = Array.from({ length: 40 }, () => answer.push(pieces).failed);
    expect(failures[9]).toBeNull();
    expect(failures[39]).toMatchObject({ code: "upstream_error" });
  });

  it("[stream.bounded] arguments that are sent on are not", () => {
    const answer = createAnswer({ stream: true });
    answer.push(encode(toolChunk({ index: 0, id: "a", name: "f", arguments: '{"a":"' })));
    const piece = encode(toolChunk({ index: 0, arguments: "x".repeat(MEBIBYTE) }));
    for (let count = 0; count < 20; count += 1) expect(answer.push(piece).failed).toBeNull();
  });

  it("[stream.bounded] endless tool calls are an error", () => {
    const calls = Array.from({ length: 1_100 }, (_, index) =>
      toolChunk({ index, id: `c${index}`, name: "f", arguments: "{}" }),
    );
    expect(summarize(runStream(calls).events).at(-1)).toBe("error api_error");
  });
});
