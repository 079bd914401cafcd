import { request } from "node:http";
import { describe, expect, it } from "vitest";
import { describeAnswer, summarizeError } from "../support/answer-checks.ts";
import { CHAT_PATH, chatBody, withChatStack } from "../support/chat-stack.ts";
import { type HttpAnswer, readError } from "../support/http.ts";
import { finishChunk, textChunk, textCompletion, usageChunk } from "../support/scripted-answer.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { createGate, waitFor } from "../support/wait.ts";
import {
  addKey,
  DOLLAR_MODEL,
  GOLD_MODEL,
  MESSAGES_PATH,
  messagesBody,
  METERED_CATALOG,
  readKeyStatus,
  readRequest,
  readSpend,
} from "./metering-figures.ts";

const WORKERS = 3;
const chat = withChatStack(() => ({ catalog: METERED_CATALOG, workers: WORKERS }));
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
    const key = await chat.stack.createKey({ name: "ci", hardCapCents: 35 });
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
    const key = await chat.stack.createKey({ name: "ci", hardCapCents: 20 });
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
    const key = await chat.stack.createKey({ hardCapCents: 20 });
    const other = await addKey(chat.stack, key, { hardCapCents: 100 });
    answerTwentyCents();
    await sendGold(key);
    expect((await sendGold(key)).status).toBe(402);
    expect((await sendGold(other)).status).toBe(200);
  });

  it("of 0 stops every request that costs money", async () => {
    const key = await chat.stack.createKey({ hardCapCents: 0 });
    for (const path of [CHAT_PATH, MESSAGES_PATH]) {
      const refused = await sendGold(key, path);
      expect(refused.status).toBe(402);
      expect(readError(refused)).toMatchObject({ spent_cents: 0, hard_cap_cents: 0 });
    }
    expect(chat.upstream.requests).toHaveLength(0);
  });

  it("names itself when the organization's is reached too", async () => {
    const key = await chat.stack.createKey({ hardCapCents: 20 }, { hardCapCents: 20 });
    answerTwentyCents();
    await sendGold(key);
    expect(readError(await sendGold(key)).code).toBe("hard_cap_reached");
  });
});

