import { describe, expect, it } from "vitest";
import {
  type RecordStateName,
  RequestRecords,
  TRANSITIONS,
} from "../../../src/data-path/settlement/record-state.ts";
import type { JournalFile } from "../../../src/data-path/spool/request-journal.ts";
import { createAccount, IDENTITY } from "./account-fixture.ts";

const { requestId: ID, organizationId, keyId } = IDENTITY;
const ENTRY = { requestId: ID, keyId, owners: undefined };

type Event = (records: RequestRecords) => unknown;

const { account } = createAccount();
const LINE: JournalFile = { path: "worker-0.1.000000.begun", bytes: 1, live: 1 };

/** What may happen to a request that this worker has not heard of. */
const OPENING: readonly Event[] = [
  (records) => records.begin(account, LINE),
  (records) => records.open(account),
  (records) => records.reserveSlot(account),
];
/** What may happen to it at any time. */
const EVENTS = {
  withdraw: (records) => records.withdraw(ID),
  recorded: (records) => records.recorded(ID),
  missed: (records) => records.missed(ID),
  end: (records) => records.end(ID),
  leave: (records) => records.abandon(organizationId, ENTRY),
  tellRefusal: (records) => records.markRefusalReported(ID),
  takeEnded: (records) => records.takeEnded(),
} as const satisfies Record<string, Event>;

/** How to come to each state. */
const WAYS: Record<RecordStateName, readonly Event[]> = {
  entered: [],
  begun: [(records) => records.begin(account, LINE)],
  recorded: [(records) => records.open(account)],
  spooling: [(records) => records.reserveSlot(account)],
  unanswered: [(records) => records.begin(account, LINE), EVENTS.missed],
  retained: [(records) => records.open(account), EVENTS.missed],
  pendingInMemory: [(records) => records.begin(account, LINE), EVENTS.missed, EVENTS.end],
  withdrawn: [EVENTS.withdraw],
  abandoned: [EVENTS.leave],
  closed: [(records) => records.open(account), EVENTS.end],
};
const NAMES = Object.keys(WAYS) as RecordStateName[];

/** The records of a worker with one request in a state, and the lines of the journal that it does not need any more. */
function comeTo(name: RecordStateName) {
  const left: JournalFile[] = [];
  const records = new RequestRecords({ release: (line) => void left.push(line) });
  for (const event of WAYS[name]) event(records);
  return { records, left };
}

/** What is not in the collection cannot be told from what has never been there. */
function nameAfter(records: RequestRecords): RecordStateName | "forgotten" {
  const { kind } = records.stateOf(ID);
  return kind === "entered" ? "forgotten" : kind;
}

describe("the record of a request", () => {
  it.each(NAMES)("goes from %s exactly where the table says, whatever happens", (name) => {
    const reached = new Set<RecordStateName | "forgotten">();
    const events = [...Object.values(EVENTS), ...(name === "entered" ? OPENING : [])];
    for (const event of events) {
      const { records } = comeTo(name);
      expect(records.stateOf(ID).kind).toBe(name);
      event(records);
      if (records.stateOf(ID).kind !== name) reached.add(nameAfter(records));
    }
    expect(reached).toEqual(new Set<RecordStateName | "forgotten">(TRANSITIONS[name]));
  });

  it.each(NAMES.filter((name) => name !== "entered"))("is not opened again when it is %s", (name) => {
    for (const open of OPENING) {
      const { records } = comeTo(name);
      const before = records.stateOf(ID);
      expect(() => open(records)).toThrow(`the record of request ${ID} is "${name}", not "entered"`);
      expect(records.stateOf(ID)).toBe(before);
    }
  });

  it.each(NAMES.filter((name) => name !== "begun" && name !== "unanswered"))(
    "has no line of the journal to leave when it is %s, except for one in memory only",
    (name) => {
      const { records, left } = comeTo(name);
      left.length = 0;
      records.recorded(ID);
      expect(left).toEqual(name === "pendingInMemory" ? [LINE] : []);
    },
  );

  it.each(["begun", "unanswered", "pendingInMemory"] as const)(
    "leaves its line of the journal once when it is %s and Redis or the spool has taken something of it",
    (name) => {
      const { records, left } = comeTo(name);
      expect(left).toEqual([]);
      records.recorded(ID);
      records.recorded(ID);
      expect(left).toEqual([LINE]);
    },
  );

  it("is of a request in flight from its slot or its line on until its charges have come to their end", () => {
    const inFlight = NAMES.filter((name) => comeTo(name).records.sizeInFlight === 1);
    expect(inFlight).toEqual(["begun", "recorded", "spooling", "unanswered", "retained"]);
    const { records } = comeTo("recorded");
    expect([...records.inFlight()]).toEqual([account]);
    expect([records.countInFlight(keyId), records.countInFlight("key_other")]).toEqual([1, 0]);
  });

  it("is missing in Redis, as far as this worker knows, while it needs its line", () => {
    expect(NAMES.filter((name) => comeTo(name).records.isMissing(ID))).toEqual(["begun", "unanswered"]);
  });

  it("is told to Redis once when it is over", () => {
    const { records } = comeTo("closed");
    records.abandon(organizationId, { ...ENTRY, requestId: "req_2" });
    expect(records.takeEnded()).toEqual({
      abandoned: [{ kind: "abandoned", organizationId, request: { ...ENTRY, requestId: "req_2" } }],
      closed: [{ kind: "closed", organizationId, requestId: ID }],
    });
    expect(records.takeEnded()).toEqual({ abandoned: [], closed: [] });
  });

  it("whose final charge tells of its refusal says so once", () => {
    const { records } = comeTo("withdrawn");
    expect([records.markRefusalReported(ID), records.markRefusalReported(ID)]).toEqual([true, false]);
  });
});
