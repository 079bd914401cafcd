import { Agent } from "node:http";
import { afterAll, describe, expect, it } from "vitest";
import { readUsage } from "../../src/data-path/translation/upstream/usage.ts";
import { describeAnswer } from "../support/answer-checks.ts";
import { chatBody, withChatStack } from "../support/chat-stack.ts";
import { byExtent } from "../support/extent.ts";
import type { HttpAnswer } from "../support/http.ts";
import {
  finishChunk,
  type ScriptedAnswer,
  textChunk,
  textCompletion,
  usageChunk,
} from "../support/scripted-answer.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { waitFor } from "../support/wait.ts";
import {
  costOf,
  MESSAGES_PATH,
  messagesBody,
  METERED_CATALOG,
  readRequest,
  readSpend,
  readUsageTotals,
} from "./metering-figures.ts";

import { PRICED_ENTRY, PRICED_MODEL, PRICED_REQUESTS, type PricedRequest } from "./priced-requests.ts";

const chat = withChatStack(() => ({
  catalog: [...METERED_CATALOG, PRICED_ENTRY],
  workers: 2,
  // A request that goes on without Redis counts in no row of its tags.
  overrides: { settlement: { grace_seconds: 0 } },
}));
const REQUESTS = byExtent({ push: 144, nightly: 600 });
/** Each waits up to 4 s to be admitted: a machine with a third of two cores admits a hundred meanwhile. */
const CONCURRENT = 100;
/** In turn; the first request has none. */
const TAGS = ["", "team=search", "feature=autocomplete,team=search", "team=ads"] as const;
const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENT });
afterAll(() => {
  agent.destroy();
});

/** A charge that Redis did not answer in time goes to the spool first. */
async function waitForCharges(key: CreatedKey): Promise<void> {
  const count = async () => (await readUsageTotals(chat.stack, key)).requests;
  await waitFor("every charge", async () => (await count()) === REQUESTS);
}

describe("a hundred concurrent requests, JSON and streamed, on both routes, over two workers", () => {
  it("are charged what the upstream counted, to the microcent, in spend, usage, the rows of tags and the requests' own", async () => {
    const key = await chat.stack.createKey();
    let answered = 0;
    chat.upstream.answer((request): ScriptedAnswer => {
      const index = answered++;
      const usage = {
        promptTokens: 100 + (index % 37),
        cachedTokens: index % 31,
        completionTokens: 1 + (index % 23),
      };
      if (request.body?.["stream"] !== true) return { kind: "json", body: textCompletion("hello", usage) };
      const words = Array.from({ length: index % 7 }, () => textChunk(" word"));
      return { kind: "events", events: [...words, finishChunk(), usageChunk(usage)] };
    });
    const answers = await Promise.all(
      Array.from({ length: REQUESTS }, (_, index): Promise<HttpAnswer> => {
        const stream = index % 2 === 0;
        const tags = TAGS[index % TAGS.length];
        const headers = {
          authorization: `Bearer ${key.key}`,
          "content-type": "application/json",
          ...(tags !== "" && { "x-tags": tags }),
        };
        return index % 3 === 0
          ? chat.send({ headers, agent, path: MESSAGES_PATH, body: messagesBody({ stream }) })
          : chat.send({ headers, agent, body: chatBody({ stream }) });
      }),
    );
    expect(answers.map(describeAnswer).filter((text) => text !== "200")).toEqual([]);
    const reported = chat.upstream.totalReported();
    const expected = costOf(reported);
    expect(chat.upstream.requests).toHaveLength(REQUESTS);
    await waitForCharges(key);
    expect(await readSpend(chat.stack, key)).toEqual({ key: expected, organization: expected });
    expect(await readUsageTotals(chat.stack, key)).toEqual({
      requests: REQUESTS,
      inputTokens: reported.promptTokens - reported.cachedTokens,
      cachedInputTokens: reported.cachedTokens,
      outputTokens: reported.completionTokens,
      costMicrocents: expected,
    });
    const byTags = new Map<string, bigint>(TAGS.map((tags) => [tags, 0n]));
    for (const [index, answer] of answers.entries()) {
      const row = await readRequest(chat.stack, key, answer);
      expect(row).toMatchObject({ status: 200, estimated: false });
      const tags = TAGS[index % TAGS.length] ?? "";
      byTags.set(tags, (byTags.get(tags) ?? 0n) + BigInt(row.cost_microcents));
    }
    expect([...byTags.values()].reduce((sum, cost) => sum + cost)).toBe(expected);
    const { rows } = await (await chat.stack.store()).readUsage(key.organizationId, null);
    const inUsage = new Map<string, bigint>();
    for (const { tags, costMicrocents } of rows) {
      inUsage.set(tags, (inUsage.get(tags) ?? 0n) + costMicrocents);
    }
    expect(inUsage).toEqual(byTags);
  });

  it("are charged by service tier, size of prompt and what was written to a cache, to the microcent", async () => {
    const key = await chat.stack.createKey();
    const priced = PRICED_REQUESTS.filter(({ currency }) => currency === "USD");
    const given: PricedRequest[] = [];
    chat.upstream.answer((request): ScriptedAnswer => {
      const row = priced[given.length % priced.length]!;
      given.push(row);
      const { usage, serviceTier } = row;
      const told = { usage, service_tier: serviceTier };
      if (request.body?.["stream"] !== true) {
        return { kind: "json", body: textCompletion("hello", null, told) };
      }
      const last = textChunk("", { choices: [], ...told });
      return { kind: "events", events: [textChunk(" word"), finishChunk(), last] };
    });
    const answers = await Promise.all(
      Array.from({ length: REQUESTS }, (_, index): Promise<HttpAnswer> => {
        const fields = { model: PRICED_MODEL, stream: index % 2 === 0 };
        return index % 3 === 0
          ? chat.send({ key: key.key, agent, path: MESSAGES_PATH, body: messagesBody(fields) })
          : chat.send({ key: key.key, agent, body: chatBody(fields) });
      }),
    );
    expect(answers.map(describeAnswer).filter((text) => text !== "200")).toEqual([]);
    expect(given).toHaveLength(REQUESTS);
    const expected = given.reduce((sum, { microcents }) => sum + BigInt(microcents), 0n);
    await waitForCharges(key);
    expect(await readSpend(chat.stack, key)).toEqual({ key: expected, organization: expected });
    expect(await readUsageTotals(chat.stack, key)).toMatchObject({
      requests: REQUESTS,
      costMicrocents: expected,
    });
    const written = given.reduce((sum, { usage }) => {
      const { tokens } = readUsage(usage)!;
      return sum + tokens.cacheWriteTokens + tokens.cacheWrite1hTokens;
    }, 0);
    const { rows } = await (await chat.stack.store()).readUsage(key.organizationId, null);
    expect(rows.reduce((sum, row) => sum + row.cacheWriteTokens + row.cacheWrite1hTokens, 0)).toBe(written);
    expect(written).toBeGreaterThan(0);
  });
});