describe("an organization's hard cap", () => {
  it("refuses with the published 402 whichever of its keys has spent the money", async () => {
    const key = await chat.stack.createKey({}, { name: "Acme", hardCapCents: 30 });
    const other = await addKey(chat.stack, key, { hardCapCents: 1_000 });
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
        message: `Monthly hard cap of 0.30 USD for organization "Acme" reached: 0.40 USD spent in ${name}. Raise it in the organization's inference settings, or wait until ${resetsAt}.`,
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
    const key = await chat.stack.createKey({ hardCapCents: 0 }, { hardCapCents: 0 });
    for (const path of ["/v1/key", "/v1/models", `/v1/models/${GOLD_MODEL}`]) {
      expect((await chat.stack.send({ path, key: key.key })).status, path).toBe(200);
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
    const key = await chat.stack.createKey({ hardCapCents: 0 });
    expect((await chat.send({ key: key.key, body: { model: "acme/unknown" } })).status).toBe(402);
  });

  it("take a token from the bucket all the same", async () => {
    const key = await chat.stack.createKey({ hardCapCents: 0, requestsPerMinute: 1 });
    const remaining: unknown[] = [];
    for (let sent = 0; sent < 3; sent += 1)
      remaining.push((await sendGold(key)).headers["x-service-ratelimit-remaining"]);
    expect(remaining).toEqual(["9", "8", "7"]);
  });

  it("are told to who asks for the request afterwards, with their figures", async () => {
    const key = await chat.stack.createKey({ hardCapCents: 20 });
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
    const key = await chat.stack.createKey({ hardCapCents: 20 }, { hardCapCents: 20 });
    const store = await chat.stack.store();
    answerTwentyCents();
    await sendGold(key);
    for (let round = 1; round <= 10; round += 1) {
      expect((await sendGold(key)).status).toBe(402);
      const hardCapCents = 20 + 20 * WORKERS * 4 * round;
      await store.changeKey({ organizationId: key.organizationId, keyId: key.id }, { hardCapCents }, null);
      expect(readError(await sendGold(key)).code).toBe("org_hard_cap_reached");
      await store.changeOrganization(key.organizationId, { hardCapCents }, null);
      // Over many connections, so that every worker gets some.
      const answers = await Promise.all(Array.from({ length: WORKERS * 4 }, () => sendGold(key)));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    }
  });

  it("stop the very next request once they are lowered", async () => {
    const key = await chat.stack.createKey({ hardCapCents: 1_000 });
    const store = await chat.stack.store();
    answerTwentyCents();
    await Promise.all(Array.from({ length: 12 }, () => sendGold(key)));
    await store.changeKey({ organizationId: key.organizationId, keyId: key.id }, { hardCapCents: 240 }, null);
    const answers = await Promise.all(Array.from({ length: 12 }, () => sendGold(key)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 402));
  });
});

describe("a cap that is reached between the headers and the body of a request", () => {
  it.each([
    ["key", { hardCapCents: 20 }, {}, "hard_cap_reached"],
    ["organization", {}, { hardCapCents: 20 }, "org_hard_cap_reached"],
  ] as const)(
    "refuses it at the hold (%s), and the upstream never sees it",
    async (_name, settings, organization, code) => {
      const key = await chat.stack.createKey({ ...settings, maxConcurrentRequests: 2 }, organization);
      answerTwentyCents();
      const late = startLateRequest(key);
      // With the place of the late one taken, a second one at the same time has the last.
      await waitForAdmission(key);
      expect((await sendGold(key)).status).toBe(200);
      const before = chat.upstream.requests.length;
      late.finish();
      const refused = await late.answer;
      expect(refused.status).toBe(402);
      expect(refused.error).toMatchObject({ code, hard_cap_cents: 20 });
      expect(chat.upstream.requests).toHaveLength(before);
      const row = (await chat.stack.send({ path: `/v1/requests/${refused.id}`, key: key.key })).json();
      expect(row).toMatchObject({ status: 402, error_code: code, cost_microcents: 0 });
      expect(row["checks"]).toMatchObject([{ passed: false, figures: { hard_cap_cents: 20 } }]);
    },
  );
});

describe("default caps", () => {
  it("count what streams in flight have used so far", async () => {
    const key = await chat.stack.createKey({ hardCapCents: 50 });
    const gate = createGate();
    const words = Array.from({ length: 40 }, () => textChunk(" word"));
    chat.upstream.answerNext({ kind: "events", events: [...words, gate, finishChunk(), usageChunk(USAGE)] });
    answerTwentyCents();
    const streaming = chat.send({ key: key.key, body: chatBody({ model: GOLD_MODEL, stream: true }) });
    await waitFor(
      "progress to reach the cap",
      async () => (await readKeyStatus(chat.stack, key))["blocked_by"] === "key",
    );
    expect((await sendGold(key)).status).toBe(402);
    gate.release();
    expect(describeAnswer(await streaming)).toBe("200");
    // The upstream's own count is twenty cents, so there is room again.
    expect((await sendGold(key)).status).toBe(200);
  });

  it("let what is in flight end when they are reached", async () => {
    const key = await chat.stack.createKey({ hardCapCents: 30 });
    const gate = createGate();
    chat.upstream.answer({ kind: "json", before: gate, body: textCompletion("x", USAGE) });
    const sent = Array.from({ length: 5 }, () => sendGold(key));
    await chat.upstream.waitForRequests(5);
    gate.release();
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect((await readSpend(chat.stack, key)).key).toBe(100_000_000n);
    expect((await sendGold(key)).status).toBe(402);
  });

  it("are exact to the microcent: one below passes, the amount itself does not", async () => {
    const key = await chat.stack.createKey({ hardCapCents: 1 });
    const usage = (completionTokens: number) => ({ promptTokens: 0, cachedTokens: 0, completionTokens });
    const store = await chat.stack.store();
    chat.upstream.answerNext({ kind: "json", body: textCompletion("x", usage(999)) });
    await chat.send({ key: key.key, body: chatBody() });
    await store.correct({
      organizationId: key.organizationId,
      keyId: key.id,
      amountMicrocents: 999n,
      correctionId: `corr_${key.id.slice(4)}`,
    } as Parameters<typeof store.correct>[0]);
    expect((await readSpend(chat.stack, key)).key).toBe(999_999n);
    chat.upstream.answerNext({ kind: "json", body: textCompletion("x", { ...usage(0), promptTokens: 1 }) });
    expect((await chat.send({ key: key.key, body: chatBody({ model: DOLLAR_MODEL }) })).status).toBe(200);
    expect((await readSpend(chat.stack, key)).key).toBe(1_000_099n);
    expect((await chat.send({ key: key.key, body: chatBody() })).status).toBe(402);
  });
});

describe("budgets", () => {
  it("never refuse anything", async () => {
    const key = await chat.stack.createKey({ budgetCents: 0 }, { budgetCents: 0 });
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

interface LateAnswer {
  readonly status: number;
  readonly id: string;
  readonly error: Record<string, unknown>;
}

/** A request whose headers are sent at once and whose body when the test says so. */
function startLateRequest(key: CreatedKey): { finish(): void; readonly answer: Promise<LateAnswer> } {
  const body = JSON.stringify(chatBody({ model: GOLD_MODEL }));
  const { hostname, port } = new URL(chat.stack.baseUrl);
  const headers = { authorization: `Bearer ${key.key}`, "content-length": String(Buffer.byteLength(body)) };
  const sending = request({ hostname, port, method: "POST", path: CHAT_PATH, headers });
  sending.write(body.slice(0, 10));
  const answer = new Promise<LateAnswer>((resolve, reject) => {
    sending.on("error", reject);
    sending.on("response", (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.on("end", () => {
        const { error } = JSON.parse(text) as { error: Record<string, unknown> };
        resolve({ status: response.statusCode ?? 0, id: String(response.headers["x-request-id"]), error });
      });
    });
  });
  return { finish: () => void sending.end(body.slice(10)), answer };
}

/** Waits until the key has a request in flight whose hold is not there yet: its concurrency has one place less. */
async function waitForAdmission(key: CreatedKey): Promise<void> {
  const store = await chat.stack.store();
  const reference = { organizationId: key.organizationId, keyId: key.id };
  await store.changeKey(reference, { maxConcurrentRequests: 1 }, null);
  await waitFor("the admission", async () => {
    const answer = await chat.send({ key: key.key, body: { model: "acme/unknown" } });
    return answer.status === 429;
  });
  await store.changeKey(reference, { maxConcurrentRequests: 2 }, null);
}
