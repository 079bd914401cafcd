/** Money as people write it: "50", "50.00", "none". */
import { InvalidArgumentError } from "commander";
import { formatCents, MAX_CENTS, MICROCENTS_PER_CENT } from "../../money.ts";
import { NONE, type OrNone } from "./options.ts";

const CAP_FORM = /^(\d{1,9})(?:\.(\d{1,2}))?$/;
const CORRECTION_FORM = /^([+-]?)(\d{1,8})(?:\.(\d{1,8}))?$/;
/** A unit of a currency is 10^8 microcents. */
const UNIT_DECIMALS = 8;
const CENT_DECIMALS = 2;

/** A cap or budget in whole cents, or "none". For commander: @throws InvalidArgumentError. */
export function parseAmount(text: string): OrNone<number> {
  if (text === NONE) return NONE;
  const match = CAP_FORM.exec(text);
  const cents = match === null ? Number.NaN : Number(`${match[1]}${(match[2] ?? "").padEnd(2, "0")}`);
  if (cents <= MAX_CENTS) return cents;
  throw new InvalidArgumentError(
    "expected an amount such as 50 or 50.00, at most 90000000.00, or `none` for no limit",
  );
}

/** A signed amount in microcents, to the last decimal. For commander: @throws InvalidArgumentError. */
export function parseCorrection(text: string): number {
  const [, sign = "", whole = "", fraction = ""] = CORRECTION_FORM.exec(text) ?? [];
  const microcents = Number(whole + fraction.padEnd(UNIT_DECIMALS, "0"));
  if (whole !== "" && microcents !== 0 && microcents <= MAX_CENTS * MICROCENTS_PER_CENT) {
    return sign === "-" ? -microcents : microcents;
  }
  throw new InvalidArgumentError("expected an amount such as 12.50 or -0.00125, not 0, at most 90000000.00");
}

const COUNT_FORM = /^([a-z][a-z0-9_]{0,30})=(\d{1,13})$/;

/** "input=1200000,output=80000", each once; the API knows the names. For commander: @throws InvalidArgumentError. */
export function parseTokenCounts(text: string): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const part of text.split(",")) {
    const [, name = "", count = ""] = COUNT_FORM.exec(part.trim()) ?? [];
    if (name === "" || counts.has(name)) {
      throw new InvalidArgumentError("expected counts such as input=1200000,output=80000, each once");
    }
    counts.set(name, Number(count));
  }
  return Object.fromEntries(counts);
}

/** "50.00 USD", or "none". */
export function formatAmount(cents: unknown, currency: string): string {
  return typeof cents === "number" ? formatCents(cents, currency) : "none";
}

/** "0.001234 USD": microcents to their last digit, without zeros behind the cents. */
export function formatExactAmount(microcents: unknown, currency: string): string {
  return formatExactAmounts([microcents], currency).join();
}

/** The amounts of a column: each with as many decimals as the longest of them has. */
export function formatExactAmounts(all: readonly unknown[], currency: string): readonly string[] {
  const decimals = Math.max(CENT_DECIMALS, ...all.map((one) => fractionOf(one).replace(/0+$/, "").length));
  return all.map((one) => {
    if (typeof one !== "number") return "none";
    const whole = String(Math.trunc(Math.abs(one) / 10 ** UNIT_DECIMALS));
    return `${one < 0 ? "-" : ""}${whole}.${fractionOf(one).slice(0, decimals)} ${currency}`;
  });
}

/** All decimals of an amount; '' of none. */
function fractionOf(microcents: unknown): string {
  if (typeof microcents !== "number") return "";
  return String(Math.abs(microcents)).padStart(UNIT_DECIMALS, "0").slice(-UNIT_DECIMALS);
}
