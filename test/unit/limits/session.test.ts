import { describe, expect, it } from "vitest";
import {
  NO_SESSION,
  readSessionHeaders,
  refuseBudgetWithoutSession,
} from "../../../src/data-path/limits/session.ts";
import { createSessionCapError } from "../../../src/data-path/limits/errors/session-cap.ts";
import { ADMISSION, changeAdmission } from "../settlement/settlement-fixture.ts";

describe("readSessionHeaders", () => {
  it("finds none, a name, and what it may spend", () => {
    expect(readSessionHeaders({})).toBe(NO_SESSION);
    expect(readSessionHeaders({ "x-session-id": "run 7", "x-session-budget": "2.50" })).toEqual({
      session: "run 7",
      sessionBudgetCents: 250,
    });
  });

  it.each([
    { "x-session-id": " a" },
    { "x-session-id": "é" },
    { "x-session-id": "a", "x-session-budget": "2,5" },
  ])("refuses %j", (headers) => expect(() => readSessionHeaders(headers)).toThrow(/expected/));

  it("keeps no credential, and tells two such names apart", () => {
    const name = (digit: string) =>
      readSessionHeaders({ "x-session-id": `sk-igw-${digit.repeat(43)}` }).session ?? "";
    expect(name("a")).not.toContain("aaaaaaaaaaaa");
    expect(name("a")).not.toBe(name("b"));
  });

  it("refuses a budget of no session", () => {
    expect(() => refuseBudgetWithoutSession({ session: undefined, sessionBudgetCents: 5 })).toThrow(
      /names no session/,
    );
    expect(() => refuseBudgetWithoutSession(NO_SESSION)).not.toThrow();
    expect(() => refuseBudgetWithoutSession({ session: "a", sessionBudgetCents: 5 })).not.toThrow();
  });
});

describe("createSessionCapError", () => {
  it("names the session, its cap and what is spent", () => {
    const figures = { spentMicrocents: 260_000_000n, heldMicrocents: 0n, capCents: 250 };
    const admission = changeAdmission(ADMISSION, { identity: { session: "run" } });
    const error = createSessionCapError(figures, admission, null);
    expect(error.message).toMatch(
      /^The cap of 2\.50 USD for session "run" of API key "ci" is reached: 2\.60 USD spent\./,
    );
    expect(error.fields).toMatchObject({
      scope: "session",
      period: "session",
      resets_at: null,
      spent_cents: 260,
      hard_cap_cents: 250,
    });
  });
});
