/** @jsxImportSource hono/jsx */
import { formatLimit } from "../../format.ts";
import { nameLimit, shareOf, standingOf } from "../limit-words.ts";
import type { LimitFiguresView } from "../views.ts";
import { Bar } from "./charts.tsx";

/** A mark where the cap ends without its raises. */
export function LimitBar({ limit, currency }: { limit: LimitFiguresView; currency: string }) {
  const { cents, raised_cents: raised, spent_cents: spent } = limit;
  const label = `${formatLimit(spent, currency)} of a ${nameLimit(limit)} of ${formatLimit(cents, currency)}`;
  const mark = raised === 0 || cents === 0 ? null : (cents - raised) / cents;
  return <Bar share={shareOf(limit)} level={barLevelOf(limit)} mark={mark} label={label} />;
}

function barLevelOf(limit: LimitFiguresView): "fine" | "high" | "full" {
  const standing = standingOf(limit);
  if (standing === "fine") return "fine";
  return standing === "reached" && limit.kind === "cap" ? "full" : "high";
}
