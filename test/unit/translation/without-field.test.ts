import { describe, expect, it } from "vitest";
import { withoutSession } from "../../../src/data-path/exchange/take-session.ts";
import { readJsonBody } from "../../../src/data-path/translation/json/parse-body.ts";
import { atOnce } from "../../../src/shared/event-loop/steps.ts";

describe("a body without the gateway's own field", () => {
  const read = (text: string) => ({ ...atOnce(readJsonBody(Buffer.from(text))), model: "m" });

  it("is byte for byte the same elsewhere", () => {
    const body = read('{ "a" : 1.0, "session_id": "run", "b":[2 ]}');
    const { text, value } = withoutSession(body, { passthroughFields: [] });
    expect(text).toMatch(/^\{ "a" : 1\.0,\s*"b":\[2 \]\}$/);
    expect(value).toEqual({ a: 1, b: [2] });
  });

  it("is the same body where there is none, or the upstream takes it", () => {
    const none = read('{"a":1}');
    expect(withoutSession(none, { passthroughFields: [] })).toBe(none);
    const wanted = read('{"session_id":"run"}');
    expect(withoutSession(wanted, { passthroughFields: ["session_id"] })).toBe(wanted);
  });
});
