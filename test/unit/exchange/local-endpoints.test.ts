/** Only what a real Redis cannot play: calls that fail, and records that go between two calls. */
import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../src/shared/contract/errors.ts";
import {
  createLocalEndpoints,
  type LocalEndpointServices,
} from "../../../src/data-path/exchange/admission/local-endpoints.ts";
import type { RecentRequest } from "../../../src/shared/stored/reporting.ts";
import { PROTOCOLS } from "../../../src/data-path/translation/protocols.ts";
import { createCatalogOf } from "../catalog/support.ts";
import { ADMISSION } from "./admission-fixture.ts";
import { createRecordingMeter } from "./meter-fixture.ts";

const away = () => Promise.reject(new Error("Redis is unreachable: secret.internal"));
const none = () => Promise.resolve(null);

function open(changes: Partial<LocalEndpointServices["store"]> = {}) {
  const catalog = createCatalogOf([{ id: "acme/a" }, { id: "acme/b" }]);
  const { meter, finished } = createRecordingMeter();
  const answers = createLocalEndpoints({
    catalog: () => catalog,
    protocols: PROTOCOLS,
    store: {
      getKey: none,
      getOrganization: none,
      getUser: none,
      getGroup: none,
      readSpend: away,
      readLimits: () => Promise.resolve({ timeMs: 0, limits: [] }),
      findRequest: none,
      listRequests: () => Promise.resolve({ items: [], next: null }),
      readUsageOfDay: away,
      ...changes,
    },
    meter,
  });
  return { answers, finished };
}

/** Code of the refusal. */
async function codeOf(answer: Promise<unknown>): Promise<string> {
  const thrown: unknown = await answer.then(
    () => null,
    (error: unknown) => error,
  );
  return thrown instanceof GatewayError ? thrown.publicCode : String(thrown);
}

describe("an endpoint that the gateway answers by itself", () => {
  it("shows the models that the key may use, as the query pages them, and tells the meter", async () => {
    const { answers, finished } = open();
    const reply = await answers.answer({ ...ADMISSION, endpoint: "models" }, "/v1/models?limit=1");
    expect(JSON.parse(reply.body)).toMatchObject({ data: [{ id: "acme/a" }], has_more: false });
    expect(finished).toMatchObject([{ requestId: "req_1", route: "models", status: 200, code: null }]);
  });

  it("shows one model, and hides one that the key may not use", async () => {
    const { answers } = open();
    const reply = await answers.answer(
      { ...ADMISSION, endpoint: "model", resource: "acme/a" },
      "/v1/models/acme/a",
    );
    expect(JSON.parse(reply.body)).toMatchObject({ id: "acme/a" });
    const hidden = answers.answer(
      { ...ADMISSION, endpoint: "model", resource: "acme/b" },
      "/v1/models/acme/b",
    );
    expect(await codeOf(hidden)).toBe("model_not_found");
  });

  it("lists requests of the key only, whatever the query says", async () => {
    const keys: string[] = [];
    const { answers } = open({
      listRequests: (_organization, page, filter) => {
        expect(page).toEqual({ limit: 5, after: "1-1_-" });
        for (const keyId of [ADMISSION.caller.keyId, "key_other"]) {
          if (filter?.matches({ keyId } as RecentRequest) === true) keys.push(keyId);
        }
        return Promise.resolve({ items: [], next: "1-0_-" });
      },
    });
    const path = "/v1/requests?limit=5&after=1-1_-&key_id=key_other";
    const reply = await answers.answer({ ...ADMISSION, endpoint: "requests" }, path);
    expect(JSON.parse(reply.body)).toEqual({ object: "list", data: [], has_more: true, next: "1-0_-" });
    expect(keys).toEqual([ADMISSION.caller.keyId]);
  });

  it.each(["limit=0", "limit=101", "limit=x", "after=1", "after=0-0_-"])(
    "takes no page of requests with %s",
    async (query) => {
      const { answers } = open();
      const answer = answers.answer({ ...ADMISSION, endpoint: "requests" }, `/v1/requests?${query}`);
      expect(await codeOf(answer)).toBe("invalid_parameter");
    },
  );

  it.each([
    { name: "Redis fails", endpoint: "key", changes: {}, code: "gateway_unavailable", status: 503 },
    {
      name: "the key went since it was admitted",
      endpoint: "key",
      changes: {
        readSpend: () =>
          Promise.resolve({
            month: "2026-11",
            timeMs: 0,
            organizationMicrocents: 0n,
            organizationHeldMicrocents: 0n,
            keyMicrocents: new Map(),
          }),
      },
      code: "invalid_api_key",
      status: 401,
    },
    { name: "it is not the key's", endpoint: "request", changes: {}, code: "request_not_found", status: 404 },
    {
      name: "Redis fails",
      endpoint: "usage",
      changes: {},
      code: "gateway_unavailable",
      status: 503,
    },
    {
      name: "Redis fails",
      endpoint: "request",
      changes: { findRequest: away },
      code: "gateway_unavailable",
      status: 503,
    },
    {
      name: "it is another's to answer",
      endpoint: "messages",
      changes: {},
      code: "unknown_endpoint",
      status: 404,
    },
  ] as const)("refuses $endpoint with $status when $name, and tells the meter", async (refused) => {
    const { answers, finished } = open(refused.changes);
    expect(await codeOf(answers.answer({ ...ADMISSION, endpoint: refused.endpoint }, "/v1/x"))).toBe(
      refused.code,
    );
    expect(finished).toMatchObject([{ status: refused.status, code: refused.code }]);
  });
});
