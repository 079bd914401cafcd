/** What docs/internals/one-organization.md says of leased counters is what the simulation gives. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CAP, formatCapTable, formatTokenTable, TOKENS } from "../bench/leases/lease-table.ts";
import { simulateLeases } from "../bench/leases/simulate-leases.ts";

const page = readFileSync(new URL("../../docs/internals/one-organization.md", import.meta.url), "utf8");
const cap = { ...CAP, leaseSeconds: 1 };

describe("docs/internals/one-organization.md", () => {
  it("has the tables that the simulation makes", () => {
    expect(page).toContain(formatCapTable());
    expect(page).toContain(formatTokenTable());
  });
});

describe("leased counters", () => {
  it("never give more than the cap, with a lost host's lease counted as spent", () => {
    const { spent, lost } = simulateLeases(cap);
    expect(spent + lost).toBeLessThanOrEqual(cap.units);
    // And what no host could spend is a ten-thousandth.
    expect(spent + lost).toBeGreaterThan(cap.units * 0.9999);
  });

  it("reject falsely only while less is left than hosts times the largest request", () => {
    const { rejectedFalsely, leftAtFalseRejection } = simulateLeases(cap);
    expect(rejectedFalsely).toBeGreaterThan(0);
    expect(leftAtFalseRejection).toBeLessThanOrEqual(cap.hosts * cap.maxUnits);
  });

  it("reject nothing while the cap is far", () => {
    const far = simulateLeases({ ...cap, units: cap.units * 10 });
    expect(far).toMatchObject({ rejected: 0, rejectedFalsely: 0 });
  });

  it("give no more tokens than the bucket had and got", () => {
    const { spent } = simulateLeases({ ...TOKENS, leaseSeconds: 1 });
    expect(spent).toBeLessThanOrEqual(TOKENS.units + TOKENS.refillPerSecond * TOKENS.seconds);
  });

  it("come out the same each time", () => {
    expect(simulateLeases(cap)).toEqual(simulateLeases(cap));
  });
});
