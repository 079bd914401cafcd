import { once } from "node:events";
import { connect } from "node:http2";
import { type AddressInfo, createServer, type Server } from "node:net";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import {
  ConnectionError,
  formatSettings,
  FRAME,
  FrameReader,
  PREFACE,
} from "../../../../src/envoy/transport/wire/frames.ts";
import {
  encodeHeaderBlock,
  type HeaderField,
  HpackDecoder,
} from "../../../../src/envoy/transport/wire/hpack.ts";
import { runs } from "../../../support/extent.ts";

const LIST_BYTES = 64 * 1024;

function decode(decoder: HpackDecoder, hex: string): readonly HeaderField[] {
  const bytes = Buffer.from(hex.replaceAll(" ", ""), "hex");
  return decoder.decode(bytes, 0, bytes.length).fields;
}

function outcome(work: () => void): unknown {
  try {
    work();
  } catch (error) {
    if (!(error instanceof ConnectionError)) return error;
  }
  return "as it should be";
}

describe("HpackDecoder", () => {
  it("reads the requests of RFC 7541, appendix C.4", () => {
    const decoder = new HpackDecoder(LIST_BYTES);
    const first = [
      [":method", "GET"],
      [":scheme", "http"],
      [":path", "/"],
      [":authority", "www.example.com"],
    ];
    expect(decode(decoder, "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff")).toEqual(first);
    expect(decode(decoder, "8286 84be 5886 a8eb 1064 9cbf")).toEqual([
      ...first,
      ["cache-control", "no-cache"],
    ]);
    expect(decode(decoder, "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf")).toEqual([
      [":method", "GET"],
      [":scheme", "https"],
      [":path", "/index.html"],
      [":authority", "www.example.com"],
      ["custom-key", "custom-value"],
    ]);
  });

  it("reads back what is encoded without a state", () => {
    const text = fc.string({
      unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
    });
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text)), (fields) => {
        const block = encodeHeaderBlock(fields);
        const found = new HpackDecoder(LIST_BYTES * 16).decode(block, 0, block.length);
        expect(found).toEqual({ fields, isTooLarge: false, isStateless: true });
      }),
    );
  });

  it.each([
    { name: "an index that is nowhere", hex: "ff00" },
    { name: "index 0", hex: "80" },
    { name: "an integer that never ends", hex: "ffffffffffffffff" },
    { name: "a text beyond its block", hex: "0005616263" },
    { name: "padding that is too long", hex: "00 81 ff 82 1f ff".replaceAll(" ", "") },
    { name: "padding of zeros", hex: "0081180161" },
    { name: "the code for the end of a string", hex: "0084ffffffff0161" },
    { name: "a table size update after a field", hex: "8220" },
    { name: "a table over the limit", hex: "3fe21f" },
    { name: "a block that ends within a field", hex: "00" },
  ])("refuses $name", ({ hex }) => {
    expect(() => decode(new HpackDecoder(LIST_BYTES), hex)).toThrow(ConnectionError);
  });

  it("forgets its table once the peer has none, and takes no other size then", () => {
    const decoder = new HpackDecoder(LIST_BYTES);
    decode(decoder, "4001610162");
    expect(decode(decoder, "be")).toEqual([["a", "b"]]);
    decoder.allowTable(0);
    expect(() => decode(decoder, "be")).toThrow(ConnectionError);
    expect(decode(decoder, "20 4001610162")).toEqual([["a", "b"]]);
    expect(() => decode(decoder, "21")).toThrow(ConnectionError);
  });

  it("says when a list is too large, and keeps its table in step all the same", () => {
    const decoder = new HpackDecoder(40);
    const block = Buffer.concat([
      encodeHeaderBlock([["long", "x".repeat(100)]]),
      Buffer.from("4001610162", "hex"),
    ]);
    expect(decoder.decode(block, 0, block.length)).toMatchObject({ isTooLarge: true, isStateless: false });
    expect(decode(decoder, "be")).toEqual([["a", "b"]]);
  });

  it("never throws anything but ConnectionError, whatever the bytes", () => {
    const decoder = new HpackDecoder(LIST_BYTES);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(outcome(() => decoder.decode(Buffer.from(bytes), 0, bytes.length))).toBe("as it should be");
      }),
      { numRuns: runs(2_000) },
    );
  });
});

describe("HpackDecoder against the encoder of nghttp2", () => {
  const blocks: Buffer[] = [];
  let server: Server;

  beforeAll(async () => {
    server = createServer((socket) => {
      const reader = new FrameReader(2 ** 24, (type, _flags, _id, bytes, start, end) => {
        if (type === FRAME.headers) blocks.push(Buffer.from(bytes.subarray(start, end)));
      });
      let skipped = 0;
      socket.on("data", (chunk: Buffer) => {
        const rest = chunk.subarray(Math.min(chunk.length, PREFACE.length - skipped));
        skipped += chunk.length - rest.length;
        reader.read(rest);
      });
      socket.on("error", () => {});
      socket.write(formatSettings([]));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  afterAll(() => server.close());

  it("finds every field, whichever is sent by its index, from the table, or in the Huffman code", async () => {
    const value = fc.string({ unit: "grapheme-ascii", maxLength: 60 }).map((text) => text.trim());
    const name = fc.constantFrom(
      "x-a",
      "x-b",
      "user-agent",
      "authorization",
      "accept",
      "x-long-name-of-a-field",
    );
    const requests = fc.sample(fc.array(fc.tuple(name, value), { maxLength: 8 }), 100);
    const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    session.on("error", () => {});
    const sent = requests.map((fields) => ({ ":path": "/", ...Object.fromEntries(fields) }));
    for (const headers of sent) session.request(headers).on("error", () => {});
    await expect.poll(() => blocks.length).toBe(requests.length);
    session.destroy();
    const decoder = new HpackDecoder(LIST_BYTES);
    const found = blocks.map((block) => decoder.decode(block, 0, block.length));
    expect(found.map(({ fields }) => Object.fromEntries(fields))).toEqual(
      sent.map((headers) => expect.objectContaining(headers)),
    );
    expect(found.some(({ isStateless }) => !isStateless)).toBe(true);
  });
});
