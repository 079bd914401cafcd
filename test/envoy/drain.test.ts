/** SIGTERM to `serve`, as Kubernetes sends it: streams in flight run out, new requests go elsewhere or are refused. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { summarizeError } from "../support/answer-checks.ts";
import { CHAT_PATH, chatBody } from "../support/chat-stack.ts";
import { byExtent } from "../support/extent.ts";
import { CHAT_UPSTREAM_MODEL, TRANSPORTS_UNDER_TEST } from "../support/gateway-config.ts";
import { type HttpAnswer, readEvents, send } from "../support/http.ts";
import { runLoad } from "../support/running-load.ts";
import { finishChunk, textChunk } from "../support/scripted-answer.ts";
import { createTestKey } from "../support/test-key.ts";
import { type ScriptedUpstream, startUpstream } from "../support/upstream.ts";
import { createGate, type Gate, waitFor } from "../support/wait.ts";
import { startUpload } from "./edge/raw-client.ts";
import { type ServeAlone, startServeAlone } from "./access/serve-alone.ts";
import { listWorkers } from "./access/worker-processes.ts";

/** More than a busy machine takes to notice a drain at every place that is looked at. */
const DRAIN_SECONDS = 10;
/** Where its end is what is waited for. */
const SHORT_DRAIN_SECONDS = 2;
let upstream: ScriptedUpstream;
let stack: ServeAlone;
let key: string;

beforeAll(async () => {
  upstream = await startUpstream();
});
afterEach(async () => {
  upstream.reset();
  await stack.stop();
});
afterAll(() => upstream.close());

function post(body: object, onData?: (chunk: Buffer) => void): Promise<HttpAnswer> {
  const headers = { authorization: `Bearer ${key}` };
  return send(stack.baseUrl, { path: CHAT_PATH, headers, body, ...(onData === undefined ? {} : { onData }) });
}

/** A stream whose end waits for the gate; resolves once its first piece has come. */
async function openStreams(count: number): Promise<{ gate: Gate; answers: Promise<HttpAnswer>[] }> {
  const gate = createGate();
  upstream.answer({ kind: "events", events: [textChunk("one"), gate, textChunk(" two"), finishChunk()] });
  const begun = new Set<number>();
  const answers = Array.from({ length: count }, (_, index) =>
    post(chatBody({ stream: true }), () => void begun.add(index)),
  );
  await waitFor("the first piece of each stream", () => begun.size === count);
  return { gate, answers };
}

/** "200", or status and code. */
const describeOutcome = (answer: HttpAnswer): string =>
  answer.status === 200 ? "200" : `${answer.status} ${String(summarizeError(answer).code)}`;
const isDone = (answer: HttpAnswer): boolean =>
  answer.complete && readEvents(answer.text).at(-1) === "[DONE]";
const readiness = () => send(stack.baseUrl, { path: "/readyz" });

