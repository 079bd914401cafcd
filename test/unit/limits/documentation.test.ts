import { readFileSync } from "node:fs";
import { NO_TOKENS } from "../../../src/shared/usage/token-usage.ts";
import { describe, expect, it } from "vitest";
import { formatKeyStatus } from "../../../src/data-path/limits/reports/key-status.ts";
import { formatRequestStatus } from "../../../src/data-path/limits/reports/request-status.ts";
import { UNKNOWN_TRACE } from "../../../src/shared/stored/reporting.ts";
import { createId } from "../../../src/data-path/store/ids.ts";
import { isUnreachable } from "../../../src/data-path/grace/unreachable.ts";

const read = (page: string): string =>
  readFileSync(new URL(`../../../docs/${page}`, import.meta.url), "utf8");

/** The example in docs/key-api.md of what is this `object`. */
function example(object: string): Record<string, unknown> {
  const blocks = Array.from(
    read("key-api.md").matchAll(/^```json\n([\s\S]*?)^```$/gm),
    ([, json = ""]) => json,
  );
  const found = blocks.find((json) => json.includes(`"object": "${object}"`));
  if (found === undefined) throw new Error(`docs/key-api.md shows no ${object}`);
  return JSON.parse(found) as Record<string, unknown>;
}

/** Names of fields at every depth. */
function namesOf(value: unknown, path = ""): string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [path];
  return Object.entries(value).flatMap(([key, member]) => namesOf(member, `${path}.${key}`));
}

describe("docs/key-api.md", () => {
  it("shows every field of GET /v1/key", () => {
    const key = {
      id: "key_1",
      name: "ci",
      display: "sk-igw-…a1B2",
      requestsPerMinute: 600,
      allowedModels: null,
      expiresAtMs: null,
    };
    const organization = {
      id: "org_1",
      name: "Acme",
      currency: "USD",
    };
    const month = { period: "month", raisedCents: 0 };
    const body = formatKeyStatus({
      key,
      organization,
      spend: {
        month: "2026-11",
        timeMs: 0,
        organizationMicrocents: 1_201_000_000n,
        organizationHeldMicrocents: 0n,
        keyMicrocents: new Map([["key_1", 13_000_001n]]),
      },
      remainingRequests: 59,
      burst: 60,
      user: null,
      group: null,
      limits: {
        timeMs: Date.UTC(2026, 10, 21),
        limits: [
          { scope: "key", ...month, kind: "cap", cents: 5_000, spentMicrocents: 13_000_001n },
          { scope: "key", ...month, kind: "budget", cents: 4_000, spentMicrocents: 13_000_001n },
          { scope: "organization", ...month, kind: "cap", cents: 100_000, spentMicrocents: 1_201_000_000n },
        ],
      },
    } as unknown as Parameters<typeof formatKeyStatus>[0]);
    expect(example("key")).toEqual(body);
  });

  it("shows every field of GET /v1/requests/{request_id}", () => {
    const body = formatRequestStatus({
      requestId: createId("req", Date.UTC(2026, 10, 21, 12, 30, 15, 250)),
      keyId: "key_1",
      recordedAtMs: 0,
      route: "POST /v1/messages",
      model: "acme/echo-small",
      tags: "team=search",
      session: null,
      owners: "",
      refusal: null,
      status: 200,
      errorCode: null,
      ...NO_TOKENS,
      inputTokens: 6,
      cachedInputTokens: 4,
      outputTokens: 5,
      reasoningTokens: 2,
      estimated: true,
      costMicrocents: 1_999_999n,
      toolMicrocents: 0n,
      trace: { ...UNKNOWN_TRACE, requestedModel: "claude-haiku-4-5" },
      checks: [{ name: "price", passed: true, figures: { currency: "USD" } }],
    });
    const { id: _id, ...shown } = example("request");
    expect(namesOf(example("request"))).toEqual(namesOf(body));
    expect(body).toMatchObject(shown);
  });
});

describe("docs/durability.md", () => {
  it("lists each answer of Redis that means out of reach", () => {
    const sentence = /or one of ([A-Z, ]+)\./.exec(read("durability.md"))?.[1] ?? "";
    const listed = sentence.split(", ");
    const error = (code: string): Error => Object.assign(new Error(`${code} text`), { name: "ReplyError" });
    expect(listed.filter((code) => !isUnreachable(error(code)))).toEqual([]);
    const known = readFileSync(
      new URL("../../../src/data-path/grace/unreachable.ts", import.meta.url),
      "utf8",
    );
    const codes = Array.from(known.matchAll(/^ {2}"([A-Z]+)",$/gm), ([, code = ""]) => code);
    expect(listed.sort()).toEqual(codes.sort());
  });
});
