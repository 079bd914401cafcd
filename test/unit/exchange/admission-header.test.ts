import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatAdmissionHeader, parseAdmissionHeader } from "../../../src/exchange/admission-header.ts";
import type { Admission } from "../../../src/limits/admission.ts";

const admission: Admission = {
  requestId: "req_1",
  endpoint: "messages",
  protocol: "messages",
  route: "POST /v1/messages",
  resource: null,
  organizationId: "org_1",
  organizationName: "Zoë & Söhne 日本 🙂\r\n",
  keyId: "key_1",
  keyName: "ci\u0000\u007f",
  currency: "EUR",
  strictCaps: false,
  isEntered: false,
  models: ["acme/echo"],
  month: "2026-11",
  day: "2026-11-21",
  rate: { limit: 600, capacity: 60, remaining: 59, resetMs: 100, timeMs: 1 },
};

describe("formatAdmissionHeader", () => {
  it("is a header value of printable ASCII, whatever names people give", () => {
    expect(formatAdmissionHeader(admission)).toMatch(/^[\x20-\x7e]+$/);
  });

  it("is read back as it was", () => {
    expect(parseAdmissionHeader(formatAdmissionHeader(admission))).toEqual(admission);
  });

  it("is read back as it was whatever the texts hold, with what it is given beyond the fixed fields", () => {
    const text = fc.string({ unit: "binary", maxLength: 20 });
    const texts = fc.oneof(text, fc.constantFrom("", "a|b,c%d", "%0041", "\ud800", "=", "null"));
    const others = fc.oneof(fc.constant({}), fc.record({ later: fc.array(texts) }));
    const any = fc.record({
      route: texts,
      resource: fc.option(texts),
      organizationName: texts,
      keyName: texts,
      strictCaps: fc.boolean(),
      models: fc.option(fc.array(texts.filter((model) => model !== ""))),
      rate: fc.record({
        limit: fc.nat(),
        capacity: fc.nat(),
        remaining: fc.nat(),
        resetMs: fc.nat(),
        timeMs: fc.nat(2 ** 40),
      }),
    });
    const limit = fc.record(
      { concurrencyLimit: fc.nat(), tags: texts.filter((tags) => tags !== "") },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(any, limit, others, (changes, concurrency, beyond) => {
        const whole = { ...admission, ...changes, ...concurrency, ...beyond };
        const header = formatAdmissionHeader(whole);
        expect(header).toMatch(/^[\x20-\x7e]+$/);
        expect(parseAdmissionHeader(header)).toEqual(whole);
      }),
      { numRuns: 500 },
    );
  });

  it.each(["", "{", '{"requestId":"req_1"}', "req_1|messages"])("is not read from %j", (header) => {
    expect(() => parseAdmissionHeader(header)).toThrow(SyntaxError);
  });
});
