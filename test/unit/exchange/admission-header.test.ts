import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  formatAdmissionHeader,
  formatAwaitedHeader,
  parseAdmissionHeader,
  parseAwaitedHeader,
  readAwaitedId,
} from "../../../src/data-path/exchange/admission/admission-header.ts";
import type { Admission } from "../../../src/data-path/limits/admission.ts";
import { runs } from "../../support/extent.ts";
import { ADMISSION, changeAdmission } from "../settlement/settlement-fixture.ts";

const admission = changeAdmission(ADMISSION, {
  identity: { owners: "user_1.group_1" },
  caller: { organizationName: "Zoë & Söhne 日本 🙂\r\n", keyName: "ci\u0000\u007f" },
});

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
    const nameable = texts.filter((text) => text !== "");
    const plain = fc.string({
      unit: fc.constantFrom("a", "z", "0", "9", "-", "_", "."),
      minLength: 1,
      maxLength: 20,
    });
    // Every fact, and none is left as it was: fields of one form that changed places are read back elsewhere.
    const any: fc.Arbitrary<Admission> = fc.record({
      identity: fc.record({
        requestId: plain,
        route: texts,
        month: plain,
        day: plain,
        owners: fc.option(nameable, { nil: undefined }),
        tags: fc.option(nameable, { nil: undefined }),
        session: fc.option(texts, { nil: undefined }),
      }),
      caller: fc.record({
        organizationId: plain,
        organizationName: texts,
        keyId: plain,
        keyName: texts,
        currency: plain,
        models: fc.option(fc.array(nameable)),
        modelNames: fc.option(names),
        tagsEndUser: fc.boolean(),
      }),
      limits: fc.record({
        isStrict: fc.boolean(),
        isEntered: fc.boolean(),
        shrinksOnCap: fc.boolean(),
        areSessionsCapped: fc.boolean(),
        concurrencyLimit: fc.option(fc.nat()),
        sessionBudgetCents: fc.option(fc.nat()),
        takenTokens: fc.option(
          fc.record({
            buckets: fc.string(),
            prompt: fc.nat(),
            reserved: fc.nat(),
            countsCached: fc.boolean(),
          }),
        ),
      }),
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
      endpoint: fc.constantFrom("messages", "responses"),
      protocol: fc.constantFrom("chat", "messages"),
      resource: fc.option(texts),
      headroom: fc.array(fc.tuple(texts, texts)),
    });
    fc.assert(
      fc.property(any, (whole) => {
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
  const caller = { organizationId: "org_1", keyId: "key_1", presentedHash: "", userId: null, groupId: null };
  const ofToken = { ...caller, userId: "user_1", groupId: "group_1" };

  it.each([
    { caller, extensions: {} },
    { caller: ofToken, extensions: { allowed_models: "größer, |x|" } },
  ])("comes back as it was, and no admission is taken for one (%j)", (given) => {
    const awaited = { requestId: "req_1", ...given };
    const header = formatAwaitedHeader(awaited);
    expect(header).toMatch(/^[\x20-\x7e]+$/);
    expect(parseAwaitedHeader(header)).toEqual(awaited);
    expect(readAwaitedId(header)).toBe("req_1");
    expect(readAwaitedId(formatAdmissionHeader(admission))).toBeNull();
    expect(() => parseAdmissionHeader(header)).toThrow(SyntaxError);
    expect(() => parseAwaitedHeader(formatAdmissionHeader(admission))).toThrow(SyntaxError);
  });
});
