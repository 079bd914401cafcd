/** The scenarios of docs/internals/one-organization.md, and its tables. Run: `npx tsx test/bench/leases/lease-table.ts`. */
import { argv } from "node:process";
import { fileURLToPath } from "node:url";
import { formatTable } from "../table.ts";
import { type LeaseScenario, simulateLeases } from "./simulate-leases.ts";

const MICROCENTS_PER_DOLLAR = 100_000_000;
/** CPU time of Redis for one admission, as docs/sizing.md has it. */
const CALL_US = 24;
const LEASES = [0.1, 1, 5] as const;

const LOAD = { hosts: 50, requestsPerSecond: 100_000, seconds: 12 };

/** 0.4 cents a request on average, 4 cents at most; a cap of 4,000 dollars, reached after ten seconds; a host is lost. */
export const CAP: Omit<LeaseScenario, "leaseSeconds"> = {
  ...LOAD,
  meanUnits: 0.004 * MICROCENTS_PER_DOLLAR,
  maxUnits: 0.04 * MICROCENTS_PER_DOLLAR,
  units: 4_000 * MICROCENTS_PER_DOLLAR,
  refillPerSecond: 0,
  lossAtSecond: 5,
};

/** 2,000 tokens a request on average, 20,000 at most; a limit of three quarters of that. */
export const TOKENS: Omit<LeaseScenario, "leaseSeconds"> = {
  ...LOAD,
  meanUnits: 2_000,
  maxUnits: 20_000,
  units: 150_000_000,
  refillPerSecond: 150_000_000,
  lossAtSecond: null,
};

const percent = (part: number, whole: number, digits = 1): string =>
  `${((100 * part) / whole).toFixed(digits)} %`;
const dollars = (microcents: number): string => `$${(microcents / MICROCENTS_PER_DOLLAR).toFixed(2)}`;
const count = (value: number): string => value.toLocaleString("en-US");
const core = (calls: number): string => percent(calls * CALL_US, 1_000_000);

/** The table of the cap. */
export function formatCapTable(): string {
  const rows = LEASES.map((leaseSeconds) => {
    const seen = simulateLeases({ ...CAP, leaseSeconds });
    return [
      `${leaseSeconds} s`,
      `${count(seen.callsPerSecond)} (${core(seen.callsPerSecond)})`,
      `${count(seen.peakCallsPerSecond)} (${core(seen.peakCallsPerSecond)})`,
      percent(seen.waited, seen.requests, 2),
      dollars(seen.leftAtFalseRejection),
      dollars(seen.lost),
    ];
  });
  return formatTable(
    [
      "a lease lasts",
      "calls per second",
      "at the cap",
      "requests that wait",
      "left at a false 402",
      "lost host holds",
    ],
    rows,
  );
}

/** The table of the token limit. While demand exceeds it, leases are as short as the bucket makes them. */
export function formatTokenTable(): string {
  const seen = simulateLeases({ ...TOKENS, leaseSeconds: 1 });
  const given = TOKENS.units + TOKENS.refillPerSecond * TOKENS.seconds;
  const row = [
    `${count(seen.peakCallsPerSecond)} (${core(seen.peakCallsPerSecond)})`,
    percent(seen.waited, seen.requests),
    percent(seen.spent, given),
    percent(seen.leftAtFalseRejection, TOKENS.refillPerSecond),
  ];
  return formatTable(
    ["calls per second", "requests that wait", "limit used", "left at a false 429, of a second's tokens"],
    [row],
  );
}

if (argv[1] === fileURLToPath(import.meta.url)) console.log(`${formatCapTable()}\n\n${formatTokenTable()}`);
