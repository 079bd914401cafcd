/**
 * An organization's settings that change between a request's admission and its record: strict caps, in whose form the body
 * goes upstream, and the currency, which does not change meanwhile.
 */
import { once } from "node:events";
import { type IncomingMessage, request as startRequest } from "node:http";
import { describe, expect, it } from "vitest";
import { CHAT_PATH, chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import { textCompletion } from "../support/scripted-answer.ts";
import type { OrganizationSettings } from "../../src/shared/settings/organization.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { createGate, waitFor } from "../support/wait.ts";
import { openRequestsKey } from "../../src/data-path/store/redis/keys.ts";
import {
  connectRedis,
  GOLD_MODEL,
  METERED_CATALOG,
  readSpend,
  waitForAdmission,
} from "./metering-figures.ts";
import { monthLimits } from "../support/month-limits.ts";

const chat = withSharedChatStack(METERED_CATALOG);
const USAGE = { promptTokens: 10, cachedTokens: 0, completionTokens: 5 };
/** Has every request of the key wait for its record. */
const HELD = { maxConcurrentRequests: 5 };

/** Resolves with the end of a request that is admitted and whose body comes when that is asked for. */
async function admitFirst(
  key: CreatedKey,
  body: object,
): Promise<() => Promise<{ status: number; text: string }>> {
  const text = JSON.stringify(body);
  const request = startRequest(`${chat.stack.baseUrl}${CHAT_PATH}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key.key}`,
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(text)),
    },
  });
  const answered = once(request, "response");
  request.write(text.slice(0, 1));
  const redis = connectRedis(chat.stack);
  await waitForAdmission(redis, key);
  redis.disconnect();
  return async () => {
    request.end(text.slice(1));
    const [response] = (await answered) as [IncomingMessage];
    return { status: response.statusCode ?? 0, text: Buffer.concat(await response.toArray()).toString() };
  };
}

/** A request whose body comes once its organization has been changed. */
async function sendWhileChanged(
  key: CreatedKey,
  body: object,
  change: Partial<OrganizationSettings>,
): Promise<{ status: number; text: string }> {
  const end = await admitFirst(key, body);
  await changeOrganization(key, change);
  return end();
}

async function changeOrganization(
  { organizationId }: CreatedKey,
  change: Partial<OrganizationSettings>,
): Promise<string> {
  const store = await chat.stack.store();
  return (await store.changeOrganization(organizationId, change, null)).outcome;
}

const STRICT = { strictCaps: true };

describe("strict caps that are switched on behind an admission", () => {
  it("have the model's limit go along, and hold what it comes to", async () => {
    const key = await chat.stack.createKey(HELD);
    const gate = createGate();
    chat.upstream.answer({ kind: "json", before: gate, body: textCompletion("x", USAGE) });
    const answer = sendWhileChanged(key, chatBody({ model: GOLD_MODEL, n_predict: -1 }), STRICT);
    await chat.upstream.waitForRequests(1);
    const { body, bodyBytes } = chat.upstream.lastRequest;
    expect(body).toMatchObject({ max_tokens: 100, max_completion_tokens: 100 });
    expect(body).not.toHaveProperty("n_predict");
    const { organizationHeldMicrocents: held } = await (
      await chat.stack.store()
    ).readSpend(key.organizationId, null);
    // A cent for each byte and 64 for the template, two for each token of output.
    expect(held).toBe(BigInt(bodyBytes.byteLength + 64 + 200) * 1_000_000n);
    gate.release();
    expect((await answer).status).toBe(200);
  });

  it("refuse a field of which is not known what it costs, and charge nothing", async () => {
    const key = await chat.stack.createKey(HELD);
    const { status, text } = await sendWhileChanged(
      key,
      chatBody({ model: GOLD_MODEL, tomorrow: 1 }),
      STRICT,
    );
    expect([status, text]).toEqual([400, expect.stringContaining("passthrough_fields")]);
    expect(chat.upstream.requests).toEqual([]);
    expect((await readSpend(chat.stack, key)).key).toBe(0n);
  });
});

describe("a currency that is changed behind an admission", () => {
  it.each([
    { what: "a limit of concurrent requests", settings: HELD, organization: {} },
    { what: "strict caps", settings: {}, organization: STRICT },
    { what: "neither", settings: {}, organization: {} },
  ])(
    "stays what it is as long as the request is in flight, with $what",
    async ({ settings, organization }) => {
      const key = await chat.stack.createKey(settings, organization);
      chat.upstream.answer({ kind: "json", body: textCompletion("x", USAGE) });
      const end = await admitFirst(key, chatBody({ model: GOLD_MODEL }));
      expect(await changeOrganization(key, { currency: "EUR" })).toBe("currency_locked");
      expect((await end()).status).toBe(200);
      // Ten of the prompt at a cent, five at two.
      expect((await readSpend(chat.stack, key)).key).toBe(20_000_000n);
    },
  );

  it.each([
    { why: "is refused for its body", body: chatBody({ model: "acme/unknown" }) },
    { why: "is refused for its worst case", body: chatBody({ model: GOLD_MODEL }) },
  ])("changes once a request with strict caps $why", async ({ body }) => {
    const key = await chat.stack.createKey({ limits: monthLimits({ cap: 1 }) }, STRICT);
    const end = await admitFirst(key, body);
    expect(await changeOrganization(key, { currency: "EUR" })).toBe("currency_locked");
    expect([400, 402]).toContain((await end()).status);
    await waitFor(
      "the request to be gone",
      async () => (await changeOrganization(key, { currency: "EUR" })) === "changed",
    );
    expect(chat.upstream.requests).toEqual([]);
  });

  it("has a request sent again, at its price, whose body took longer than it counts: nothing goes upstream at the previous one", async () => {
    const key = await chat.stack.createKey(HELD);
    const end = await admitFirst(key, chatBody());
    const redis = connectRedis(chat.stack);
    await redis.del(openRequestsKey(key.organizationId));
    redis.disconnect();
    expect(await changeOrganization(key, { currency: "EUR" })).toBe("changed");
    const { status, text } = await end();
    expect([status, text]).toEqual([
      503,
      expect.stringContaining("changed its currency from USD to EUR during this request"),
    ]);
    expect(chat.upstream.requests).toEqual([]);
    const headers = { "x-include-cost": "true" };
    const again = await chat.send({ key: key.key, headers, body: chatBody() });
    expect(again.json()["usage"]).toMatchObject({ cost_currency: "EUR" });
  });
});
