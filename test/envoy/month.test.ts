import { request } from "node:http";
import { describe, expect, it } from "vitest";
import { requestBucketKey } from "../../src/data-path/store/redis/keys.ts";
import { CHAT_PATH, chatBody } from "../support/chat-stack.ts";
import { readError } from "../support/http.ts";
import { finishChunk, textChunk, textCompletion, usageChunk } from "../support/scripted-answer.ts";
import type { CreatedKey } from "../support/test-key.ts";
import type { AnswerScript } from "../support/upstream.ts";
import { createGate, waitFor } from "../support/wait.ts";
import { GOLD_MODEL } from "./metering-figures.ts";
import { canSetClock, CLOCK_NEEDS, withTimedStack } from "./timed-stack.ts";
import { monthLimits } from "../support/month-limits.ts";

/** Twenty cents at GOLD_MODEL. */
const USAGE = { promptTokens: 10, cachedTokens: 0, completionTokens: 5 };
const SPENT = 20_000_000n;

describe.skipIf(!canSetClock)(`months${CLOCK_NEEDS}`, () => {
  const timed = withTimedStack("2026-11-21T12:00:00Z", 2);
  const answer = (script: AnswerScript): void => timed.upstream.answer(script);
  const { setClock } = timed;
  const send = (key: CreatedKey, fields: object = {}) =>
    timed.stack.send({ path: CHAT_PATH, key: key.key, body: chatBody({ model: GOLD_MODEL, ...fields }) });
  const spentIn = async (key: CreatedKey, month: string): Promise<bigint> => {
    const spend = await (await timed.stack.store()).readSpend(key.organizationId, month);
    expect(spend.organizationMicrocents).toBe(spend.keyMicrocents.get(key.id) ?? 0n);
    return spend.organizationMicrocents;
  };
  const statusOf = async (key: CreatedKey) =>
    (await timed.stack.send({ path: "/v1/key", key: key.key })).json();

  it.each([
    ["an ordinary month", "2026-11-30T23:59:59.999Z", "2026-12-01T00:00:00.000Z", "November 2026"],
    ["the year", "2026-12-31T23:59:59.999Z", "2027-01-01T00:00:00.000Z", "December 2026"],
    ["February", "2027-02-28T23:59:59.999Z", "2027-03-01T00:00:00.000Z", "February 2027"],
    ["February of a leap year", "2028-02-29T23:59:59.999Z", "2028-03-01T00:00:00.000Z", "February 2028"],
    ["February of a hundredth year", "2100-02-28T23:59:59.999Z", "2100-03-01T00:00:00.000Z", "February 2100"],
  ])("begin anew with the first millisecond after %s", async (_name, last, first, name) => {
    setClock(last);
    const key = await timed.stack.createKey(
      { name: "ci", limits: monthLimits({ cap: 20 }) },
      { limits: monthLimits({ cap: 20 }) },
    );
    answer({ kind: "json", body: textCompletion("x", USAGE) });
    expect((await send(key)).status).toBe(200);
    const refused = await send(key);
    expect(refused.status).toBe(402);
    const resetsAt = `${first.slice(0, 19)}Z`;
    expect(readError(refused).message).toContain(`0.20 USD spent in ${name}.`);
    expect(readError(refused).message).toContain(`or wait until ${resetsAt}.`);
    expect(await statusOf(key)).toMatchObject({
      month: last.slice(0, 7),
      resets_at: resetsAt,
      spent_cents: 20,
      blocked_by: "key",
    });
    setClock(first);
    expect(await statusOf(key)).toMatchObject({
      month: first.slice(0, 7),
      spent_cents: 0,
      blocked_by: null,
    });
    expect((await send(key)).status).toBe(200);
    expect((await send(key)).status).toBe(402);
    expect(await spentIn(key, last.slice(0, 7))).toBe(SPENT);
    expect(await spentIn(key, first.slice(0, 7))).toBe(SPENT);
  });

  it("do not end before the 29th of February in a leap year", async () => {
    setClock("2104-02-28T23:59:59.999Z");
    const key = await timed.stack.createKey({ limits: monthLimits({ cap: 20 }) });
    answer({ kind: "json", body: textCompletion("x", USAGE) });
    expect((await send(key)).status).toBe(200);
    setClock("2104-02-29T00:00:00.000Z");
    expect((await send(key)).status).toBe(402);
  });

  it("own what was admitted in them, a stream that ends in the next one too", async () => {
    setClock("2104-11-30T23:59:59.999Z");
    const key = await timed.stack.createKey({ limits: monthLimits({ cap: 20 }) });
    const gate = createGate();
    timed.upstream.answerNext({
      kind: "events",
      events: [textChunk("x"), gate, finishChunk(), usageChunk(USAGE)],
    });
    answer({ kind: "json", body: textCompletion("x", USAGE) });
    let began = false;
    const streaming = timed.stack.send({
      path: CHAT_PATH,
      key: key.key,
      body: chatBody({ model: GOLD_MODEL, stream: true }),
      onData: () => {
        began = true;
      },
    });
    await waitFor("the stream to begin", () => began);
    setClock("2104-12-01T00:00:00.500Z");
    // Progress is charged in the new month, to the old one.
    await waitFor("progress", async () => (await spentIn(key, "2104-11")) > 0n);
    expect(await spentIn(key, "2104-12")).toBe(0n);
    gate.release();
    await streaming;
    expect(await spentIn(key, "2104-11")).toBe(SPENT);
    expect(await spentIn(key, "2104-12")).toBe(0n);
    const { rows } = await (await timed.stack.store()).readUsage(key.organizationId, "2104-11");
    expect(rows).toMatchObject([{ day: "2104-11-30", requests: 1, costMicrocents: SPENT }]);
    // It takes nothing of the new month's cap.
    expect((await send(key)).status).toBe(200);
    expect(await spentIn(key, "2104-12")).toBe(SPENT);
  });

  it("own what was admitted in them, though its body came in the next one", async () => {
    setClock("2105-06-30T23:59:59.999Z");
    const key = await timed.stack.createKey();
    answer({ kind: "json", body: textCompletion("x", USAGE) });
    const body = JSON.stringify(chatBody({ model: GOLD_MODEL }));
    const { hostname, port } = new URL(timed.stack.baseUrl);
    const headers = {
      authorization: `Bearer ${key.key}`,
      "content-length": String(Buffer.byteLength(body)),
    };
    const late = request({ hostname, port, method: "POST", path: CHAT_PATH, headers });
    late.flushHeaders();
    const status = new Promise<number | undefined>((resolve, reject) => {
      late.on("error", reject);
      late.on("response", (response) => {
        response.resume();
        response.on("end", () => resolve(response.statusCode));
      });
    });
    await waitFor("the admission", () => timed.exists(requestBucketKey(key.organizationId, key.id)));
    setClock("2105-07-01T00:00:00.000Z");
    late.end(body);
    expect(await status).toBe(200);
    expect(await spentIn(key, "2105-06")).toBe(SPENT);
    expect(await spentIn(key, "2105-07")).toBe(0n);
  });
});
