/**
 * Temporary increases of caps. While one is active, the cap of its period is higher by its amount, to the
 * millisecond by Redis's clock (`lua/include/limits.lua`); the cap itself is not edited, so it need not be
 * reset. Increases are shown with their owner's settings, and created and ended by separate calls.
 */
import * as z from "zod";
import { MAX_CENTS } from "../money/money.ts";
import { actor, timestamp } from "./input-schemas.ts";
import { LIMIT_PERIODS, type Limit, type LimitPeriod } from "./limits.ts";
import type { Kind } from "./setting.ts";

/** Maximum number of active increases per owner. */
export const MAX_RAISES = 4;

/** A type instead of an interface, so that it is a value of the audit log. */
export type Raise = {
  /** "raise_…" */
  readonly id: string;
  readonly period: LimitPeriod;
  readonly cents: number;
  /** Time from which it has no effect. */
  readonly expiresAtMs: number;
  readonly reason: string;
  /** Actor as in the audit log. */
  readonly createdBy: z.output<ReturnType<typeof actor>>;
};

/** Schema in API responses. */
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
/** Fields that scripts ignore, in a form without spaces and commas. */
const storedDetails = storedRaise.pick({ id: true, reason: true, createdBy: true });
const STORED_ROW = new RegExp(`^(${LIMIT_PERIODS.join("|")}) (\\d+) (\\d+):(\\S+)$`);

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

/** Row `raises` of an owner. */
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

/** Returns the increases that are active at a time. */
export function liveRaises(raises: readonly Raise[], nowMs: number): readonly Raise[] {
  return raises.filter(({ expiresAtMs }) => nowMs < expiresAtMs);
}

/** Returns the cap of this period with its active increases. */
export function raisedCap(
  cents: number,
  raises: readonly Raise[],
  { period, nowMs }: { readonly period: LimitPeriod; readonly nowMs: number },
): number {
  const ofPeriod = liveRaises(raises, nowMs).filter((raise) => raise.period === period);
  return Math.min(
    MAX_CENTS,
    ofPeriod.reduce((sum, raise) => sum + raise.cents, cents),
  );
}

/** Returns the periods with a cap that can be increased. */
export function raisablePeriods(limits: readonly Limit[]): readonly LimitPeriod[] {
  return LIMIT_PERIODS.filter((period) =>
    limits.some((limit) => limit.period === period && limit.kind === "cap"),
  );
}

/** Formats "week 5000 1764547200000:…,…" for scripts in Redis; '' for none. */
function formatRaises(all: readonly Raise[]): string {
  return all
    .map(({ period, cents, expiresAtMs, ...details }) => {
      const rest = encodeURIComponent(JSON.stringify(storedDetails.parse(details)));
      return `${period} ${cents} ${expiresAtMs}:${rest}`;
    })
    .join(",");
}

/** @throws TypeError, SyntaxError or ZodError if the text was not written by `formatRaises`. */
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
