/** What a 402 of strict caps says can be afforded: exactly that passes, on every route, whichever cap leaves least room. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CHAT_PATH } from "../support/chat-stack.ts";
import { type HttpAnswer, readError } from "../support/http.ts";
import { openaiError, textCompletion } from "../support/scripted-answer.ts";
import {
  cap,
  CHAT,
  createOwners,
  MAX_OUTPUT,
  type Owners,
  ROUTES,
  SCOPES,
  talk,
  withRoutes,
} from "./limited-routes.ts";

const chat = withRoutes();
const PERIODS = ["day", "week", "month", "total"] as const;

const limitsOf = fc.array(
  fc.record({
    scope: fc.constantFrom(...SCOPES),
    period: fc.constantFrom(...PERIODS),
    cents: fc.integer({ min: 0, max: 45 }),
  }),
  { minLength: 1, maxLength: 4 },
);

/** Costs `tokens` thousandths of a cent. */
async function spend(owners: Owners, tokens: number): Promise<void> {
  const usage = { promptTokens: 0, cachedTokens: 0, completionTokens: tokens };
  chat.upstream.answerNext({ kind: "json", body: textCompletion("x", usage) });
  const answer = await chat.send({ path: CHAT_PATH, key: owners.key, body: { model: CHAT, ...talk("x") } });
  expect(answer.status).toBe(200);
}

const CASE = fc.record({
  limits: limitsOf,
  spent: fc.integer({ min: 1, max: 20_000 }),
  prompt: fc.string({ minLength: 1, maxLength: 3_000 }),
  asked: fc.option(fc.integer({ min: 1, max: 2 * MAX_OUTPUT })),
  answers: fc.integer({ min: 1, max: 4 }),
});

describe("affordable_max_tokens", () => {
  it.each(Object.entries(ROUTES))(
    "is what passes, and one more does not: %s",
    async (_name, route) => {
      let refused = 0;
      await fc.assert(
        fc.asyncProperty(CASE, async ({ limits, spent, prompt, asked, answers }) => {
          const owners = await createOwners(chat);
          await spend(owners, spent);
          await cap(chat, owners, limits);
          // It costs nothing, so nothing comes in between.
          chat.upstream.answer({ kind: "json", status: 500, body: openaiError("down") });
          const send = (limit: number | null): Promise<HttpAnswer> => {
            const own = {
              ...(route.answers === undefined ? {} : { [route.answers]: answers }),
              ...(limit === null ? {} : { [route.limit]: limit }),
            };
            const body = { model: route.model, ...route.prompt(prompt), ...own };
            return chat.send({ path: route.path, key: owners.key, body });
          };
          const answer = await send(route.isLimitRequired === true ? (asked ?? MAX_OUTPUT) : asked);
          if (answer.status !== 402) return;
          const affordable = Number(readError(answer)["affordable_max_tokens"]);
          expect((await send(affordable + 1)).status).toBe(402);
          if (affordable === 0) return;
          refused += 1;
          const requested = Math.min(asked ?? MAX_OUTPUT, MAX_OUTPUT);
          expect(readError(answer).message).toContain(
            `You requested up to ${requested} tokens, but can only afford ${affordable}.`,
          );
          expect((await send(affordable)).status).toBe(502);
        }),
        { numRuns: 12, seed: 20_261_127 },
      );
      expect(refused).toBeGreaterThan(1);
    },
    120_000,
  );

  const sendOwn = (owners: Owners, model = CHAT) =>
    chat.send({ path: CHAT_PATH, key: owners.key, body: { model, max_tokens: 30_000, ...talk("hello") } });

  it("is 0 where not even the prompt fits, and where a cap is reached before the body has come", async () => {
    const owners = await createOwners(chat);
    await spend(owners, 1_999);
    await cap(chat, owners, [{ scope: "key", period: "month", cents: 2 }]);
    const refused = await sendOwn(owners);
    expect(readError(refused)).toMatchObject({ code: "hard_cap_reached", affordable_max_tokens: 0 });
    expect(readError(refused).message).toContain("You requested up to 30000 tokens, but can only afford 0.");
    await cap(chat, owners, [{ scope: "key", period: "month", cents: 1 }]);
    const reached = await sendOwn(owners);
    expect(readError(reached)).toMatchObject({ code: "hard_cap_reached", affordable_max_tokens: 0 });
    // How much was asked for stands in the body.
    expect(readError(reached).message).not.toContain("You requested");
  });

  it("is of the cap that leaves least room, the organization's beside a key's that is too small, too", async () => {
    const owners = await createOwners(chat);
    await cap(chat, owners, [
      { scope: "key", period: "month", cents: 20 },
      { scope: "organization", period: "month", cents: 10 },
    ]);
    const refused = readError(await sendOwn(owners));
    expect(refused).toMatchObject({ code: "org_hard_cap_reached", hard_cap_cents: 10 });
    expect(refused["affordable_max_tokens"]).toBeLessThan(10_000);
  });

  it("stays away where amounts are hidden and it would tell of a cap that is not the key's", async () => {
    const owners = await createOwners(chat, { hideAmounts: true });
    await cap(chat, owners, [{ scope: "group", period: "week", cents: 5 }]);
    const refused = readError(await sendOwn(owners));
    expect(refused.code).toBe("group_hard_cap_reached");
    expect(refused).not.toHaveProperty("affordable_max_tokens");
    expect(refused.message).not.toContain("afford");
    await cap(chat, owners, [{ scope: "key", period: "week", cents: 4 }]);
    const own = readError(await sendOwn(owners));
    expect(own.code).toBe("hard_cap_reached");
    expect(own["affordable_max_tokens"]).toBeGreaterThan(3_000);
  });

  it("is no business of an organization without strict caps", async () => {
    const owners = await createOwners(chat, { strictCaps: false });
    await spend(owners, 1_999);
    await cap(chat, owners, [{ scope: "key", period: "month", cents: 1 }]);
    expect(readError(await sendOwn(owners))).not.toHaveProperty("affordable_max_tokens");
  });
});
