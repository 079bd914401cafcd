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
  allowedModels: ["acme/echo"],
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
});
