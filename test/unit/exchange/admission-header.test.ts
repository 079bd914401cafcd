import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  formatAdmissionHeader,
  formatAwaitedHeader,
  parseAdmissionHeader,
  parseAwaitedHeader,
} from "../../../src/data-path/exchange/admission/admission-header.ts";
import type { Admission } from "../../../src/data-path/limits/admission.ts";
import { runs } from "../../support/extent.ts";

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
  isStrict: false,
  isEntered: false,
  concurrencyLimit: null,
  models: ["acme/echo"],
  month: "2026-11",
  day: "2026-11-21",
  owners: "user_1.group_1",
  tags: "",
  keepsEndUser: false,
  shrinksOnCap: false,
  headroom: [],
  session: null,
  sessionBudgetCents: null,
  areSessionsCapped: false,
  modelNames: null,
  takenTokens: null,
  rate: { limit: 600, capacity: 60, remaining: 59, resetMs: 100, timeMs: 1, tokens: [] },
};

describe("formatAdmissionHeader", () => {
  it("is a header value of printable ASCII, whatever names people give", () => {
    expect(formatAdmissionHeader(admission)).toMatch(/^[\x20-\x7e]+$/);
  });

  it("is read back as it was", () => {
    expect(parseAdmissionHeader(formatAdmissionHeader(admission))).toEqual(admission);
  });

  it("is read back as it was whatever the texts hold, with what few requests have", () => {
    const text = fc.string({ unit: "binary", maxLength: 20 });
    const texts = fc.oneof(text, fc.constantFrom("", "a|b,c%d", "%0041", "\ud800", "=", "null"));
    const names = fc.record({
      aliases: fc.dictionary(
        texts.filter((name) => name !== "__proto__"),
        texts,
        { noNullPrototype: true },
      ),
      defaultModel: fc.option(texts),
    });
    const any = fc.record({
      route: texts,
      resource: fc.option(texts),
      organizationName: texts,
      keyName: texts,
      isStrict: fc.boolean(),
      concurrencyLimit: fc.option(fc.nat()),
      models: fc.option(fc.array(texts.filter((model) => model !== ""))),
      tags: texts,
      keepsEndUser: fc.boolean(),
      shrinksOnCap: fc.boolean(),
      headroom: fc.array(fc.tuple(texts, texts)),
      modelNames: fc.option(names),
      takenTokens: fc.option(
        fc.record({ buckets: fc.string(), prompt: fc.nat(), reserved: fc.nat(), countsCached: fc.boolean() }),
      ),
      session: fc.option(texts),
      sessionBudgetCents: fc.option(fc.nat()),
      areSessionsCapped: fc.boolean(),
      rate: fc.record({
        limit: fc.nat(),
        capacity: fc.nat(),
        remaining: fc.nat(),
        resetMs: fc.nat(),
        timeMs: fc.nat(2 ** 40),
        tokens: fc.array(
          fc.record({
            type: fc.constantFrom("total", "input", "output"),
            limit: fc.nat(),
            remaining: fc.nat(),
            resetMs: fc.nat(),
          }),
        ),
      }),
    });
    fc.assert(
      fc.property(any, (changes) => {
        const whole = { ...admission, ...changes };
        const header = formatAdmissionHeader(whole);
        expect(header).toMatch(/^[\x20-\x7e]+$/);
        expect(parseAdmissionHeader(header)).toEqual(whole);
      }),
      { numRuns: runs(500) },
    );
  });

  it.each(["", "{", '{"requestId":"req_1"}', "req_1|messages"])("is not read from %j", (header) => {
    expect(() => parseAdmissionHeader(header)).toThrow(SyntaxError);
  });
});

describe("the header of a request whose admission is under way", () => {
  const rate = {
    limit: 6,
    capacity: 10,
    remaining: 8,
    resetMs: 20_000,
    timeMs: 1_764_000_000_000,
    tokens: [],
  };

  it.each([null, rate])("comes back as it was, and no admission is taken for one (%j)", (known) => {
    const awaited = { requestId: "req_1", protocol: "responses", rate: known } as const;
    expect(parseAwaitedHeader(formatAwaitedHeader(awaited))).toEqual(awaited);
    expect(parseAwaitedHeader(formatAdmissionHeader(admission))).toBeNull();
    expect(() => parseAdmissionHeader(formatAwaitedHeader(awaited))).toThrow(SyntaxError);
  });
});
