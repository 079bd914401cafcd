import { describe, expect, it } from "vitest";
import { readJsonBody } from "../../../src/management/admin/http/read-json-body.ts";

function read(value: unknown): Promise<object | undefined> {
  return readJsonBody(new Request("http://localhost", { method: "POST", body: JSON.stringify(value) }));
}

/** A list in a field: one value for the field, one for each element. */
function bodyOf(values: number) {
  return { list: Array.from({ length: values - 1 }, () => 0) };
}

describe("readJsonBody", () => {
  it("takes 2,000 fields and list elements, at any depth", async () => {
    expect(await read(bodyOf(2_000))).toEqual(bodyOf(2_000));
    expect(await read({ outer: bodyOf(1_999) })).toEqual({ outer: bodyOf(1_999) });
  });

  it("counts no commas and brackets of texts, and nothing of empty objects and lists", async () => {
    const text = String.raw`,[{"\\",]}\"`.repeat(1_000);
    const body = { [text]: text, ...bodyOf(999), empty: Array.from({ length: 999 }, () => ({})) };
    expect(await read(body)).toEqual(body);
  });

  it.each([
    ["fields", Object.fromEntries(Array.from({ length: 45_000 }, (_, index) => [`field${index}`, 1]))],
    ["elements", bodyOf(2_001)],
    ["values of an inner object", { outer: [bodyOf(1_999)] }],
    ["empty objects", { list: Array.from({ length: 2_000 }, () => ({})) }],
  ])("rejects more: %s", async (_, body) => {
    await expect(read(body)).rejects.toMatchObject({ status: 400, code: "invalid_parameter", param: "body" });
  });

  it("rejects them before it parses: what follows need not be JSON", async () => {
    const text = `{"list":[${"0,".repeat(2_001)}`;
    const request = new Request("http://localhost", { method: "POST", body: text });
    await expect(readJsonBody(request)).rejects.toMatchObject({ code: "invalid_parameter" });
  });
});
