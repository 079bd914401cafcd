/** Spans of Envoy's tracer as a real collector gets them. */
import { afterAll, describe, expect, it } from "vitest";
import { chatBody, withChatStack } from "../support/chat-stack.ts";
import { type CollectedSpan, startTraceCollector, type TraceCollector } from "../support/trace-collector.ts";
import { waitFor } from "../support/wait.ts";

const SAMPLED = "4bf92f3577b34da6a3ce929d0e0e4736";
const UNSAMPLED = "0af7651916cd43dd8448eb211c80319c";
const PARENT = "00f067aa0ba902b7";

let collector: TraceCollector;
const chat = withChatStack(async () => {
  collector = await startTraceCollector();
  return { overrides: { telemetry: { otlp: { url: collector.url, sampling_percent: 0 } } } };
});
afterAll(() => collector.close());

function sendTraced(trace: string, flags: string) {
  const headers = { traceparent: `00-${trace}-${PARENT}-${flags}`, tracestate: "vendor=opaque" };
  return chat.send({ headers, body: chatBody({}, "a-word-of-the-prompt") });
}

describe("a trace", () => {
  it("has a span of the gateway between the client's and the upstream's, with the request's id", async () => {
    const answer = await sendTraced(SAMPLED, "01");
    expect(answer.status).toBe(200);
    const isOutermost = ({ traceId, parentSpanId }: CollectedSpan) =>
      traceId === SAMPLED && parentSpanId === PARENT;
    const span = await waitFor("the span", () => collector.spans.find(isOutermost), { timeoutMs: 20_000 });
    expect(span.service).toBe("inference-gateway");
    expect(span.attributes).toMatchObject({
      "gateway.request_id": answer.headers["x-request-id"],
      "http.method": "POST",
      "http.status_code": "200",
    });
    // Envoy's calls to the sidecar and to the upstream are below it.
    const below = collector.spans.filter(
      ({ traceId, parentSpanId }) => traceId === SAMPLED && parentSpanId !== PARENT,
    );
    const ids = new Set(collector.spans.map(({ spanId }) => spanId));
    expect(below.filter(({ parentSpanId }) => !ids.has(parentSpanId))).toEqual([]);
    const { headers } = chat.upstream.lastRequest;
    expect(String(headers["traceparent"])).toMatch(new RegExp(`^00-${SAMPLED}-[0-9a-f]{16}-01$`));
    expect(String(headers["traceparent"])).not.toContain(PARENT);
    expect(headers["tracestate"]).toBe("vendor=opaque");
  });

  it("is left alone when the client did not sample it, and its context passed on all the same", async () => {
    expect((await sendTraced(UNSAMPLED, "00")).status).toBe(200);
    const passed = String(chat.upstream.lastRequest.headers["traceparent"]);
    expect(passed).toMatch(new RegExp(`^00-${UNSAMPLED}-[0-9a-f]{16}-00$`));
    // A later one has come, so that an earlier one would have, too.
    const later = "5cf92f3577b34da6a3ce929d0e0e4737";
    await sendTraced(later, "01");
    await waitFor("the later span", () => collector.spans.some(({ traceId }) => traceId === later), {
      timeoutMs: 20_000,
    });
    expect(collector.spans.some(({ traceId }) => traceId === UNSAMPLED)).toBe(false);
  });

  it("has the client's path and user-agent, without query and without what has the form of a key", async () => {
    const traceId = "6df92f3577b34da6a3ce929d0e0e4738";
    const headers = { traceparent: `00-${traceId}-${PARENT}-01`, "user-agent": `curl/8 ${chat.key.key}` };
    const path = `/v1/requests/${chat.key.key}?key=${chat.key.key}`;
    await chat.send({ method: "GET", path, headers });
    const isOutermost = (each: CollectedSpan) => each.traceId === traceId && each.parentSpanId === PARENT;
    const span = await waitFor("the span", () => collector.spans.find(isOutermost), { timeoutMs: 20_000 });
    expect(span.attributes).toMatchObject({ "http.url": "/v1/requests/", user_agent: "curl/8 " });
  });

  it("holds no key, no prompt and no answer", () => {
    const spans = collector.bytes;
    expect(spans).toContain("gateway.request_id");
    expect([chat.key.key, "a-word-of-the-prompt", "Bearer"].filter((text) => spans.includes(text))).toEqual(
      [],
    );
  });
});
