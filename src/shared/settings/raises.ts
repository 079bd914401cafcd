/**
 * Temporary raises of caps. As long as one is live, the cap of its period is so much higher, to the millisecond by Redis's
 * clock (`lua/include/limits.lua`); the cap itself is never edited, so nobody has to set it back. They are shown with the
 * settings of whoever has them, and made and ended by calls of their own.
 */
import * as z from "zod";
import { MAX_CENTS } from "../money/money.ts";
import { actor, timestamp } from "./input-schemas.ts";
import { LIMIT_PERIODS, type Limit, type LimitPeriod } from "./limits.ts";
import type { Kind } from "./setting.ts";

/** Of one owner, live at the same time. */
export const MOST_RAISES = 4;

/** A type, no interface: it is a value of the audit log. */
export type Raise = {
  /** "raise_…" */
  readonly id: string;
  readonly period: LimitPeriod;
  readonly cents: number;
  /** From then on it is nothing. */
  readonly expiresAtMs: number;
  readonly reason: string;
  /** As the audit log has them. */
  readonly createdBy: z.output<ReturnType<typeof actor>>;
};

/** As the API shows it. */
export const shownRaise = z.strictObject({
  id: z.string().meta({ examples: ["raise_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11"] }),
  period: z.enum(LIMIT_PERIODS),
  add_cents: z.int(),
  expires_at: timestamp(),
  reason: z.string(),
  created_by: actor(),
});
export type ShownRaise = z.output<typeof shownRaise>;

const storedRaise = z.object({
  id: z.string(),
  period: z.enum(LIMIT_PERIODS),
  cents: z.int(),
  expiresAtMs: z.int(),
  reason: z.string(),
  createdBy: actor(),
});
/** What scripts do not read: in a form that has neither blanks nor commas. */
const storedDetails = storedRaise.pick({ id: true, reason: true, createdBy: true });
const STORED_ROW = /^(day|week|month|total) (\d+) (\d+):(\S+)$/;

function raises(): Kind<readonly Raise[], readonly ShownRaise[], readonly ShownRaise[]> {
  const output: z.ZodType<readonly ShownRaise[]> = z.array(shownRaise);
  return {
    notation: "raises",
    values: "a list, changed by `…/raises`",
    input: output,
    output,
    stored: z.array(storedRaise),
    convert: (_shown, current) => current,
    describe: (all) => all.map(describeRaise),
    format: formatRaises,
    parse: parseRaises,
  };
}

/** The row `raises` of an owner. */
export const RAISES_ROW = {
  apiName: "raises",
  field: "raises",
  kind: raises(),
  default: [],
  changedBy: "ownCalls",
  description: "Temporary increases of its caps.",
  label: "Temporary increases",
  cli: { label: "raises", none: "none" },
} as const;

export function describeRaise(raise: Raise): ShownRaise {
  return {
    id: raise.id,
    period: raise.period,
    add_cents: raise.cents,
    expires_at: new Date(raise.expiresAtMs).toISOString(),
    reason: raise.reason,
    created_by: raise.createdBy,
  };
}

/** Those that count at a moment. */
export function liveRaises(raises: readonly Raise[], nowMs: number): readonly Raise[] {
  return raises.filter(({ expiresAtMs }) => nowMs < expiresAtMs);
}

/** A cap of this period with what is live. */
export function raisedCap(
  cents: number | null,
  raises: readonly Raise[],
  { period, nowMs }: { readonly period: LimitPeriod; readonly nowMs: number },
): number | null {
  if (cents === null) return null;
  const ofPeriod = liveRaises(raises, nowMs).filter((raise) => raise.period === period);
  return Math.min(
    MAX_CENTS,
    ofPeriod.reduce((sum, raise) => sum + raise.cents, cents),
  );
}

/** The periods of which there is a cap to raise. */
export function raisablePeriods(limits: readonly Limit[]): readonly LimitPeriod[] {
  return LIMIT_PERIODS.filter((period) =>
    limits.some((limit) => limit.period === period && limit.kind === "cap"),
  );
}

/** "week 5000 1764547200000:…,…", as scripts in Redis read it; '' for none. */
function formatRaises(all: readonly Raise[]): string {
  return all
    .map(({ period, cents, expiresAtMs, ...details }) => {
      const rest = encodeURIComponent(JSON.stringify(storedDetails.parse(details)));
      return `${period} ${cents} ${expiresAtMs}:${rest}`;
    })
    .join(",");
}

/** @throws TypeError, SyntaxError or ZodError when it is none that `formatRaises` writes. */
function parseRaises(text: string): readonly Raise[] {
  if (text === "") return [];
  return text.split(",").map((row) => {
    const [, period, cents, expiresAtMs, details] = STORED_ROW.exec(row) ?? [];
    if (details === undefined) throw new TypeError(`"${row}" is no raise`);
    return {
      period: period as LimitPeriod,
      cents: Number(cents),
      expiresAtMs: Number(expiresAtMs),
      ...storedDetails.parse(JSON.parse(decodeURIComponent(details))),
    };
  });
}
