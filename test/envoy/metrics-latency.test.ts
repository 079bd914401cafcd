/** What each stage adds to a request's latency: the histograms' shape and counts, never their times. */
import { describe, expect, it } from "vitest";
import { METRICS, type MetricDefinition } from "../../src/shared/telemetry/metric-definitions.ts";
import { chatBody, CHAT_PATH, withSharedChatStack } from "../support/chat-stack.ts";
import { send } from "../support/http.ts";
import { parseMetrics, type Sample, sumOf } from "../support/metrics-page.ts";
import { finishChunk, textChunk, usageChunk } from "../support/scripted-answer.ts";
import { createGate, type Gate, waitFor } from "../support/wait.ts";

const chat = withSharedChatStack();
const STAGES: readonly MetricDefinition[] = [METRICS.authz, METRICS.requestBody, METRICS.chunk];

async function scrape(): Promise<Sample[]> {
  return parseMetrics((await send(chat.stack.adminUrl, { path: "/metrics" })).text);
}

const countOf = (samples: readonly Sample[], { name }: MetricDefinition): number =>
  sumOf(samples, `${name}_count`);

/** How much each stage's count grows by what is done. */
async function growth(act: () => Promise<void>): Promise<{ authz: number; body: number; chunk: number }> {
  const before = await scrape();
  const requests = sumOf(before, METRICS.requests.name);
  await act();
  const after = await waitFor("the request to be counted", async () => {
    const page = await scrape();
    return sumOf(page, METRICS.requests.name) > requests && page;
  });
  const grown = (metric: MetricDefinition) => countOf(after, metric) - countOf(before, metric);
  return { authz: grown(METRICS.authz), body: grown(METRICS.requestBody), chunk: grown(METRICS.chunk) };
}

/** A stream of which each event leaves the upstream only once the client has the one before. */
async function streamEventByEvent(texts: readonly string[]): Promise<void> {
  const gates: Gate[] = texts.map(() => createGate());
  const usage = { promptTokens: 5, cachedTokens: 0, completionTokens: texts.length };
  const events = texts.flatMap((text, index) => [textChunk(text), gates[index]!]);
  chat.upstream.answerNext({ kind: "events", events: [...events, finishChunk(), usageChunk(usage)] });
  let seen = "";
  const onData = (bytes: Buffer): void => {
    seen += bytes.toString();
    for (const [index, text] of texts.entries()) if (seen.includes(text)) gates[index]!.release();
  };
  const answer = await chat.stack.send({
    path: CHAT_PATH,
    key: chat.key.key,
    body: chatBody({ stream: true }),
    onData,
  });
  expect(answer.status).toBe(200);
}

describe("added latency", () => {
  it("is counted once for each chunk of a stream but the last, which waits for its charge", async () => {
    const texts = Array.from({ length: 8 }, (_, index) => `piece-${index}-end`);
    const { authz, body, chunk } = await growth(() => streamEventByEvent(texts));
    expect({ authz, body }).toEqual({ authz: 1, body: 1 });
    expect(chunk).toBeGreaterThanOrEqual(texts.length);
    // What follows the texts comes in one piece or in several: finish, usage, [DONE], the end.
    expect(chunk).toBeLessThanOrEqual(texts.length + 4);
  });

  it("has no chunk for an answer that is not streamed, and no body for a request without one", async () => {
    const whole = await growth(async () => {
      expect((await chat.send({ body: chatBody() })).status).toBe(200);
    });
    expect(whole).toEqual({ authz: 1, body: 1, chunk: 0 });
    const models = await growth(async () => {
      expect((await chat.stack.send({ path: "/v1/models", key: chat.key.key })).status).toBe(200);
    });
    expect(models).toEqual({ authz: 1, body: 0, chunk: 0 });
  });

  it.each(STAGES.map((metric) => ({ name: metric.name, metric })))(
    "$name is a histogram: its buckets rise to its count, and its sum is what they may add up to",
    async ({ metric }) => {
      const page = await scrape();
      const buckets = page.filter(({ name }) => name === `${metric.name}_bucket`);
      expect(buckets.map(({ labels }) => labels["le"])).toEqual([
        ...(metric.buckets ?? []).map(String),
        "+Inf",
      ]);
      const values = buckets.map(({ value }) => value);
      expect(values).toEqual([...values].sort((one, other) => one - other));
      const count = countOf(page, metric);
      expect(count).toBeGreaterThan(0);
      expect(values.at(-1)).toBe(count);
      const sum = sumOf(page, `${metric.name}_sum`);
      expect(Number.isFinite(sum) && sum > 0).toBe(true);
      // No less than if each had taken what its bucket begins with.
      const least = buckets.slice(1).reduce((total, { value }, index) => {
        const atMost = values[index] ?? 0;
        return total + (value - atMost) * Number(buckets[index]?.labels["le"]);
      }, 0);
      expect(sum).toBeGreaterThanOrEqual(least * 0.999);
    },
  );
});
