import { Agent } from "node:http";
import { afterAll, describe, expect, it } from "vitest";
import { chatBody, withChatStack } from "../support/chat-stack.ts";
import {
  finishChunk,
  type ScriptedAnswer,
  textChunk,
  textCompletion,
  usageChunk,
} from "../support/scripted-answer.ts";
import { goldCostOf, GOLD_MODEL, METERED_CATALOG, readSpend } from "./metering-figures.ts";

const chat = withChatStack(() => ({ catalog: METERED_CATALOG, workers: 2 }));
const CLIENTS = 100;
const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
afterAll(() => {
  agent.destroy();
});

/** From 3 to 22 cents, so that sums are not all alike. */
function usageOf(index: number): { promptTokens: number; cachedTokens: number; completionTokens: number } {
  return { promptTokens: 1 + (index % 10), cachedTokens: 0, completionTokens: 1 + (index % 6) };
}
const DEAREST_CENTS = 22n;

describe("default caps under load", () => {
  it.each([
    ["key", { hardCapCents: 3_000 }, {}],
    ["organization", {}, { hardCapCents: 3_000 }],
  ] as const)(
    "refuse nothing while the upstream's own sum is under the %s's cap, and pass it by no more than was in flight",
    async (_name, settings, organization) => {
      const key = await chat.stack.createKey(settings, organization);
      let answered = 0;
      chat.upstream.answer((request): ScriptedAnswer => {
        const usage = usageOf(answered++);
        return request.body?.["stream"] === true
          ? { kind: "events", events: [textChunk("x"), finishChunk(), usageChunk(usage)] }
          : { kind: "json", body: textCompletion("x", usage) };
      });
      const ownSum = () => goldCostOf(chat.upstream.totalReported());
      const wronglyRefused: bigint[] = [];
      const statuses: number[] = [];
      await Promise.all(
        Array.from({ length: CLIENTS }, async (_, client) => {
          for (;;) {
            const body = chatBody({ model: GOLD_MODEL, stream: client % 2 === 0 });
            const { status } = await chat.send({ key: key.key, agent, body });
            statuses.push(status);
            // The upstream's sum only grows: what is under the cap now was so when the request was refused.
            if (status !== 200) {
              const sum = ownSum();
              if (sum < 3_000_000_000n) wronglyRefused.push(sum);
              return;
            }
          }
        }),
      );
      expect(wronglyRefused).toEqual([]);
      expect(statuses.filter((status) => status !== 200)).toEqual(Array.from({ length: CLIENTS }, () => 402));
      const { key: spent, organization: spentTogether } = await readSpend(chat.stack, key);
      expect(spent).toBe(ownSum());
      expect(spentTogether).toBe(spent);
      expect(spent).toBeGreaterThanOrEqual(3_000_000_000n);
      expect(spent).toBeLessThan(3_000_000_000n + BigInt(CLIENTS) * DEAREST_CENTS * 1_000_000n);
    },
  );
});
