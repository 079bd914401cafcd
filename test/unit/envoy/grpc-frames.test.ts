import { describe, expect, it } from "vitest";

import {
  formatPrefix,
  GrpcFrameError,
  GrpcFrameReader,
} from "../../../src/envoy/transport/wire/grpc-frames.ts";

const MESSAGES = ["", "a", "hello", "x".repeat(300)].map((text) => Buffer.from(text));
const BYTES = Buffer.concat(MESSAGES.flatMap((message) => [formatPrefix(message.length), message]));

describe("GrpcFrameReader", () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 10, 64, 300, 305, BYTES.length])(
    "finds the same messages in pieces of %i bytes",
    (size) => {
      const reader = new GrpcFrameReader(300);
      const found: Buffer[] = [];
      for (let start = 0; start < BYTES.length; start += size) {
        found.push(...reader.read(BYTES.subarray(start, start + size)));
      }
      expect(found).toEqual(MESSAGES);
      expect(reader.isWithinMessage).toBe(false);
    },
  );

  it("takes a message that lies whole in a chunk without a copy", () => {
    const [, second] = new GrpcFrameReader(300).read(BYTES);
    expect(second?.buffer).toBe(BYTES.buffer);
  });

  it("knows when it is within a message", () => {
    const reader = new GrpcFrameReader(300);
    reader.read(BYTES.subarray(0, 3));
    expect(reader.isWithinMessage).toBe(true);
  });

  it.each([1, 5, 400])("refuses a message over the limit in pieces of %i bytes", (size) => {
    const reader = new GrpcFrameReader(299);
    const readAll = () => {
      for (let start = 0; start < BYTES.length; start += size) {
        reader.read(BYTES.subarray(start, start + size));
      }
    };
    expect(readAll).toThrow(new GrpcFrameError("a message of 300 bytes is over the limit of 299"));
  });

  it("refuses compressed messages", () => {
    const reader = new GrpcFrameReader(300);
    expect(() => reader.read(Buffer.from([1, 0, 0, 0, 0]))).toThrow(GrpcFrameError);
  });
});
