/** The pages of the dashboard that show prices and take usage from outside, over HTTP. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCatalog } from "../../src/data-path/catalog/catalog.ts";
import { parseConfig } from "../../src/shared/config/load.ts";
import { tagCombinationsKey } from "../../src/data-path/store/redis/keys.ts";
import { OTHER_TAGS } from "../../src/shared/usage/tags.ts";
import { cookieOf, createPageClient, formTokenOf, type PageClient } from "../support/page-client.ts";
import { chargeInput, createIdentity, FINAL, openRecordInput } from "../store/fixture.ts";
import {
  type AdminUnderTest,
  createApiKey,
  createOrganization,
  OPERATOR_TOKEN,
  startAdmin,
} from "./admin-fixture.ts";

const CATALOG = `
upstreams: [{name: local, url: "http://127.0.0.1:8000"}]
catalog:
  - id: acme/rich
    aliases: [rich-latest, gpt-rich]
    upstream: local
    upstream_model: r
    context_window: 1000000
    max_output_tokens: 100
    prices:
      USD:
        - input: "2.00"
          cached_input: "0.50"
          cache_write: "2.50"
          output: "8.00"
          reasoning: "4.00"
          request: "0.01"
          tiers: [{above_prompt_tokens: 200000, input: "4.00", output: "12.00"}]
          service_tiers: {batch: {input: "1.00", output: "4.00"}}
          server_tools: {web_search: "10.00", mcp: {unpriced: true}}
        - {from: 2999-01-01, input: "1.50", output: "6.00"}
  - {id: acme/plain, upstream: local, upstream_model: p, context_window: 1000, max_output_tokens: 100,
     prices: {USD: {input: "0.10", output: "0.20"}}}
`;
const catalog = createCatalog(parseConfig(CATALOG, { baseDir: "/", env: {} }));

let admin: AdminUnderTest;
let pages: PageClient;
let cookie = "";
let organization = "";
beforeAll(async () => {
  admin = await startAdmin({ catalog: () => catalog });
  pages = createPageClient(admin.url);
  organization = await createOrganization(admin);
  cookie = cookieOf(await pages.signIn(OPERATOR_TOKEN));
});
afterAll(() => admin.stop());

describe("the Usage page", () => {
  it("says that more combinations of tags came than are kept apart, and nothing until then", async () => {
    const other = await createOrganization(admin, { name: "Tags" });
    const show = async (): Promise<string> => (await pages.get(`/organizations/${other}/usage`, cookie)).text;
    expect(await show()).not.toContain("combinations of tags");
    const month = new Date(await admin.store.timeMs()).toISOString().slice(0, 7);
    await admin.client.hset(tagCombinationsKey(other, month), OTHER_TAGS, OTHER_TAGS);
    expect(await show()).toContain("More than 1,000 combinations of tags in a month: ");
  });
});

describe("the Models page", () => {
  it("shows every part of the price in force, what is announced, and the aliases", async () => {
    const { text } = await pages.get(`/organizations/${organization}/models`, cookie);
    const lines = [...text.matchAll(/<li>([^<]*)<\/li>/g)].map(([, line]) => line);
    expect(lines.filter((line) => line !== undefined && /\d\.\d\d/.test(line))).toEqual([
      "cache write 2.50",
      "reasoning 4.00",
      "0.01 a request",
      "above 200,000 prompt tokens: input 4.00, cached input 4.00, output 12.00",
      "batch: input 1.00, cached input 1.00, output 4.00",
      "web search 10.00 per thousand uses",
      "from 2999-01-01: input 1.50, cached input 1.50, output 6.00",
    ]);
    expect(text).toContain("also rich-latest, gpt-rich");
  });

  it("shows the cached share of input tokens by model, and on the model's own page", async () => {
    const share = async (): Promise<string[]> => {
      const { text } = await pages.get(`/organizations/${organization}/models`, cookie);
      return [...text.matchAll(/data-label="cached share"[^>]*>(?:<[^>]*>)*([^<]*)</g)].map(
        ([, shown = ""]) => shown,
      );
    };
    expect(await share()).toEqual(["none", "none"]);
    const { id: keyId } = await createApiKey(admin, organization);
    const owner = { organizationId: organization, keyId, hash: "" };
    const identity = { ...(await createIdentity(admin.store, owner)), model: "acme/plain" };
    await admin.store.openRecord(openRecordInput(identity));
    // 10 input and 3 cached tokens.
    await admin.store.charge(chargeInput(identity, 1, 0n, { final: FINAL }));
    expect(await share()).toEqual(["none", "23 %"]);
    const own = await pages.get(`/organizations/${organization}/use?model=acme%2Fplain`, cookie);
    expect(own.text).toContain("Input tokens from prompt caches: 23 %");
  });

  it("shows what the API has", async () => {
    expect(await admin.ok("GET", "/api/catalog")).toMatchObject({
      data: [
        { id: "acme/rich", aliases: ["rich-latest", "gpt-rich"] },
        { id: "acme/plain", aliases: [] },
      ],
    });
  });
});

describe("the form of the Usage page", () => {
  const path = (): string => `/organizations/${organization}/usage`;
  const post = async (fields: Readonly<Record<string, string>>) => {
    const page = await pages.get(path(), cookie);
    const form = {
      form_token: formTokenOf(page),
      amount: "",
      reason: "nightly batch",
      key_id: "",
      ...fields,
    };
    return pages.post(`${path()}/corrections`, form, { cookie });
  };
  const USAGE = {
    "outside_usage.model": "acme/plain",
    "outside_usage.input_tokens": "1000",
    "outside_usage.output_tokens": "100",
  };

  it("charges usage from outside, which the page of the audit log shows", async () => {
    expect((await post({ ...USAGE, id: "form-1" })).status).toBe(303);
    // 1000 × 10 + 100 × 20 microcents.
    expect(await admin.ok("GET", `/api/organizations/${organization}`)).toMatchObject({
      spent_microcents: 12_000,
    });
    const { text } = await pages.get(`/organizations/${organization}/audit`, cookie);
    expect(text).toContain("outside usage: model: acme/plain");
    expect(text).toContain("outside usage: input tokens: 1,000");
  });

  it("shows what is wrong beside its field", async () => {
    const answer = await post({ ...USAGE, "outside_usage.service_tier": "batch", id: "form-2" });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('href="#outside_usage.service_tier"');
    expect(answer.text).toContain("the model has no prices of service tiers");
  });
});
