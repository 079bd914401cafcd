import { describe, expect, it } from "vitest";
import { describeAnswer, summarizeError } from "../support/answer-checks.ts";
import { CHAT_PATH, chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import { type HttpAnswer, readError } from "../support/http.ts";
import { textCompletion } from "../support/scripted-answer.ts";
import type { CreatedKey } from "../support/test-key.ts";
import {
  addKey,
  GOLD_MODEL,
  MESSAGES_PATH,
  messagesBody,
  METERED_CATALOG,
  readKeyStatus,
  readRequest,
  readSpend,
} from "./metering-figures.ts";
import { monthLimits } from "../support/month-limits.ts";

const WORKERS = 2;
const chat = withSharedChatStack(METERED_CATALOG);
/** Twenty cents at GOLD_MODEL. */
const USAGE = { promptTokens: 10, cachedTokens: 0, completionTokens: 5 };

/** "November 2026" and "2026-12-01T00:00:00Z", as the month of now is called and ends. */
function nameMonth(): { name: string; resetsAt: string } {
  const now = new Date();
  const next = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
  const name = new Intl.DateTimeFormat("en-US", { month: "long", year: "numeric", timeZone: "UTC" }).format(
    now,
  );
  return { name, resetsAt: `${next.toISOString().slice(0, 19)}Z` };
}

function sendGold(key: CreatedKey, path = CHAT_PATH): Promise<HttpAnswer> {
  const body = path === CHAT_PATH ? chatBody({ model: GOLD_MODEL }) : messagesBody({ model: GOLD_MODEL });
  return chat.send({ key: key.key, path, body });
}

function answerTwentyCents(): void {
  chat.upstream.answer({ kind: "json", body: textCompletion("x", USAGE) });
}

describe("a key's hard cap", () => {
  it("refuses with the published 402 once spend has reached it, on the chat route", async () => {
    const key = await chat.stack.createKey({ name: "ci", limits: monthLimits({ cap: 35 }) });
    answerTwentyCents();
    expect(describeAnswer(await sendGold(key))).toBe("200");
    expect(describeAnswer(await sendGold(key))).toBe("200");
    const refused = await sendGold(key);
    const { name, resetsAt } = nameMonth();
    expect(summarizeError(refused)).toEqual({
      status: 402,
      type: "billing_error",
      code: "hard_cap_reached",
      param: null,
      message: `Monthly hard cap of 0.35 USD for API key "ci" reached: 0.40 USD spent in ${name}. Raise the cap on the API keys page, or wait until ${resetsAt}.`,
      retryAfter: null,
      breaches: [],
    });
    expect(readError(refused)).toMatchObject({ scope: "key", spent_cents: 40, hard_cap_cents: 35 });
    expect(readError(refused)).not.toHaveProperty("held_cents");
    expect(chat.upstream.requests).toHaveLength(2);
  });

  it("refuses in the Anthropic envelope on the messages route", async () => {
    const key = await chat.stack.createKey({ name: "ci", limits: monthLimits({ cap: 20 }) });
    answerTwentyCents();
    expect(describeAnswer(await sendGold(key, MESSAGES_PATH))).toBe("200");
    const refused = await sendGold(key, MESSAGES_PATH);
    expect(refused.status).toBe(402);
    expect(refused.json()).toMatchObject({
      type: "error",
      request_id: refused.headers["request-id"],
      error: {
        type: "billing_error",
        code: "hard_cap_reached",
        scope: "key",
        spent_cents: 20,
        hard_cap_cents: 20,
        request_id: refused.headers["x-request-id"],
        details: { error_code: "hard_cap_reached" },
      },
    });
    expect(refused.headers["x-should-retry"]).toBe("false");
    expect(refused.headers["x-service-ratelimit-remaining"]).toMatch(/^\d+$/u);
  });

  it("of one key leaves the others of its organization alone", async () => {
    const key = await chat.stack.createKey({ limits: monthLimits({ cap: 20 }) });
    const other = await addKey(chat.stack, key, { limits: monthLimits({ cap: 100 }) });
    answerTwentyCents();
    await sendGold(key);
    expect((await sendGold(key)).status).toBe(402);
    expect((await sendGold(other)).status).toBe(200);
  });

  it("of 0 stops every request that costs money", async () => {
    const key = await chat.stack.createKey({ limits: monthLimits({ cap: 0 }) });
    for (const path of [CHAT_PATH, MESSAGES_PATH]) {
      const refused = await sendGold(key, path);
      expect(refused.status).toBe(402);
      expect(readError(refused)).toMatchObject({ spent_cents: 0, hard_cap_cents: 0 });
    }
    expect(chat.upstream.requests).toHaveLength(0);
  });

  it("names itself when the organization's is reached too", async () => {
    const key = await chat.stack.createKey(
      { limits: monthLimits({ cap: 20 }) },
      { limits: monthLimits({ cap: 20 }) },
    );
    answerTwentyCents();
    await sendGold(key);
    expect(readError(await sendGold(key)).code).toBe("hard_cap_reached");
  });
});

describe("an organization's hard cap", () => {
  it("refuses with the published 402 whichever of its keys has spent the money", async () => {
    const key = await chat.stack.createKey({}, { name: "Globex", limits: monthLimits({ cap: 30 }) });
    const other = await addKey(chat.stack, key, { limits: monthLimits({ cap: 1_000 }) });
    answerTwentyCents();
    await sendGold(key);
    await sendGold(other);
    const { name, resetsAt } = nameMonth();
    for (const one of [key, other]) {
      const refused = await sendGold(one);
      expect(summarizeError(refused)).toMatchObject({
        status: 402,
        type: "billing_error",
        code: "org_hard_cap_reached",
        message: `Monthly hard cap of 0.30 USD for organization "Globex" reached: 0.40 USD spent in ${name}. Raise it in the organization's inference settings, or wait until ${resetsAt}.`,
        breaches: [],
      });
      expect(readError(refused)).toMatchObject({
        scope: "organization",
        spent_cents: 40,
        hard_cap_cents: 30,
      });
    }
  });
});

describe("reached caps", () => {
  it("do not refuse what costs nothing", async () => {
    const key = await chat.stack.createKey(
      { limits: monthLimits({ cap: 0 }) },
      { limits: monthLimits({ cap: 0 }) },
    );
    for (const path of ["/v1/key", "/v1/models", `/v1/models/${GOLD_MODEL}`]) {
      expect((await chat.stack.send({ path, key: key.key })).status).toBe(200);
    }
    const counted = await chat.send({
      key: key.key,
      path: `${MESSAGES_PATH}/count_tokens`,
      body: messagesBody(),
    });
    expect(counted.status).toBe(200);
    expect((await chat.stack.send({ path: "/v1/nothing", key: key.key })).status).toBe(404);
  });

  it("come before anything that is wrong with the body", async () => {
    const key = await chat.stack.createKey({ limits: monthLimits({ cap: 0 }) });
    expect((await chat.send({ key: key.key, body: { model: "acme/unknown" } })).status).toBe(402);
  });

  it("take a token from the bucket all the same", async () => {
    const key = await chat.stack.createKey({ limits: monthLimits({ cap: 0 }), requestsPerMinute: 1 });
    const remaining: unknown[] = [];
    for (let sent = 0; sent < 3; sent += 1) {
      remaining.push((await sendGold(key)).headers["x-service-ratelimit-remaining"]);
    }
    expect(remaining).toEqual(["9", "8", "7"]);
  });

  it("are told to who asks for the request afterwards, with their figures", async () => {
    const key = await chat.stack.createKey({ limits: monthLimits({ cap: 20 }) });
    answerTwentyCents();
    await sendGold(key);
    const row = await readRequest(chat.stack, key, await sendGold(key));
    expect(row).toMatchObject({ status: 402, error_code: "hard_cap_reached", cost_microcents: 0 });
    expect(row.checks.find(({ passed }) => !passed)).toMatchObject({
      name: "key_hard_cap",
      figures: { spent_microcents: "20000000", hard_cap_cents: 20 },
    });
  });

  it("let the very next request pass on every worker once they are raised", async () => {
    const key = await chat.stack.createKey(
      { limits: monthLimits({ cap: 20 }) },
      { limits: monthLimits({ cap: 20 }) },
    );
    const store = await chat.stack.store();
    answerTwentyCents();
    await sendGold(key);
    for (let round = 1; round <= 10; round += 1) {
      expect((await sendGold(key)).status).toBe(402);
      const hardCapCents = 20 + 20 * WORKERS * 4 * round;
      await store.changeKey(
        { organizationId: key.organizationId, keyId: key.id },
        { limits: monthLimits({ cap: hardCapCents }) },
        null,
      );
      expect(readError(await sendGold(key)).code).toBe("org_hard_cap_reached");
      await store.changeOrganization(
        key.organizationId,
        { limits: monthLimits({ cap: hardCapCents }) },
        null,
      );
      // Over many connections, so that every worker gets some.
      const answers = await Promise.all(Array.from({ length: WORKERS * 4 }, () => sendGold(key)));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    }
  });

  it("stop the very next request once they are lowered", async () => {
    const key = await chat.stack.createKey({ limits: monthLimits({ cap: 1_000 }) });
    const store = await chat.stack.store();
    answerTwentyCents();
    await Promise.all(Array.from({ length: 12 }, () => sendGold(key)));
    await store.changeKey(
      { organizationId: key.organizationId, keyId: key.id },
      { limits: monthLimits({ cap: 240 }) },
      null,
    );
    const answers = await Promise.all(Array.from({ length: 12 }, () => sendGold(key)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 402));
  });
});

describe("budgets", () => {
  it("never refuse anything", async () => {
    const key = await chat.stack.createKey(
      { limits: monthLimits({ budget: 0 }) },
      { limits: monthLimits({ budget: 0 }) },
    );
    answerTwentyCents();
    for (let sent = 0; sent < 3; sent += 1) expect((await sendGold(key)).status).toBe(200);
    expect(await readKeyStatus(chat.stack, key)).toMatchObject({
      spent_cents: 60,
      budget_cents: 0,
      blocked_by: null,
    });
  });
});

describe("a model without a price in the organization's currency", () => {
  it.each([CHAT_PATH, MESSAGES_PATH])("is refused with 403 on %s", async (path) => {
    const key = await chat.stack.createKey({}, { currency: "EUR" });
    const body = path === CHAT_PATH ? chatBody({ model: GOLD_MODEL }) : messagesBody({ model: GOLD_MODEL });
    const refused = await chat.send({ key: key.key, path, body });
    expect(refused.status).toBe(403);
    expect(readError(refused)).toMatchObject({
      type: "permission_error",
      code: "model_not_available_in_currency",
      param: "model",
    });
    expect(await readSpend(chat.stack, key)).toEqual({ key: 0n, organization: 0n });
    expect(chat.upstream.requests).toHaveLength(0);
  });
});
