/** Headers of what the tightest cap has left, before it refuses anything. */
import { describe, expect, it } from "vitest";
import { CHAT_PATH } from "../support/chat-stack.ts";
import { openaiError, textCompletion } from "../support/scripted-answer.ts";
import { cap, CHAT, createOwners, type Owners, type OwnerCap, talk, withRoutes } from "./limited-routes.ts";

const chat = withRoutes();

/** Costs so many cents, and gives the headers of its answer. */
async function spend(owners: Owners, cents: number): Promise<Record<string, unknown>> {
  const usage = { promptTokens: 0, cachedTokens: 0, completionTokens: cents * 1_000 };
  chat.upstream.answer({ kind: "json", body: textCompletion("x", usage) });
  const answer = await chat.send({ path: CHAT_PATH, key: owners.key, body: { model: CHAT, ...talk("x") } });
  expect(answer.status).toBe(200);
  return budgetHeadersOf(answer.headers);
}

function budgetHeadersOf(headers: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("x-budget-")));
}

async function createCapped(settings: object, caps: readonly OwnerCap[]): Promise<Owners> {
  const owners = await createOwners(chat, { strictCaps: false, ...settings });
  await cap(chat, owners, caps);
  return owners;
}

const WEEK = { scope: "group", period: "week", cents: 100 } as const;

describe("X-Budget headers", () => {
  it("come once a cap is past its first alert, of the one that has least left", async () => {
    const owners = await createCapped({}, [WEEK, { scope: "organization", period: "total", cents: 500 }]);
    expect(await spend(owners, 89)).toEqual({});
    expect(await spend(owners, 1)).toEqual({});
    expect(await spend(owners, 3)).toEqual({
      "x-budget-remaining": "0.10 USD",
      "x-budget-scope": "group",
      "x-budget-period": "week",
      "x-budget-resets-at": expect.stringMatching(/^\d{4}-\d\d-\d\dT00:00:00Z$/),
    });
    expect(await spend(owners, 0)).toMatchObject({ "x-budget-remaining": "0.07 USD" });
  });

  it("come always where the organization wants that, of a month's cap too", async () => {
    const owners = await createCapped({ budgetHeaders: "always" }, [
      { scope: "key", period: "month", cents: 431 },
      { scope: "organization", period: "total", cents: 400 },
    ]);
    expect(await spend(owners, 1)).toEqual({
      "x-budget-remaining": "4.00 USD",
      "x-budget-scope": "organization",
      "x-budget-period": "total",
    });
    const plain = await createCapped({ budgetHeaders: "always" }, [
      { scope: "key", period: "month", cents: 431 },
    ]);
    expect(await spend(plain, 0)).toMatchObject({
      "x-budget-remaining": "4.31 USD",
      "x-budget-scope": "key",
      "x-budget-period": "month",
    });
  });

  it("are a percentage alone where amounts of what is not the key's are hidden", async () => {
    const owners = await createCapped({ hideAmounts: true }, [WEEK]);
    await spend(owners, 93);
    expect(await spend(owners, 0)).toEqual({ "x-budget-used-percent": "93" });
    await cap(chat, owners, [{ scope: "key", period: "day", cents: 95 }]);
    expect(await spend(owners, 0)).toMatchObject({
      "x-budget-remaining": "0.01 USD",
      "x-budget-scope": "key",
    });
  });

  it("come with streams and with errors, and not on calls that cost nothing", async () => {
    const owners = await createCapped({ budgetHeaders: "always" }, [WEEK]);
    chat.upstream.answer({
      kind: "json",
      body: textCompletion("x", { promptTokens: 0, cachedTokens: 0, completionTokens: 0 }),
    });
    const body = { model: CHAT, stream: true, ...talk("x") };
    const streamed = await chat.send({ path: CHAT_PATH, key: owners.key, body });
    expect(budgetHeadersOf(streamed.headers)).toMatchObject({ "x-budget-remaining": "1.00 USD" });
    chat.upstream.answer({ kind: "json", status: 500, body: openaiError("down") });
    const failed = await chat.send({ path: CHAT_PATH, key: owners.key, body });
    expect(failed.status).toBe(502);
    // The stream has cost less than a cent, by its prompt's estimate.
    expect(budgetHeadersOf(failed.headers)).toMatchObject({ "x-budget-remaining": "0.99 USD" });
    const models = await chat.send({ path: "/v1/models", method: "GET", key: owners.key });
    expect(budgetHeadersOf(models.headers)).toEqual({});
  });

  it("are not there where there is no cap", async () => {
    const owners = await createCapped({ budgetHeaders: "always" }, []);
    expect(await spend(owners, 1)).toEqual({});
  });
});
