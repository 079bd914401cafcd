/** Where a refusal leads: the page on which its reader can act, once the operator has said where the dashboard is. */
import { describe, expect, it } from "vitest";
import { readKey, unknownKey } from "../../../src/data-path/auth/read-key.ts";
import { createCatalog } from "../../../src/data-path/catalog/catalog.ts";
import type { GatewayError } from "../../../src/shared/contract/errors.ts";
import type { DashboardAddress } from "../../../src/shared/contract/pages.ts";
import { createAdmissionError } from "../../../src/data-path/limits/errors/admission-error.ts";
import type { KnownKeyResult } from "../../../src/shared/stored/admission.ts";
import { createConfigOf } from "../catalog/support.ts";
import { ADMITTED, REACHED } from "./admit-request-fixture.ts";

const BASE = "https://dash.example.com";
const NOWHERE: DashboardAddress = { baseUrl: null, contact: null };
const SET: DashboardAddress = { baseUrl: BASE, contact: null };

const KEY_PAGE = `${BASE}/organizations/${ADMITTED.organization.id}/keys/${ADMITTED.key.id}`;
const admission = (decision: KnownKeyResult["decision"]) => (dashboard: DashboardAddress) =>
  createAdmissionError(
    { ...ADMITTED, reachedCap: REACHED, decision, tokenLimit: null },
    "chat_completions",
    dashboard,
  );

function caught(run: () => unknown): GatewayError {
  try {
    run();
  } catch (error) {
    return error as GatewayError;
  }
  throw new Error("nothing was thrown");
}

function requireForbidden({ baseUrl }: DashboardAddress): GatewayError {
  const config = createConfigOf([{ id: "acme/echo" }]);
  const catalog = createCatalog({ ...config, dashboard: { ...config.dashboard, baseUrl } });
  const viewer = {
    models: [],
    currency: "USD",
    organizationId: ADMITTED.organization.id,
    keyId: ADMITTED.key.id,
  };
  return caught(() => catalog.requireModel("acme/echo", viewer));
}

describe.each<{ name: string; create: (dashboard: DashboardAddress) => GatewayError; page: string }>([
  {
    name: "no key",
    create: ({ baseUrl }) => caught(() => readKey({}, baseUrl)),
    page: `Create one on ${BASE}.`,
  },
  {
    name: "no well-formed key",
    create: ({ baseUrl }) => caught(() => readKey({ "x-api-key": "x" }, baseUrl)),
    page: `create one on ${BASE}.`,
  },
  { name: "an unknown key", create: ({ baseUrl }) => unknownKey(baseUrl), page: `create one on ${BASE}.` },
  { name: "a disabled key", create: admission("key_disabled"), page: KEY_PAGE },
  { name: "an expired key", create: admission("key_expired"), page: KEY_PAGE },
  { name: "a model that the key can't use", create: requireForbidden, page: `${KEY_PAGE}#allowed_models` },
  { name: "a rate", create: admission("rate_limited"), page: `${KEY_PAGE}#requests_per_minute.` },
  {
    name: "a rate of tokens",
    create: admission("token_rate_limited"),
    page: `${KEY_PAGE}#tokens_per_minute.`,
  },
  {
    name: "concurrent requests",
    create: admission("concurrency_limited"),
    page: `${KEY_PAGE}#max_concurrent_requests.`,
  },
  { name: "a cap", create: admission("key_cap_reached"), page: `${KEY_PAGE}#limits` },
])("the refusal of $name", ({ create, page }) => {
  it("leads to the page", () => {
    expect(create(SET).message).toContain(page);
  });

  it("has no address as long as nobody has said it", () => {
    expect(create(NOWHERE).message).not.toContain("http");
  });
});
