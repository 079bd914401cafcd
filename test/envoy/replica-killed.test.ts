/** One of two servers of an upstream dies under load: who loses a request, and what each of them costs. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { METRICS } from "../../src/shared/telemetry/metric-definitions.ts";
import { chatBody, withChatStack } from "../support/chat-stack.ts";
import { send } from "../support/http.ts";
import { parseMetrics, sumOf } from "../support/metrics-page.ts";
import { startUpstream } from "../support/upstream.ts";
import { waitFor } from "../support/wait.ts";

const CLIENTS = 16;
const REQUESTS = 400;

const doomed = await startUpstream();
const chat = withChatStack((upstream) => ({
  upstreams: [{ name: "local", endpoints: [{ url: upstream.url }, { url: doomed.url }], path_prefix: "/v1" }],
}));
afterAll(() => doomed.close());

interface Line {
  readonly request_id: string;
  readonly status: number;
  readonly attempts: number;
  readonly upstream_bytes_sent: number;
}

function readAccessLog(): Line[] {
  const text = readFileSync(join(chat.stack.dir, "data/logs/access.log"), "utf8").trim();
  return text.split("\n").map((line) => JSON.parse(line) as Line);
}

describe("a server that is killed under load", () => {
  it("costs no request that had not reached it, and each that is answered is sent and charged once", async () => {
    const { key, organizationId } = await chat.stack.createKey();
    const answers: { status: number; marker: string; requestId: string }[] = [];
    let next = 0;
    const client = async (): Promise<void> => {
      while (next < REQUESTS) {
        const marker = `request number ${next}`;
        next += 1;
        if (next === REQUESTS / 4) void doomed.close();
        const answer = await chat.send({ key, body: chatBody({}, marker) });
        answers.push({ status: answer.status, marker, requestId: String(answer.headers["x-request-id"]) });
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    expect(answers).toHaveLength(REQUESTS);

    const lines = await waitFor("the access log", async () => {
      const all = new Map(readAccessLog().map((line) => [line.request_id, line]));
      return answers.every(({ requestId }) => all.has(requestId)) && all;
    });
    const failed = answers
      .filter(({ status }) => status !== 200)
      .map(({ requestId }) => lines.get(requestId)!);
    expect(failed.filter((line) => line.upstream_bytes_sent === 0)).toEqual([]);
    expect(failed.length).toBeLessThanOrEqual(CLIENTS);

    const seen = [...chat.upstream.requests, ...doomed.requests].map(({ bodyBytes }) =>
      bodyBytes.toString("utf8"),
    );
    const timesSent = (marker: string) => seen.filter((body) => body.includes(`"${marker}"`)).length;
    const sent = answers.map(({ status, marker }) => ({ status, times: timesSent(marker) }));
    expect(sent.filter(({ times }) => times > 1)).toEqual([]);
    expect(sent.filter(({ status, times }) => status === 200 && times !== 1)).toEqual([]);

    const retried = [...lines.values()].filter(({ attempts }) => attempts > 1);
    // Where all that it had in hand breaks in one moment, it is left out before anything else is sent to it.
    expect(retried.length + failed.length).toBeGreaterThan(0);
    expect(retried.map(({ status, attempts }) => [status, attempts])).toEqual(retried.map(() => [200, 2]));
    const page = await send(chat.stack.adminUrl, { path: "/metrics" });
    const counted = sumOf(parseMetrics(page.text), METRICS.upstreamRetries.name, { upstream: "local" });
    expect(counted).toBe(retried.length);

    const store = await chat.stack.store();
    const { rows } = await store.readUsage(organizationId, null);
    expect(rows.reduce((sum, { requests }) => sum + requests, 0)).toBe(REQUESTS);
  }, 120_000);

  it("is left out: afterwards every request is answered, and costs what its answer says", async () => {
    const { key, organizationId } = await chat.stack.createKey();
    for (let sent = 0; sent < 30; sent += 1) {
      expect((await chat.send({ key, body: chatBody() })).status).toBe(200);
    }
    const { promptTokens, completionTokens } = chat.upstream.totalReported();
    expect(chat.upstream.requests).toHaveLength(30);
    const store = await chat.stack.store();
    const { organizationMicrocents } = await store.readSpend(organizationId, null);
    expect(organizationMicrocents).toBe(BigInt(promptTokens * 250 + completionTokens * 1_000));
  });
});
