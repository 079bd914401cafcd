/** What clients without a key begin and take back again costs nobody else a stream or a request. */
import { describe, expect, it } from "vitest";
import { describeAnswer } from "../support/answer-checks.ts";
import { chatBody, withChatStack } from "../support/chat-stack.ts";
import { byExtent, firstOnPush } from "../support/extent.ts";
import { TRANSPORTS_UNDER_TEST } from "../support/gateway-config.ts";
import type { HttpAnswer } from "../support/http.ts";
import { finishChunk, textChunk } from "../support/scripted-answer.ts";
import { createGate } from "../support/wait.ts";
import { readSidecarCounter } from "./edge/envoy-counters.ts";
import { floodWithCloses, floodWithResets } from "./edge/reset-flood.ts";

const STREAMS = 4;

/** Connections of each flood: many times what Envoy and the workers have open at a time. */
const CONNECTIONS = byExtent({
  push: { reset: 45, spared: 130, closed: 6_000 },
  nightly: { reset: 90, spared: 400, closed: 20_000 },
});
const FLOODS = [
  {
    name: `HTTP/2, ${CONNECTIONS.reset} connections, each with 300 streams that are reset behind their headers`,
    flood: (port: number) => floodWithResets(port, CONNECTIONS.reset, 300),
  },
  {
    name: `HTTP/2, ${CONNECTIONS.spared} connections, none of which has so many streams that Envoy ends it`,
    flood: (port: number) => floodWithResets(port, CONNECTIONS.spared, 99),
  },
  {
    name: `HTTP/1.1, ${CONNECTIONS.closed} connections, each closed behind its headers`,
    flood: (port: number) => floodWithCloses(port, CONNECTIONS.closed),
  },
];
const STACKS = TRANSPORTS_UNDER_TEST.flatMap((transport) =>
  firstOnPush([2, 1]).map((workers) => ({ transport, workers })),
);

describe.each(STACKS)(
  "with $workers of $transport, requests that are taken back",
  ({ transport, workers }) => {
    const chat = withChatStack(() => ({ workers, overrides: { sidecar: { transport } } }));

    it.each(FLOODS)("cut no stream and cost no request: $name", async ({ flood }) => {
      const gate = createGate();
      const events = [textChunk("before"), gate, textChunk("after"), finishChunk()];
      chat.upstream.answerNext(
        ...Array.from({ length: STREAMS }, () => ({ kind: "events", events }) as const),
      );
      const begun = Array.from({ length: STREAMS }, () => beginStream());
      await Promise.all(begun.map(async ({ hasBegun }) => await hasBegun));
      await flood(Number(new URL(chat.stack.baseUrl).port));
      gate.release();
      const streams = await Promise.all(begun.map(async ({ answer }) => await answer));
      expect(streams.map(({ status, complete, text }) => [status, complete, text.includes("after")])).toEqual(
        Array.from({ length: STREAMS }, () => [200, true, true]),
      );
      const next = await Promise.all(Array.from({ length: STREAMS }, () => chat.send({ body: chatBody() })));
      expect(next.map(describeAnswer)).toEqual(Array.from({ length: STREAMS }, () => "200"));
      expect(await readSidecarCounter(chat.stack, "upstream_cx_destroy_with_active_rq")).toBe(0);
    });

    function beginStream(): { readonly hasBegun: Promise<void>; readonly answer: Promise<HttpAnswer> } {
      const first = createGate();
      const answer = chat.send({ body: chatBody({ stream: true }), onData: () => first.release() });
      return { hasBegun: first.opened, answer };
    }
  },
);
