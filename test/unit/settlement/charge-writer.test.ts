import { describe, expect, it } from "vitest";
import { ChargeWriter } from "../../../src/data-path/settlement/charge-writer.ts";
import type { ChargeInput, ChargeResult } from "../../../src/shared/stored/settlement.ts";
import { waitFor } from "../../support/wait.ts";
import { IDENTITY, OK } from "./account-fixture.ts";
import { createSafeties } from "./safeties-fixture.ts";
import { NO_TOKENS } from "../../../src/shared/usage/token-usage.ts";

const PROGRESS: ChargeInput = {
  ...IDENTITY,
  totalMicrocents: 5n,
  sequence: 1,
  tokens: { ...NO_TOKENS, inputTokens: 1, outputTokens: 1 },
  requests: 1,
  estimated: true,
  estimate: null,
  final: null,
};
const FINAL: ChargeInput = { ...PROGRESS, sequence: 2, final: { ...OK, checks: [] } };

function open(
  charge: (attempt: number) => Promise<ChargeResult>,
  changes: Parameters<typeof createSafeties>[0] = {},
) {
  const seen = { attempts: 0, warnings: 0, errors: 0, unanswered: 0, onRecord: 0 };
  const writer = new ChargeWriter({
    ...createSafeties(changes),
    store: { charge: () => charge((seen.attempts += 1)) },
    clock: { nowMs: () => 0, monotonicMs: () => performance.now() },
    logger: { warn: () => void (seen.warnings += 1), error: () => void (seen.errors += 1) },
    listener: {
      onUnanswered: () => void (seen.unanswered += 1),
      onRecord: () => void (seen.onRecord += 1),
    },
  });
  return { writer, seen };
}

const APPLIED = Promise.resolve<ChargeResult>({ outcome: "applied" });
const fail = (message = "Command timed out") => Promise.reject(new Error(message));

describe("ChargeWriter.write", () => {
  it("sends a charge once when it is acknowledged", async () => {
    const { writer, seen } = open(() => APPLIED);
    await writer.write(FINAL);
    expect(seen).toMatchObject({ attempts: 1, warnings: 0, errors: 0, unanswered: 0, onRecord: 1 });
    expect(writer.unacknowledged).toBe(0);
  });

  it("sends a final charge again until it is acknowledged, warns once, and says that an attempt was not answered", async () => {
    const { writer, seen } = open((attempt) => (attempt < 4 ? fail() : APPLIED));
    const written = writer.write(FINAL);
    expect(writer.unacknowledged).toBe(1);
    await written;
    // The disk takes nothing either, each time.
    expect(seen).toMatchObject({ attempts: 4, warnings: 1, errors: 3, unanswered: 3, onRecord: 1 });
    expect(writer.unacknowledged).toBe(0);
  });

  it("sends progress once, whatever becomes of it", async () => {
    const { writer, seen } = open(() => fail());
    await writer.write(PROGRESS);
    expect(seen).toMatchObject({ attempts: 1, warnings: 0, errors: 0, unanswered: 1, onRecord: 0 });
  });

  it("says that a charge is on record once the spool has it", async () => {
    const spool = { ...createSafeties().spool, append: () => Promise.resolve() };
    const { writer, seen } = open(() => fail(), { spool });
    expect(await writer.write(FINAL)).toBe(false);
    expect(seen).toMatchObject({ attempts: 1, unanswered: 1, onRecord: 1 });
  });

  it("lets the answer go after a bound and goes on trying", async () => {
    let isBack = false;
    const { writer, seen } = open(() => (isBack ? APPLIED : fail()));
    await writer.write(FINAL);
    expect(writer.unacknowledged).toBe(1);
    expect(seen).toMatchObject({ onRecord: 0 });
    const before = seen.attempts;
    isBack = true;
    await waitFor("the charge to be acknowledged", () => writer.unacknowledged === 0);
    expect(seen.attempts).toBe(before + 1);
  });

  it("gives up a charge that contradicts the record, and says so", async () => {
    const { writer, seen } = open(() => fail("MISMATCH the record of this request says another key"));
    await writer.write(FINAL);
    expect(seen).toMatchObject({ attempts: 1, errors: 1, onRecord: 1 });
    expect(writer.unacknowledged).toBe(0);
  });
});
