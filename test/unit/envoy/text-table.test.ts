import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TextTable } from "../../../src/envoy/messages/text-table.ts";
import { runs } from "../../support/extent.ts";

describe("TextTable", () => {
  it.each(["utf8", "latin1"] as const)(
    "reads %s as a Buffer does, whatever came before in a text's place",
    (encoding) => {
      const table = new TextTable(encoding);
      const ascii = fc.uint8Array({ min: 0x20, max: 0x7e, maxLength: 60 });
      const likely = fc.constantFrom("", "x-request-id", "x-request-id ", "é", "aéb", "\ufffd", "日本");
      const texts = fc.oneof(
        fc.uint8Array({ maxLength: 3 }),
        ascii,
        likely.map((text) => Buffer.from(text)),
      );
      fc.assert(
        fc.property(texts, fc.nat(5), (array, before) => {
          const bytes = Buffer.concat([Buffer.alloc(before, 0x61), array, Buffer.from("b")]);
          const end = before + array.length;
          expect(table.read(bytes, before, end)).toBe(bytes.toString(encoding, before, end));
          expect(table.read(bytes, before, end)).toBe(bytes.toString(encoding, before, end));
        }),
        { numRuns: runs(2_000) },
      );
    },
  );

  it("never takes a text whose characters are another's bytes for that one", () => {
    const table = new TextTable("utf8");
    const path = Buffer.from("/v1/models/ürbetüwsüi");
    // Both have one place.
    const twin = Buffer.from(path.toString("latin1"));
    const read = (bytes: Buffer): string => table.read(bytes, 0, bytes.length);
    expect(read(path)).toBe("/v1/models/ürbetüwsüi");
    expect(read(twin)).toBe(path.toString("latin1"));
    expect(read(path)).toBe("/v1/models/ürbetüwsüi");
  });
});
