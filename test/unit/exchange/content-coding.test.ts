import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, constants } from "node:zlib";
import { describe, expect, it } from "vitest";
import {
  BodyDecoder,
  isDecodable,
  readCoding,
} from "../../../src/data-path/exchange/upstream/content-coding.ts";

const TEXT = JSON.stringify({ text: "zażółć 😀 ".repeat(500) });

/** Decodes pieces of so many bytes, and says what came of them. */
async function decode(coding: string, coded: Uint8Array, pieceBytes = coded.byteLength) {
  const decoder = new BodyDecoder(coding);
  const pieces: Uint8Array[] = [];
  let problem: Error | null = null;
  for (let start = 0; start < coded.byteLength && problem === null; start += pieceBytes) {
    problem = await decoder.push(coded.subarray(start, start + pieceBytes), (piece) => pieces.push(piece));
  }
  decoder.close();
  return { text: Buffer.concat(pieces).toString(), problem };
}

describe("BodyDecoder", () => {
  it.each([
    ["gzip", gzipSync(TEXT)],
    ["x-gzip", gzipSync(TEXT)],
    ["deflate", deflateSync(TEXT)],
    ["deflate", deflateRawSync(TEXT)],
    ["br", brotliCompressSync(TEXT)],
  ])("reads %s, however it is cut", async (coding, coded) => {
    for (const bytes of [1, 7, coded.byteLength]) {
      expect(await decode(coding, coded, bytes)).toEqual({ text: TEXT, problem: null });
    }
  });

  it.each([
    ["gzip", gzipSync("data: 1\n\n", { finishFlush: constants.Z_SYNC_FLUSH })],
    ["deflate", deflateRawSync("data: 1\n\n", { finishFlush: constants.Z_SYNC_FLUSH })],
    ["br", brotliCompressSync("data: 1\n\n", { finishFlush: constants.BROTLI_OPERATION_FLUSH })],
  ])("hands on what a server has flushed in %s, before the rest comes", async (coding, begun) => {
    expect(await decode(coding, begun)).toEqual({ text: "data: 1\n\n", problem: null });
  });

  it("gives what comes before a break, and says that there is one", async () => {
    const coded = gzipSync(TEXT);
    coded.fill(0, coded.byteLength - 8);
    const { text, problem } = await decode("gzip", coded);
    expect(problem?.message).toMatch(/incorrect data check/);
    expect(TEXT.startsWith(text)).toBe(true);
  });

  it("gives up a body that was made to fill memory", async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1_048_576));
    const { text, problem } = await decode("gzip", bomb, 4_096);
    expect(problem?.message).toMatch(/bytes of a compressed body have become/);
    expect(text.length).toBeLessThan(2_000_000);
  });

  it("turns what its reader throws into the body's problem", async () => {
    const decoder = new BodyDecoder("br");
    const throwing = (): void => {
      throw new Error("no");
    };
    expect((await decoder.push(brotliCompressSync(TEXT), throwing))?.message).toBe("no");
  });
});

it.each([
  [undefined, null],
  ["", null],
  [" Identity", null],
  ["GZIP", "gzip"],
  ["gzip, identity", "gzip"],
  ["gzip,br", "gzip, br"],
])("reads content-encoding %j as %j", (header, coding) => {
  expect(readCoding(header)).toBe(coding);
});

it.each(["zstd", "gzip, br", "constructor"])("does not read %s", (coding) => {
  expect(isDecodable(coding)).toBe(false);
});
