/** Spend corrections that name tokens and a model: what did not pass the gateway, at the catalog's price in force. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createCatalog } from "../../src/data-path/catalog/catalog.ts";
import { parseConfig } from "../../src/shared/config/load.ts";
import { type AdminUnderTest, createApiKey, createOrganization, startAdmin } from "./admin-fixture.ts";

const RATES =
  'input: "2.00", cached_input: "0.50", cache_write: "2.50", output: "8.00", reasoning: "4.00", request: "0.01"';
const TIERS =
  'tiers: [{above_prompt_tokens: 200000, input: "4.00", output: "12.00"}], service_tiers: {batch: {input: "1.00", output: "4.00"}}';
const PRICE = `{${RATES}, ${TIERS}}`;

function catalogWith(price: string, id = "acme/batch") {
  const text = `
upstreams: [{name: local, url: "http://127.0.0.1:8000"}]
catalog:
  - {id: ${id}, upstream: local, upstream_model: b, context_window: 1000000, max_output_tokens: 100,
     prices: {USD: ${price}}}
  - {id: acme/plain, upstream: local, upstream_model: p, context_window: 1000, max_output_tokens: 100,
     prices: {USD: {input: "0.00", output: "1.00"}}}
  - {id: acme/dear, upstream: local, upstream_model: d, context_window: 1000, max_output_tokens: 100,
     prices: {USD: {input: "1.00", output: "1.00", request: "1000.00"}}}
  - {id: acme/euro, upstream: local, upstream_model: e, context_window: 1000, max_output_tokens: 100,
     prices: {EUR: {input: "1.00", output: "1.00"}}}
`;
  return createCatalog(parseConfig(text, { baseDir: "/", env: {} }));
}

let admin: AdminUnderTest;
let catalog = catalogWith(PRICE);
let organization = "";

beforeAll(async () => {
  admin = await startAdmin({ catalog: () => catalog });
});
beforeEach(async () => {
  organization = await createOrganization(admin);
});
afterAll(() => admin.stop());

const path = (): string => `/api/organizations/${organization}/spend-corrections`;
const bodyOf = (usage: object) => ({
  reason: "nightly batch",
  outside_usage: { model: "acme/batch", ...usage },
});
const correct = (usage: object, headers: Readonly<Record<string, string>> = {}) =>
  admin.ok("POST", path(), { body: bodyOf(usage), headers });

describe("a spend correction of usage from outside", () => {
  // Microcents by hand: a price of 2.00 per million tokens is 200 microcents a token, a fee of 0.01 is 1,000,000.
  it.each([
    {
      name: "input and output and one fee",
      usage: { input_tokens: 1000, output_tokens: 100 },
      cost: 1_280_000,
    },
    {
      name: "the fee of each request",
      usage: { input_tokens: 1000, output_tokens: 100, requests: 3 },
      cost: 3_280_000,
    },
    {
      // 900 × 200 + 500 × 50 + 100 × 250 + 60 × 800 + 40 × 400 + the fee
      name: "cached, written and reasoning tokens, each at its own price",
      usage: {
        input_tokens: 1000,
        cached_input_tokens: 500,
        cache_write_tokens: 100,
        output_tokens: 100,
        reasoning_tokens: 40,
      },
      cost: 1_294_000,
    },
    {
      name: "the service tier that is named, which has no fee",
      usage: { input_tokens: 1000, output_tokens: 100, service_tier: "Batch" },
      cost: 140_000,
    },
    {
      name: "the default where that is named",
      usage: { input_tokens: 1000, output_tokens: 100, service_tier: "default" },
      cost: 1_280_000,
    },
    {
      name: "the tier by size of prompt that is named",
      usage: { input_tokens: 1000, output_tokens: 100, above_prompt_tokens: 200_000 },
      cost: 520_000,
    },
    {
      name: "no tier by size where none is named, however much it is together",
      usage: { input_tokens: 1_000_000, output_tokens: 0 },
      cost: 201_000_000,
    },
  ])("charges $name", async ({ usage, cost }) => {
    expect(await correct(usage)).toMatchObject({
      amount_microcents: cost,
      organization_spent_microcents: cost,
      repeated: false,
      outside_usage: { model: "acme/batch", input_tokens: usage.input_tokens, price_from: null },
    });
    const month = await admin.ok("GET", `/api/organizations/${organization}/usage?group_by=key,model`);
    expect(month).toMatchObject({
      data: [{ key_id: null, model: null, requests: 0, cost_microcents: cost }],
    });
  });

  it("moves a key's spend along", async () => {
    const key = await createApiKey(admin, organization);
    const body = { ...bodyOf({ input_tokens: 1000, output_tokens: 100 }), key_id: key.id };
    expect(await admin.ok("POST", path(), { body })).toMatchObject({ key_spent_microcents: 1_280_000 });
  });

  it("counts once for each Idempotency-Key, and shows a repeat what was charged though price or model are others", async () => {
    const headers = { "idempotency-key": "batch-7" };
    const usage = { input_tokens: 1000, output_tokens: 100 };
    const first = await correct(usage, headers);
    const before = catalog;
    catalog = catalogWith('{input: "9.00", output: "9.00"}');
    try {
      expect(await correct(usage, headers)).toEqual({ ...first, repeated: true });
      catalog = catalogWith(PRICE, "acme/renamed");
      expect(await correct(usage, headers)).toEqual({ ...first, repeated: true });
    } finally {
      catalog = before;
    }
  });

  it("is in the audit log with its model and its tokens", async () => {
    await correct({ input_tokens: 1000, output_tokens: 100, service_tier: "batch" });
    const { data } = await admin.ok("GET", `/api/organizations/${organization}/audit`);
    const [entry] = data as readonly { action: string; after: object }[];
    expect(entry).toMatchObject({ action: "spend.corrected", after: { amount_microcents: 140_000 } });
    expect(entry?.after).toHaveProperty("outside_usage", {
      model: "acme/batch",
      requests: 1,
      input_tokens: 1000,
      output_tokens: 100,
      service_tier: "batch",
    });
  });

  it("says of an amount that it was no usage", async () => {
    const body = { amount_cents: 1, reason: "a" };
    expect(await admin.ok("POST", path(), { body })).toMatchObject({ outside_usage: null });
  });

  it.each([
    { name: "a model that there is not", usage: { model: "acme/bath" }, param: "outside_usage.model" },
    {
      name: "a model without a price in the currency",
      usage: { model: "acme/euro" },
      param: "outside_usage.model",
    },
    {
      name: "a service tier without a price",
      usage: { service_tier: "flex" },
      param: "outside_usage.service_tier",
    },
    {
      name: "a size of prompt that has no tier",
      usage: { above_prompt_tokens: 100_000 },
      param: "outside_usage.above_prompt_tokens",
    },
    {
      name: "more written than input tokens",
      usage: { cache_write_tokens: 11 },
      param: "outside_usage.input_tokens",
    },
    {
      name: "more reasoning than output tokens",
      usage: { reasoning_tokens: 11 },
      param: "outside_usage.output_tokens",
    },
    { name: "negative tokens", usage: { input_tokens: -1 }, param: "outside_usage.input_tokens" },
    { name: "a field that there is not", usage: { inputs: 1 }, param: "outside_usage.inputs" },
    {
      name: "what costs nothing",
      usage: { model: "acme/plain", output_tokens: 0 },
      param: "outside_usage",
    },
    {
      name: "more than a correction can be",
      usage: { model: "acme/dear", requests: 1_000_000_000 },
      param: "outside_usage",
    },
  ])("refuses $name with 400", async ({ usage, param }) => {
    const body = bodyOf({ input_tokens: 10, output_tokens: 10, ...usage });
    expect(await admin.refused("POST", path(), { body })).toMatchObject({ status: 400, param });
  });

  it("refuses an amount beside it", async () => {
    const body = { ...bodyOf({ input_tokens: 10, output_tokens: 10 }), amount_cents: 1 };
    expect(await admin.refused("POST", path(), { body })).toMatchObject({
      status: 400,
      param: "amount_cents",
    });
  });
});
