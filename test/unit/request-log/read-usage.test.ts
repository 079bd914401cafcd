import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { formatRequestLogLine, type LoggedRequest } from "../../../src/request-log/line.ts";
import { readLoggedUsage } from "../../../src/request-log/read-usage.ts";
import { rebuildUsage, verifyUsage } from "../../../src/request-log/verify-usage.ts";
import type { UsageRow } from "../../../src/store/types/reporting.ts";
import { IDENTITY } from "../spool/spool-fixture.ts";
import { NO_TOKENS } from "../../../src/translation/client-protocol.ts";

const REQUEST: LoggedRequest = {
  identity: { ...IDENTITY, requestId: "req_01a1fbdf-a29c-790a-a491-cbfe2a229b51" },
  currency: "USD",
  price: null,
  outcome: "complete",
  result: { status: 200, errorCode: null },
  tokens: { ...NO_TOKENS, inputTokens: 1, cachedInputTokens: 2, outputTokens: 3, reasoningTokens: 1 },
  estimated: false,
  costMicrocents: 2n ** 53n + 1n,
};

const line = (changes: Partial<LoggedRequest> = {}): string =>
  formatRequestLogLine({ ...REQUEST, ...changes }, 0);

async function createFolder(files: Readonly<Record<string, string>>): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "igw-log-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
  return dir;
}

describe("readLoggedUsage", () => {
  it("adds up a month's requests by organization, day, key and model, to the last digit", async () => {
    const other = { ...REQUEST.identity, keyId: "key_2" };
    const dir = await createFolder({
      "2026-11-21.worker-0.0.jsonl": `${line()}\n${line({ estimated: true })}\n`,
      "2026-12-01.worker-1.0.jsonl": `\n${line({ identity: other, costMicrocents: 7n })}\n`,
    });
    const logged = await readLoggedUsage(dir, "2026-11");
    expect(logged).toMatchObject({ requests: 3, files: 2, damagedLines: 0 });
    expect(logged.rows.get("org_1")).toMatchObject([
      {
        day: "2026-11-21",
        keyId: "key_1",
        requests: 2,
        inputTokens: 2,
        cachedInputTokens: 4,
        outputTokens: 6,
        estimatedRequests: 1,
        costMicrocents: 2n ** 54n + 2n,
      },
      { keyId: "key_2", requests: 1, costMicrocents: 7n },
    ]);
  });

  it("passes over other months, refused requests and those that were not sent", async () => {
    const text = [
      line({ outcome: "refused", costMicrocents: 0n }),
      line({ outcome: "not_sent", costMicrocents: 0n }),
      line({ identity: { ...REQUEST.identity, month: "2026-10", day: "2026-10-31" } }),
    ].join("\n");
    const dir = await createFolder({ "2026-11-21.worker-0.0.jsonl": text, "notes.txt": "x" });
    expect((await readLoggedUsage(dir, "2026-11")).rows.size).toBe(0);
  });

  it("counts torn lines and goes on", async () => {
    const dir = await createFolder({ "2026-11-21.worker-0.0.jsonl": `${line().slice(0, 80)}\n${line()}\n` });
    expect(await readLoggedUsage(dir, "2026-11")).toMatchObject({ requests: 1, damagedLines: 1 });
  });
});

const ROW: UsageRow = {
  day: "2026-11-21",
  keyId: "key_1",
  model: "acme/echo-small",
  tags: "",
  requests: 1,
  inputTokens: 1,
  cachedInputTokens: 0,
  outputTokens: 1,
  reasoningTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  inputAudioTokens: 0,
  outputAudioTokens: 0,
  estimatedRequests: 0,
  costMicrocents: 5n,
};

function createStore(spent: bigint, ofKey: bigint, rows: readonly UsageRow[]) {
  return {
    listOrganizationIds: async () => ["org_1"],
    readSpend: async (_id: string, month: string | null) => ({
      month: month ?? "",
      timeMs: 0,
      organizationMicrocents: spent,
      organizationHeldMicrocents: 0n,
      keyMicrocents: new Map([["key_1", ofKey]]),
    }),
    readUsage: async () => ({ month: "2026-11", rows: [...rows], tagCombinations: 0, hasOtherTags: false }),
  };
}

function logOf(costMicrocents: bigint) {
  const row = { ...ROW, keyId: "key_1", model: "acme/echo-small", costMicrocents };
  return { month: "2026-11", rows: new Map([["org_1", [row]]]), requests: 1, damagedLines: 0, files: 1 };
}

describe("verifyUsage", () => {
  it("finds no difference where all three accounts agree, corrections by hand included", async () => {
    const correction = { ...ROW, model: null, costMicrocents: -2n };
    const store = createStore(3n, 3n, [ROW, correction]);
    expect((await verifyUsage(store, "2026-11", logOf(5n))).differences).toEqual([]);
  });

  it.each([
    ["spend_of_organization", createStore(6n, 5n, [ROW]), logOf(5n)],
    ["spend_of_key", createStore(5n, 4n, [ROW]), logOf(5n)],
    ["missing_in_redis", createStore(5n, 5n, [ROW]), logOf(6n)],
    ["missing_in_log", createStore(5n, 5n, [ROW]), logOf(4n)],
  ] as const)("says %s", async (kind, store, logged) => {
    const { differences } = await verifyUsage(store, "2026-11", logged);
    expect(differences.map((each) => each.kind)).toEqual([kind]);
  });
});

describe("rebuildUsage", () => {
  it("raises each row of the log and names organizations that are busy", async () => {
    const asked: bigint[] = [];
    const result = await rebuildUsage(
      {
        readUsage: createStore(0n, 0n, []).readUsage,
        raiseUsage: async (_id, { rows }) => {
          asked.push(...rows.map(({ costMicrocents }) => costMicrocents));
          return { outcome: "in_flight", addedMicrocents: 0n };
        },
      },
      logOf(6n),
    );
    expect(asked).toEqual([6n]);
    expect(result).toEqual({ raisedRows: 0, addedMicrocents: 0n, inFlight: ["org_1"] });
  });
});
