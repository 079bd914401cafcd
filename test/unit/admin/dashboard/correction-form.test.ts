import { describe, expect, it } from "vitest";
import { FormValues } from "../../../../src/management/admin/dashboard/form.ts";
import {
  CORRECTION_FIELDS,
  readCorrection,
} from "../../../../src/management/admin/dashboard/parts/correction-form.tsx";
import { spendCorrectionCreation } from "../../../../src/management/admin/schemas/spend-correction.ts";

const read = (fields: Readonly<Record<string, string>>) =>
  readCorrection(new FormValues(new URLSearchParams({ reason: "why", ...fields }).toString()));
const USAGE = {
  "outside_usage.model": "acme/echo-small",
  "outside_usage.input_tokens": "1200000",
  "outside_usage.cached_input_tokens": "",
  "outside_usage.output_tokens": "80000",
};

describe("readCorrection", () => {
  it("reads an amount, and a form whose fields of usage are empty as one", () => {
    const amount = { amount_microcents: -125_000, reason: "why", key_id: "key_1" };
    expect(read({ amount: "-0.00125", key_id: "key_1", "outside_usage.model": "" })).toEqual(amount);
  });

  it("reads tokens of a model in place of an amount, as the API takes them", () => {
    const body = read({ ...USAGE, amount: "", "outside_usage.service_tier": "batch" });
    expect(body).toEqual({
      reason: "why",
      outside_usage: {
        model: "acme/echo-small",
        input_tokens: 1_200_000,
        cached_input_tokens: 0,
        output_tokens: 80_000,
        service_tier: "batch",
      },
    });
    expect(spendCorrectionCreation.safeParse(body).success).toBe(true);
  });

  it("leaves it to the API to refuse both", () => {
    const body = read({ ...USAGE, amount: "1" });
    expect(body).toMatchObject({ amount_microcents: 100_000_000, outside_usage: {} });
    expect(spendCorrectionCreation.safeParse(body).success).toBe(false);
  });

  it.each([
    { name: "neither amount nor model", fields: {}, param: "amount" },
    {
      name: "a count that is no number",
      fields: { ...USAGE, "outside_usage.output_tokens": "8.5" },
      param: "outside_usage.output_tokens",
    },
  ])("refuses $name beside its field", ({ fields, param }) => {
    expect(CORRECTION_FIELDS).toContain(param);
    expect(() => read(fields)).toThrow(`\`${param}\``);
  });
});
