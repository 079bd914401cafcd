import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { formatRequestLogLine, type LoggedRequest } from "../../../src/data-path/request-log/line.ts";
import {
  type LoggedRow,
  type LoggedUsage,
  readLoggedUsage,
} from "../../../src/data-path/request-log/read-usage.ts";
import { rebuildUsage } from "../../../src/data-path/request-log/rebuild-usage.ts";
import { verifyUsage } from "../../../src/data-path/request-log/verify-usage.ts";
import type { UsageRow } from "../../../src/shared/stored/reporting.ts";
import { NO_USAGE, type UsageFigures } from "../../../src/shared/usage/usage-figures.ts";
import { OTHER_TAGS } from "../../../src/shared/usage/tags.ts";
import { IDENTITY } from "../spool/spool-fixture.ts";
import { NO_TOKENS } from "../../../src/shared/usage/token-usage.ts";

const REQUEST: LoggedRequest = {
  identity: { ...IDENTITY, requestId: "req_01a1fbdf-a29c-790a-a491-cbfe2a229b51", currency: "USD" },
  price: null,
  outcome: "complete",
  result: { status: 200, errorCode: null },
  tools: [],
  tokens: { ...NO_TOKENS, inputTokens: 1, cachedInputTokens: 2, outputTokens: 3, reasoningTokens: 1 },
  estimated: false,
  costMicrocents: 2n ** 53n + 1n,
};

let lines = 0;
/** Of a request of its own. */
const line = ({ identity = REQUEST.identity, ...changes }: Partial<LoggedRequest> = {}): string => {
  lines += 1;
  return formatRequestLogLine(
    { ...REQUEST, ...changes, identity: { ...identity, requestId: `req_${lines}` } },
    0,
  );
};

async function createFolder(files: Readonly<Record<string, string>>): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "igw-log-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
  return dir;
}

describe("readLoggedUsage", () => {
  it("keeps apart what a request counts in whose row of tags Redis had not decided", async () => {
    const identity = { ...REQUEST.identity, tags: "team=a" };
    const decided = { identity: { ...identity, tagRow: "0123" }, costMicrocents: 3n };
    const dir = await createFolder({
      "2026-11-21.worker-0.0.jsonl": `${line(decided)}\n${line({ identity, costMicrocents: 4n })}\n`,
    });
    expect((await readLoggedUsage(dir, "2026-11")).rows.get("org_1")).toMatchObject([
      { tags: "team=a", requests: 2, costMicrocents: 7n, undecided: { requests: 1, costMicrocents: 4n } },
    ]);
  });

  it("counts no request in another currency than its organization's, and tells of it", async () => {
    const euros = { identity: { ...REQUEST.identity, currency: "EUR" } };
    const dir = await createFolder({
      "2026-11-21.worker-0.0.jsonl": `${line(euros)}\n${line({ costMicrocents: 4n })}\n`,
    });
    const logged = await readLoggedUsage(dir, "2026-11", new Map([["org_1", "USD"]]));
    expect(logged).toMatchObject({ requests: 1, otherCurrencyRequests: 1 });
    expect(logged.rows.get("org_1")).toMatchObject([{ requests: 1, costMicrocents: 4n }]);
  });

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

  it("adds up what of the cost was for server tools, rounded up request by request", async () => {
    const tools = [{ name: "web_search", uses: 3, rate: 1_000_000_001n }];
    const used = { tools, costMicrocents: 5_000_000n };
    const text = [
      line(used),
      // Never more than the whole: a strict cap's hold was less.
      line({ ...used, costMicrocents: 2n }),
      line({ costMicrocents: 7n }),
    ].join("\n");
    const dir = await createFolder({ "2026-11-21.worker-0.0.jsonl": text });
    const [row] = (await readLoggedUsage(dir, "2026-11")).rows.get(REQUEST.identity.organizationId) ?? [];
    expect(row).toMatchObject({ costMicrocents: 5_000_009n, toolMicrocents: 3_000_003n });
  });

  it("finds requests in files that a clock behind Redis's has named after the month before", async () => {
    const identity = { ...REQUEST.identity, month: "2026-12", day: "2026-12-01" };
    const dir = await createFolder({
      "2026-11-24.worker-0.0.jsonl": `${line({ identity })}\n`,
      "2026-11-30.worker-0.0.jsonl": `${line()}\n${line({ identity })}\n`,
      "2026-11-23.worker-0.0.jsonl": "torn\n",
    });
    expect(await readLoggedUsage(dir, "2026-12")).toMatchObject({ requests: 2, files: 2, damagedLines: 0 });
  });

  it("counts a request once, though a write that was cut short stands there twice", async () => {
    const [first, other] = [line(), line({ costMicrocents: 7n })];
    const text = `${first}\n${other.slice(0, 40)}\n${first}\n${other}\n${other}\n`;
    const dir = await createFolder({ "2026-11-21.worker-0.0.jsonl": text });
    const logged = await readLoggedUsage(dir, "2026-11");
    expect(logged).toMatchObject({ requests: 2, damagedLines: 1 });
    expect(logged.rows.get("org_1")).toMatchObject([{ requests: 2, costMicrocents: 2n ** 53n + 8n }]);
  });

  it("counts torn lines and goes on", async () => {
    const dir = await createFolder({ "2026-11-21.worker-0.0.jsonl": `${line().slice(0, 80)}\n${line()}\n` });
    expect(await readLoggedUsage(dir, "2026-11")).toMatchObject({ requests: 1, damagedLines: 1 });
  });
});