describe.each(TRANSPORTS_UNDER_TEST)("on the transport %s", (transport) => {
  const start = async (drainSeconds: number, workers = 2): Promise<void> => {
    stack = await startServeAlone({
      upstreamUrl: upstream.url,
      workers,
      drainSeconds,
      overrides: { sidecar: { transport } },
    });
    ({ key } = await createTestKey(stack.store));
  };

  describe("serve at SIGTERM", () => {
    beforeEach(() => start(DRAIN_SECONDS));

    it("lets streams run out, refuses what is new, says so at /readyz, and exits with 0", async () => {
      const { gate, answers } = await openStreams(6);
      const before = upstream.requests.length;
      stack.serve.signal("SIGTERM");
      await waitFor("/readyz to say 503", async () => (await readiness()).status === 503);
      // Until Envoy has noticed, requests are still served.
      const headers = { authorization: `Bearer ${key}` };
      const models = () => send(stack.baseUrl, { path: "/v1/models", headers });
      await waitFor("a refusal", async () => (await models()).status === 503);
      expect(stack.serve.ended).toBeNull();
      const refused = await Promise.all([post(chatBody()), post(chatBody({ stream: true }))]);
      for (const answer of refused) {
        const { status, code, retryAfter, breaches } = summarizeError(answer);
        expect({ status, code, retryAfter, breaches }).toEqual({
          status: 503,
          code: "gateway_unavailable",
          retryAfter: "1",
          breaches: [],
        });
      }
      expect(upstream.requests.length).toBe(before);
      gate.release();
      expect((await Promise.all(answers)).filter(isDone)).toHaveLength(6);
      expect(await stack.serve.waitForEnd(15_000)).toBe(0);
      expect(listWorkers(stack.configFile)).toEqual([]);
    });

    it("answers or refuses each request under load in the contract's words, and sends none upstream unprocessed", async () => {
      const outcomes: string[] = [];
      const load = runLoad(8, async () => {
        outcomes.push(describeOutcome(await post(chatBody())));
      });
      await waitFor("some answers", () => outcomes.length > 200);
      expect(new Set(outcomes)).toEqual(new Set(["200"]));
      stack.serve.signal("SIGTERM");
      expect(await stack.serve.waitForEnd(15_000)).toBe(0);
      await load.stop();
      expect([...new Set(outcomes)].sort()).toEqual(["200", "503 gateway_unavailable"]);
      const unprocessed = upstream.requests.filter(
        ({ body, headers }) => body?.["model"] !== CHAT_UPSTREAM_MODEL || headers.authorization !== undefined,
      );
      expect(unprocessed).toEqual([]);
    });

    it("refuses what was admitted before and has its body only after, in each protocol", async () => {
      const body = JSON.stringify(chatBody({ max_tokens: 5 }));
      const upload = async (path: string) => {
        const slow = await createTestKey(stack.store, { requestsPerMinute: 6 });
        const lines = [`POST ${path} HTTP/1.1`, "host: a", `authorization: Bearer ${slow.key}`];
        const started = startUpload(
          Number(new URL(stack.baseUrl).port),
          `${[...lines, `content-length: ${body.length}`].join("\r\n")}\r\n\r\n${body}`,
        );
        await waitFor("its admission", async () => {
          const fill = (await stack.store.readBuckets(slow.organizationId, [slow.id])).get(slow.id);
          return fill?.remaining === 9;
        });
        return started;
      };
      const uploads = [
        { started: await upload(CHAT_PATH), isInEnvelope: false },
        { started: await upload("/v1/messages"), isInEnvelope: true },
      ];
      stack.serve.signal("SIGTERM");
      await stack.serve.waitForEnd(15_000);
      for (const { started, isInEnvelope } of uploads) {
        const { status, headers, body: text } = await started.finish();
        expect({ status, ...headers }).toMatchObject({
          status: 503,
          "retry-after": "1",
          "x-should-retry": "true",
          "x-service-ratelimit-remaining": "9",
        });
        expect(headers["x-request-id"]).toMatch(/^req_/u);
        const error = { code: "gateway_unavailable", request_id: headers["x-request-id"] };
        expect(JSON.parse(text)).toMatchObject(isInEnvelope ? { type: "error", error } : { error });
      }
      expect(upstream.requests).toEqual([]);
    });

    it("ends at once when it is told twice", async () => {
      await openStreams(1);
      stack.serve.signal("SIGTERM");
      await waitFor("/readyz to say 503", async () => (await readiness()).status === 503);
      stack.serve.signal("SIGTERM");
      expect(await stack.serve.waitForEnd(2_000)).toBe(1);
      await waitFor("no worker left", () => listWorkers(stack.configFile).length === 0);
    });
  });

  describe("serve at SIGTERM, with streams that outlast it", () => {
    beforeEach(() => start(SHORT_DRAIN_SECONDS, byExtent({ push: 1, nightly: 2 })));

    it("cuts a stream that is longer than the bound, never as if it were whole, and exits with 1", async () => {
      const { answers } = await openStreams(2);
      const sentMs = performance.now();
      stack.serve.signal("SIGTERM");
      expect(await stack.serve.waitForEnd(40_000)).toBe(1);
      expect(performance.now() - sentMs).toBeGreaterThan(SHORT_DRAIN_SECONDS * 1000 - 100);
      for (const answer of await Promise.all(answers)) {
        expect({ complete: answer.complete, done: answer.text.includes("[DONE]") }).toEqual({
          complete: false,
          done: false,
        });
      }
      expect(listWorkers(stack.configFile)).toEqual([]);
    });
  });

  describe("one worker at SIGTERM", () => {
    beforeEach(() => start(DRAIN_SECONDS));

    it("is replaced, its streams run out, and no request fails", async () => {
      const { gate, answers } = await openStreams(6);
      const [first] = listWorkers(stack.configFile);
      upstream.answer({ kind: "echo" });
      const statuses = new Set<string>();
      const load = runLoad(4, async () => {
        statuses.add(describeOutcome(await post(chatBody())));
      });
      process.kill(first?.pid ?? 0, "SIGTERM");
      await waitFor("its drain", () => statuses.size > 0);
      setTimeout(() => gate.release(), 1_500);
      expect((await Promise.all(answers)).filter(isDone)).toHaveLength(6);
      await waitFor(
        "its successor",
        () =>
          listWorkers(stack.configFile).some(({ index, pid }) => index === first?.index && pid !== first.pid),
        { timeoutMs: 20_000 },
      );
      await load.stop();
      expect(statuses).toEqual(new Set(["200"]));
    });
  });
});
