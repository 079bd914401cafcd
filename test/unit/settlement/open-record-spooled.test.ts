import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../src/shared/contract/errors.ts";
import { GraceOutage } from "../../../src/data-path/grace/grace-outage.ts";
import { RecordOpener, type RecordOpenerOptions } from "../../../src/data-path/settlement/open-record.ts";
import { RequestRecords } from "../../../src/data-path/settlement/record-state.ts";
import type { RequestAccount } from "../../../src/data-path/settlement/request-account.ts";
import { TagRows } from "../../../src/data-path/settlement/tag-rows.ts";
import type { SpoolEntry } from "../../../src/data-path/spool/entry.ts";
import { createAccount, IDENTITY } from "./account-fixture.ts";
import { NO_JOURNAL } from "./safeties-fixture.ts";
import { ADMISSION, type AdmissionChanges, changeAdmission } from "./settlement-fixture.ts";

const TIMEOUT = new Error("Command timed out");
const FULL = () => Promise.reject(new Error("the spool holds as much as it may"));

/** A request whose record the store does not open, for an error, on a worker in the grace period. */
async function openWithoutRecord(failure: Error, admission: AdmissionChanges = {}, changes: Changes = {}) {
  const { account, charges } = createAccount();
  const entries: SpoolEntry[] = [];
  const spooled = (entry: SpoolEntry) => (changes.append ?? (async () => void entries.push(entry)))();
  const asked: string[] = [];
  const refuse = (whom: string): Promise<never> => {
    asked.push(whom);
    return Promise.reject(failure);
  };
  const clock = { monotonicMs: () => 0 };
  const records = new RequestRecords(NO_JOURNAL);
  const options: RecordOpenerOptions = {
    store: { openRecord: () => refuse("store") },
    patient: { openRecord: () => refuse("patient") },
    spool: { append: spooled, journal: NO_JOURNAL },
    outage: new GraceOutage({
      clock,
      graceMs: changes.graceMs ?? 1_000,
      logger: { warn: () => undefined },
    }),
    workerCount: () => 1,
    clock: { nowMs: () => 7 },
    logger: { error: () => undefined },
    dashboard: { baseUrl: null, contact: null },
  };
  for (let number = 1; number <= (changes.others ?? 0); number += 1) {
    const identity = { ...IDENTITY, requestId: `req_other_${number}` };
    records.reserveSlot({ identity } as RequestAccount);
  }
  const opener = new RecordOpener(options, records, new TagRows());
  const worstCase = { microcents: () => 0n, afford: () => null, shrinkTo: () => false };
  const opened = opener.open(account, changeAdmission(ADMISSION, admission), worstCase);
  const refusal = await codeOf(opened);
  const state = records.stateOf(account.identity.requestId).kind;
  return { account, charges, entries, refusal, state, asked };
}

/** The code of the error that it rejects with; null: it does not. */
async function codeOf(promise: Promise<void>): Promise<string | null> {
  try {
    await promise;
    return null;
  } catch (thrown) {
    return GatewayError.from(thrown).code;
  }
}

interface Changes {
  readonly append?: () => Promise<void>;
  readonly graceMs?: number;
  /** Requests of the key that are in flight. */
  readonly others?: number;
}

describe("a request whose record Redis did not answer", () => {
  it("is put on record in the spool at its floor, and its record is kept", async () => {
    const { account, entries, refusal, state, asked } = await openWithoutRecord(TIMEOUT);
    expect(asked).toEqual(["store"]);
    expect(entries).toEqual([
      {
        kind: "open",
        atMs: 7,
        opened: { ...account.identity, floorMicrocents: 100n, floorInputTokens: 100 },
      },
    ]);
    expect([refusal, state]).toEqual([null, "retained"]);
  });

  it("is written nowhere when it has no slot among the key's requests in flight", async () => {
    const two = { limits: { concurrencyLimit: 2 } };
    const { entries, refusal, state } = await openWithoutRecord(TIMEOUT, two, { others: 2 });
    expect(entries).toEqual([]);
    expect([refusal, state]).toEqual(["concurrency_limit_exceeded", "withdrawn"]);
  });

  it.each([
    ["strict caps", { limits: { isStrict: true } }, {}],
    ["no grace period", {}, { graceMs: 0 }],
  ] as const)("waited longer for it with %s", async (_name, admission, changes) => {
    expect((await openWithoutRecord(TIMEOUT, admission, changes)).asked).toEqual(["patient"]);
  });

  it.each([
    ["strict caps", { limits: { isStrict: true } }, {}, TIMEOUT],
    ["no grace period", {}, { graceMs: 0 }, TIMEOUT],
    ["an error that is no outage", {}, {}, new TypeError("a script replied number")],
    ["a spool that is full", {}, { append: FULL }, TIMEOUT],
  ] as const)("does not go on with %s, and a final charge of nothing follows", async (...row) => {
    const [, admission, changes, error] = row;
    const { charges, entries, refusal, state } = await openWithoutRecord(error, admission, changes);
    expect([refusal, state]).toEqual(["gateway_unavailable", "withdrawn"]);
    expect(entries).toEqual([]);
    expect(charges).toMatchObject([{ totalMicrocents: 0n, requests: 0, final: { status: 503 } }]);
  });
});