const ROW: UsageRow = {
  day: "2026-11-21",
  keyId: "key_1",
  owners: "",
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
  toolMicrocents: 0n,
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
    readStoredSums: async () => null,
  };
}

const LOGGED: LoggedRow = { ...ROW, keyId: "key_1", model: "acme/echo-small", undecided: NO_USAGE };

function logRows(...rows: readonly LoggedRow[]): LoggedUsage {
  const counts = { requests: 1, damagedLines: 0, otherCurrencyRequests: 0, files: 1 };
  return { month: "2026-11", rows: new Map([["org_1", rows]]), ...counts };
}
const logOf = (costMicrocents: bigint) => logRows({ ...LOGGED, costMicrocents });

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

  const counts = {
    requests: "requests",
    inputTokens: "input_tokens",
    cachedInputTokens: "cached_input_tokens",
    cacheWriteTokens: "cache_write_tokens",
    cacheWrite1hTokens: "cache_write_1h_tokens",
    inputAudioTokens: "input_audio_tokens",
    outputTokens: "output_tokens",
    reasoningTokens: "reasoning_tokens",
    outputAudioTokens: "output_audio_tokens",
    estimatedRequests: "estimated_requests",
  } as const satisfies Omit<Record<keyof UsageFigures, string>, "costMicrocents" | "toolMicrocents">;
  it.each(Object.entries(counts))(
    "says that %s differ, in which row and by how much",
    async (field, figure) => {
      const logged = logRows({ ...LOGGED, tags: "team=a", [field]: 7 });
      const store = createStore(5n, 5n, [{ ...ROW, tags: "team=a", [field]: 4 }]);
      const place = {
        organizationId: "org_1",
        day: ROW.day,
        keyId: "key_1",
        model: ROW.model,
        tags: "team=a",
      };
      expect((await verifyUsage(store, "2026-11", logged)).differences).toEqual([
        { ...place, kind: "missing_in_redis", figure, expected: 7n, found: 4n },
      ]);
    },
  );

  it("holds each row of tags against the log, where the day, key and model agree too", async () => {
    const store = createStore(10n, 10n, [
      { ...ROW, tags: "team=a" },
      { ...ROW, tags: "team=b" },
    ]);
    const logged = logRows({
      ...LOGGED,
      tags: "team=a",
      requests: 2,
      inputTokens: 2,
      outputTokens: 2,
      costMicrocents: 10n,
    });
    const { differences } = await verifyUsage(store, "2026-11", logged);
    expect(differences.map(({ kind, tags, figure }) => `${kind} ${tags} ${figure}`)).toEqual(
      ["requests", "input_tokens", "output_tokens", "cost_microcents"].flatMap((figure) => [
        `in_other_tag_row team=a ${figure}`,
        `in_other_tag_row team=b ${figure}`,
      ]),
    );
  });

  it.each(["team=a", OTHER_TAGS])(
    "finds a request whose record Redis did not answer in the row %s",
    async (tags) => {
      const logged = logRows({ ...LOGGED, tags: "team=a", undecided: ROW });
      const store = createStore(5n, 5n, [{ ...ROW, tags }]);
      expect((await verifyUsage(store, "2026-11", logged)).differences).toEqual([]);
    },
  );

  it("says what is missing of a request whose record Redis did not answer, once", async () => {
    const logged = logRows({
      ...LOGGED,
      tags: "team=a",
      costMicrocents: 7n,
      undecided: { ...ROW, costMicrocents: 7n },
    });
    const { differences } = await verifyUsage(
      createStore(5n, 5n, [{ ...ROW, tags: "team=a" }]),
      "2026-11",
      logged,
    );
    const amounts = { figure: "cost_microcents", expected: 7n, found: 5n };
    expect(differences).toMatchObject([{ kind: "missing_in_redis", tags: null, ...amounts }]);
  });
});

describe("rebuildUsage", () => {
  it("raises each row of the log and names organizations that are busy", async () => {
    const asked: bigint[] = [];
    const result = await rebuildUsage(
      {
        readUsage: createStore(0n, 0n, []).readUsage,
        readClosedUsage: async () => new Map(),
        raiseUsage: async (_id, { rows }) => {
          asked.push(...rows.map(({ costMicrocents }) => costMicrocents));
          return { outcome: "in_flight", addedMicrocents: 0n };
        },
        deleteSums: () => Promise.resolve(),
        markLogged: () => Promise.resolve([]),
        charge: () => Promise.resolve({ outcome: "repeated" }),
      },
      logOf(6n),
      async function* () {},
    );
    expect(asked).toEqual([6n]);
    expect(result).toEqual({
      raisedRows: 0,
      addedMicrocents: 0n,
      settledRequests: 0,
      inFlight: ["org_1"],
    });
  });
});
