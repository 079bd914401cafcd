import { describe, expect, it, vi } from "vitest";
import { createListeners } from "../../../src/shared/host/channel.ts";
import {
  type ReportedEnd,
  ReportedEnds,
  shareReportedEnds,
} from "../../../src/data-path/exchange/ends/reported-ends.ts";

const CUT: ReportedEnd = { status: 502, details: "upstream_reset_after_response_started{remote_reset}" };

/** Workers of one host, and what goes between them. */
function createHost(workers: number) {
  const sent: unknown[] = [];
  const toHost = createListeners();
  const toWorkers = createListeners();
  shareReportedEnds({ send: (message) => toWorkers.deliver(message, 0), onMessage: toHost.add });
  const ends = Array.from({ length: workers }, (_, index) => {
    const send = (message: unknown): void => {
      sent.push(message);
      toHost.deliver(message, index);
    };
    return new ReportedEnds({ send, onMessage: toWorkers.add }, { isOnlyWorker: workers === 1 });
  });
  return { ends: ends as [ReportedEnds, ...ReportedEnds[]], sent };
}

describe("what Envoy says of a request's end", () => {
  it("is known at once where it came before anybody asked", async () => {
    const { ends, sent } = createHost(1);
    const expected = ends[0].expect("req_1");
    ends[0].report("req_1", CUT);
    expect([await expected.take(), sent]).toEqual([CUT, []]);
  });

  it("is waited for, and reaches the worker that has the request", async () => {
    const { ends } = createHost(2);
    const other = ends[1]!.expect("req_1");
    const taken = other.take();
    ends[0].report("req_1", CUT);
    expect(await taken).toEqual(CUT);
  });

  it("is the first that was said", async () => {
    const { ends } = createHost(1);
    const expected = ends[0].expect("req_1");
    ends[0].report("req_1", CUT);
    ends[0].report("req_1", { status: 0, details: "downstream_remote_disconnect" });
    expect(await expected.take()).toEqual(CUT);
  });

  it("is nothing after half a second without a word, and then nobody is waited for any more", async () => {
    vi.useFakeTimers();
    try {
      const { ends, sent } = createHost(2);
      const taken = ends[0].expect("req_1").take();
      await vi.advanceTimersByTimeAsync(499);
      const early = await Promise.race([taken, Promise.resolve("not yet")]);
      await vi.advanceTimersByTimeAsync(1);
      expect([early, await taken]).toEqual(["not yet", null]);
      ends[0].report("req_1", CUT);
      expect(sent).toHaveLength(1);
    } finally {
      vi.useRealTimers();
    }
  });

  it("goes to no other process where there is none, and what is none of its messages is passed over", async () => {
    const { ends, sent } = createHost(1);
    ends[0].report("req_unknown", CUT);
    expect(sent).toEqual([]);
    const two = createHost(2);
    const listeners = createListeners();
    const told: unknown[] = [];
    shareReportedEnds({ send: (message) => void told.push(message), onMessage: listeners.add });
    for (const message of [
      null,
      "x",
      { kind: "request_ended" },
      { kind: "request_ended", requestId: "r", end: {} },
    ]) {
      listeners.deliver(message, 0);
    }
    expect([told, two.sent]).toEqual([[], []]);
  });
});
