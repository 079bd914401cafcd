/** Strict caps before answers that tell no usage: what is estimated is never more than what was held. */
import { describe, expect, it } from "vitest";
import { withSharedChatStack } from "../support/chat-stack.ts";
import {
  finishChunk,
  type ScriptedAnswer,
  textChunk,
  textCompletion,
  usageChunk,
} from "../support/scripted-answer.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { waitFor } from "../support/wait.ts";
import { GOLD_MODEL, MESSAGES_PATH, METERED_CATALOG, readSpend } from "./metering-figures.ts";
import { monthLimits } from "../support/month-limits.ts";

const CAP_CENTS = 1_000;
/** A cent for each byte that goes upstream and each token of the template, two for the only generated token. */
const HELD_CENTS = 300;
const DROPPED = "x".repeat(20_000);

const chat = withSharedChatStack(METERED_CATALOG);

const messages = (content: unknown) => [{ role: "user", content }];
/** What does not go upstream, in a body that is to be worth five times of the cap if its bytes counted. */
const BODIES = [
  { name: "blanks between its fields", body: { messages: messages("hi") }, blanks: 20_000 },
  {
    name: "content that is dropped",
    body: {
      messages: [
        ...messages("hi"),
        {
          role: "assistant",
          content: [
            { type: "redacted_thinking", data: DROPPED },
            { type: "text", text: "yes" },
          ],
        },
        ...messages("go on"),
      ],
    },
    blanks: 0,
  },
];

const WORDS = Array.from({ length: 40 }, () => textChunk(" word"));
const ENDINGS: readonly {
  readonly ending: string;
  readonly answer: ScriptedAnswer;
  readonly stream: boolean;
}[] = [
  { ending: "a reset", answer: { kind: "reset" }, stream: false },
  { ending: "a client that leaves", answer: { kind: "hang" }, stream: false },
  {
    ending: "a whole answer",
    answer: { kind: "json", body: textCompletion(" word".repeat(40), null) },
    stream: false,
  },
  { ending: "a whole stream", answer: { kind: "events", events: [...WORDS, finishChunk()] }, stream: true },
  { ending: "a broken stream", answer: { kind: "events", events: WORDS, ending: "reset" }, stream: true },
];

/** What became of a request whose client leaves, where it does, once the upstream has it. */
async function sendAndSettle(key: CreatedKey, body: string, leaves: boolean) {
  const controller = new AbortController();
  const headers = { authorization: `Bearer ${key.key}`, "content-type": "application/json" };
  const options = { method: "POST", headers, body, signal: controller.signal };
  const read = async (): Promise<string> => (await fetch(chat.stack.baseUrl + MESSAGES_PATH, options)).text();
  const sent = read().catch(() => undefined);
  await chat.upstream.waitForRequests(1);
  if (leaves) controller.abort();
  await sent;
  const store = await chat.stack.store();
  return waitFor("the request to be settled", async () => {
    const { items } = await store.listRequests(key.organizationId, { limit: 1, after: null });
    return items[0];
  });
}

describe("a request whose upstream tells more of its prompt than was held, and no output", () => {
  it("is charged what was held, and says so with its price and in words", async () => {
    const key = await chat.stack.createKey({ limits: monthLimits({ cap: CAP_CENTS }) }, { strictCaps: true });
    const usage = usageChunk({ promptTokens: 5_000, cachedTokens: 0, completionTokens: 0 });
    chat.upstream.answer({ kind: "events", events: [usage, ...WORDS, finishChunk()] });
    const body = { model: GOLD_MODEL, max_tokens: 1, stream: true, messages: messages("hi") };
    const answer = await chat.send({ key: key.key, body });
    expect(answer.status).toBe(200);
    const path = `/api/organizations/${key.organizationId}/requests/${String(answer.headers["x-request-id"])}`;
    const request = await waitFor("its charge", () => chat.stack.admin("GET", path).catch(() => null));
    const cents = Number(request["cost_microcents"]) / 1_000_000;
    expect([cents > 0, cents <= HELD_CENTS]).toEqual([true, true]);
    expect(request).toMatchObject({
      estimated: true,
      checks: [{ name: "price", figures: { bounded_by: "hold" } }],
      explanation: {
        checks: [{ text: expect.stringContaining("charged up to the request's reservation") as string }],
        cost: {
          parts: expect.arrayContaining([
            expect.objectContaining({
              name: "estimate above the reservation (strict caps)",
              amount: expect.stringMatching(/^-/u) as string,
            }),
          ]) as object[],
        },
      },
    });
  });
});

describe.each(BODIES)("a request with $name, under strict caps", ({ body, blanks }) => {
  it.each(ENDINGS)(
    "is never charged above what it held for it, with $ending",
    async ({ answer, stream, ending }) => {
      const key = await chat.stack.createKey(
        { limits: monthLimits({ cap: CAP_CENTS }) },
        { strictCaps: true },
      );
      chat.upstream.answer(answer);
      const text = JSON.stringify({ model: GOLD_MODEL, max_tokens: 1, stream, ...body });
      const padded = `{${" ".repeat(blanks)}${text.slice(1)}`;
      const row = await sendAndSettle(key, padded, ending === "a client that leaves");
      expect(row).toMatchObject({ estimated: true });
      const cents = Number((await readSpend(chat.stack, key)).key) / 1_000_000;
      expect(cents).toBeGreaterThan(0);
      expect(cents).toBeLessThanOrEqual(HELD_CENTS);
    },
  );
});
