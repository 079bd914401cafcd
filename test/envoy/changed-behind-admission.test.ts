/**
 * An organization's settings that change between a request's admission and its hold: strict caps, in whose form the body
 * goes upstream, and the currency, in whose price it does not.
 */
import { once } from "node:events";
import { type IncomingMessage, request as startRequest } from "node:http";
import { describe, expect, it } from "vitest";
import { CHAT_PATH, chatBody, withChatStack } from "../support/chat-stack.ts";
import { textCompletion } from "../support/scripted-answer.ts";
import type { OrganizationSettings } from "../../src/settings/organization.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { createGate } from "../support/wait.ts";
import {
  connectRedis,
  GOLD_MODEL,
  METERED_CATALOG,
  readSpend,
  waitForAdmission,
} from "./metering-figures.ts";

const chat = withChatStack(() => ({ catalog: [...METERED_CATALOG] }));
const USAGE = { promptTokens: 10, cachedTokens: 0, completionTokens: 5 };
/** Has every request of the key wait for its hold. */
const HELD = { maxConcurrentRequests: 5 };

/** A request whose body comes once its organization has been changed. */
async function sendWhileChanged(
  key: CreatedKey,
  body: object,
  change: Partial<OrganizationSettings>,
): Promise<{ status: number; text: string }> {
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
  await (await chat.stack.store()).changeOrganization(key.organizationId, change, null);
  request.end(text.slice(1));
  const [response] = (await answered) as [IncomingMessage];
  return { status: response.statusCode ?? 0, text: Buffer.concat(await response.toArray()).toString() };
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
  it("has the request sent again, at its price; nothing goes upstream at the former one", async () => {
    const key = await chat.stack.createKey(HELD);
    const { status, text } = await sendWhileChanged(key, chatBody(), { currency: "EUR" });
    expect([status, text]).toEqual([503, expect.stringContaining("billed in EUR from now on")]);
    expect(chat.upstream.requests).toEqual([]);
    const headers = { "x-include-cost": "true" };
    const again = await chat.send({ key: key.key, headers, body: chatBody() });
    expect(again.json()["usage"]).toMatchObject({ cost_currency: "EUR" });
  });
});
