import { describe, expect, it } from "vitest";
import { chargeOf, formatSpoolLine, parseSpoolLine } from "../../../src/data-path/spool/entry.ts";
import { chargeEntry, IDENTITY } from "./spool-fixture.ts";
import { NO_TOKENS } from "../../../src/shared/usage/token-usage.ts";

const WHOLE_IDENTITY = {
  organizationId: "org_1",
  keyId: "key_1",
  requestId: "req_1",
  month: "2026-11",
  day: "2026-11-21",
  model: "acme/echo",
  route: "POST /v1/messages",
  requestedModel: "echo",
  currency: "USD",
  owners: "user_1.group_1",
  session: "run-1",
  isSessionCapped: true as const,
  tags: "team=a",
  tagRow: "other",
};
describe("a line of the spool", () => {
  it.each([
    ["a final charge", chargeEntry("req_1", { totalMicrocents: 2n ** 53n - 1n })],
    ["a charge of nothing", chargeEntry("req_2", { totalMicrocents: 0n, requests: 0 })],
    [
      "a final charge with the request's way",
      chargeEntry("req_4", {
        final: {
          status: 200,
          errorCode: null,
          checks: [],
          trace: {
            timeline: { bodyMs: 1, routedMs: 2, upstreamMs: 3, firstTokenMs: null, endMs: 4 },
            upstream: { name: "local", status: 200, cause: null },
            requestedModel: "gpt-4o-mini",
          },
        },
      }),
    ],
    [
      "an opened request",
      {
        kind: "open",
        atMs: 5,
        opened: { ...IDENTITY, requestId: "req_3", floorMicrocents: 7n, floorInputTokens: 3 },
      } as const,
    ],
    [
      "an opened request with tags and a model that JSON escapes",
      {
        kind: "begun",
        atMs: 5,
        opened: {
          ...IDENTITY,
          requestId: "req_5",
          model: 'é "\\\n',
          tags: "team=a",
          tagRow: "other",
          floorMicrocents: 2n ** 53n - 1n,
          floorInputTokens: 0,
        },
      } as const,
    ],
  ])("gives back %s", (_name, entry) => {
    const line = formatSpoolLine(entry);
    expect(line.endsWith("}\n")).toBe(true);
    expect(parseSpoolLine(line.slice(0, -1))).toEqual(entry);
  });

  it("is JSON whose amounts are text", () => {
    const line = JSON.parse(formatSpoolLine(chargeEntry("req_1", { totalMicrocents: 2n ** 53n - 1n }))) as {
      entry: { charge: { totalMicrocents: unknown } };
    };
    expect(line.entry.charge.totalMicrocents).toBe("9007199254740991");
  });

  it("keeps what of a charge is for server tools", () => {
    const entry = chargeEntry("req_1", { totalMicrocents: 9n, toolMicrocents: 2n ** 53n - 1n });
    expect(parseSpoolLine(formatSpoolLine(entry).slice(0, -1))).toEqual(entry);
  });

  it("keeps every fact of a request", () => {
    const charge = chargeEntry("req_1", WHOLE_IDENTITY);
    expect(parseSpoolLine(formatSpoolLine(charge).slice(0, -1))).toEqual(charge);
    const opened = { ...WHOLE_IDENTITY, floorMicrocents: 7n, floorInputTokens: 3 };
    const begun = { kind: "begun", atMs: 5, opened } as const;
    expect(parseSpoolLine(formatSpoolLine(begun).slice(0, -1))).toEqual(begun);
  });

  it("is refused when it is torn at any byte", () => {
    const line = formatSpoolLine(chargeEntry("req_1")).slice(0, -1);
    for (let length = 0; length < line.length; length += 1) {
      expect(parseSpoolLine(line.slice(0, length))).toBeNull();
    }
  });

  it("is refused when any byte of it is another", () => {
    const line = formatSpoolLine(chargeEntry("req_1")).slice(0, -1);
    for (let position = 0; position < line.length; position += 1) {
      const other = line[position] === "x" ? "y" : "x";
      expect(parseSpoolLine(line.slice(0, position) + other + line.slice(position + 1))).toBeNull();
    }
  });
});

describe("chargeOf", () => {
  it("makes an opened request a record to be closed at its floor, below every other sequence number", () => {
    const opened = { ...IDENTITY, requestId: "req_3", floorMicrocents: 7n, floorInputTokens: 3 };
    expect(chargeOf({ kind: "open", atMs: 5, opened })).toMatchObject({
      requestId: "req_3",
      totalMicrocents: 0n,
      sequence: 0,
      tokens: NO_TOKENS,
      estimate: {
        totalMicrocents: 7n,
        tokens: { ...NO_TOKENS, inputTokens: 3 },
      },
      requests: 1,
      estimated: true,
      final: null,
    });
  });
});
