import { describe, expect, it } from "vitest";
import { formatAdmissionHeader, formatAwaitedHeader } from "../../../src/exchange/admission-header.ts";
import type { Decision } from "../../../src/exchange/decision.ts";
import { UnreadRequests } from "../../../src/exchange/unread-requests.ts";
import { ADMISSION } from "./admission-fixture.ts";
import { createRecordingMeter } from "./meter-fixture.ts";

const SLOW = { status: 408, details: "request_overall_timeout" };
const HEADER = formatAdmissionHeader(ADMISSION);

function create(decision: Decision | null = null) {
  const { meter, finished } = createRecordingMeter();
  const ended: string[] = [];
  const left: string[] = [];
  const recorded: unknown[] = [];
  const unread = new UnreadRequests({
    underWay: {
      take: () => (decision === null ? null : { decision, decided: Promise.resolve(decision) }),
    },
    uploads: { end: ({ requestId }) => void ended.push(requestId) },
    settlement: {
      leave: ({ requestId }) => void left.push(requestId),
      recordRefusal: ({ requestId }, names, result, error) =>
        void recorded.push([requestId, names, result, error.code]),
    },
    meter,
  });
  return { unread, ended, left, recorded, finished };
}

describe("a request whose body never came", () => {
  it("is on the list and in the log with what its client was told, and gives back its place", async () => {
    const { unread, ended, left, recorded, finished } = create();
    await unread.onEnd(HEADER, SLOW, 60_000.4);
    const { requestId } = ADMISSION;
    const timeline = { bodyMs: null, routedMs: null, upstreamMs: null, firstTokenMs: null, endMs: 60_000 };
    const result = { status: 408, errorCode: "request_timeout", way: { timeline, upstream: null } };
    expect(recorded).toEqual([[requestId, { model: null, requestedModel: null }, result, "request_timeout"]]);
    expect([ended, left]).toEqual([[requestId], [requestId]]);
    expect(finished).toMatchObject([{ status: 408, code: "request_timeout", durationMs: 60_000.4 }]);
  });

  it("counts no longer as an upload when its client has left, which is no refusal", async () => {
    const { unread, ended, left, recorded } = create();
    await unread.onEnd(HEADER, { status: 0, details: "downstream_remote_disconnect" }, 1);
    expect([ended, left, recorded]).toEqual([[ADMISSION.requestId], [], []]);
  });

  it("is recorded as well where it had gone ahead of its admission, and not where that was refused", async () => {
    const awaited = formatAwaitedHeader({ requestId: ADMISSION.requestId, protocol: "chat", rate: null });
    const admitted = create({ kind: "admitted", admission: ADMISSION });
    await admitted.unread.onEnd(awaited, SLOW, 1);
    expect(admitted.recorded).toHaveLength(1);
    const elsewhere = create();
    await elsewhere.unread.onEnd(awaited, SLOW, 1);
    expect([elsewhere.recorded, elsewhere.ended]).toEqual([[], []]);
  });
});
