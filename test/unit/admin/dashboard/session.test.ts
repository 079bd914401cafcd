import { describe, expect, it } from "vitest";
import { SESSION_MS, Sessions } from "../../../../src/admin/dashboard/session.ts";
import { SignInLimit } from "../../../../src/admin/dashboard/sign-in-limit.ts";

const NOW = 1_000_000;

describe("Sessions", () => {
  const sessions = new Sessions("igw_op_one");

  it("are opened by every host with the same operator token, and by no other", () => {
    const session = sessions.create("hash", NOW);
    const cookie = sessions.seal(session);
    expect(new Sessions("igw_op_one").open(cookie, NOW)).toEqual(session);
    expect(new Sessions("igw_op_two").open(cookie, NOW)).toBeNull();
  });

  it("end after their time, and when they are signed out", () => {
    const session = sessions.create(null, NOW);
    const cookie = sessions.seal(session);
    expect(sessions.open(cookie, NOW + SESSION_MS - 1)).not.toBeNull();
    expect(sessions.open(cookie, NOW + SESSION_MS)).toBeNull();
    sessions.end(session, NOW);
    expect(sessions.open(cookie, NOW)).toBeNull();
  });

  it.each(["", "x", "A".repeat(200)])("are not made up: %s", (cookie) => {
    expect(sessions.open(cookie, NOW)).toBeNull();
  });

  it("bind a form's token to its session", () => {
    const [first, second] = [sessions.create(null, NOW), sessions.create(null, NOW)];
    expect(sessions.isFormToken(sessions.formToken(first.id), first.id)).toBe(true);
    expect(sessions.isFormToken(sessions.formToken(first.id), second.id)).toBe(false);
  });
});

describe("SignInLimit", () => {
  it("lets nobody of an address try after ten failures, until the minute is over", () => {
    const limit = new SignInLimit();
    for (let failure = 0; failure < 10; failure += 1) {
      expect(limit.waitSeconds("a", NOW)).toBe(0);
      limit.failed("a", NOW);
    }
    expect(limit.waitSeconds("a", NOW + 1_000)).toBe(59);
    expect(limit.waitSeconds("b", NOW)).toBe(0);
    expect(limit.waitSeconds("a", NOW + 60_000)).toBe(0);
  });
});
