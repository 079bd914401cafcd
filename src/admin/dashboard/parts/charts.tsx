/** @jsxImportSource hono/jsx */
/** Pictures drawn on the server. Colours are classes of the style sheet: the security policy lets no style in here. */
import { MICROCENTS_PER_CENT } from "../../../money.ts";
import { formatLimit, formatMoney } from "../../format.ts";
import type { Spending } from "../spending.ts";

interface SpendBarProps {
  readonly spending: Spending;
  readonly currency: string;
}

/** A bar up to the cap (or the budget), a mark at the budget. */
export function SpendBar({ spending, currency }: SpendBarProps) {
  const { spentMicrocents, hardCapCents, budgetCents } = spending;
  const fullCents = hardCapCents ?? budgetCents;
  if (fullCents === null) return <span class="quiet">no cap, no budget</span>;
  const full = Math.max(fullCents * MICROCENTS_PER_CENT, 1);
  const share = Math.min(1, Math.max(0, spentMicrocents / full));
  const level = hardCapCents !== null && share >= 1 ? "full" : share >= 0.9 ? "high" : "fine";
  const mark =
    hardCapCents !== null && budgetCents !== null
      ? Math.min(1, (budgetCents * MICROCENTS_PER_CENT) / full)
      : null;
  const of = hardCapCents === null ? "budget" : "cap";
  const label = `${formatMoney(spentMicrocents, currency)} of a ${of} of ${formatLimit(fullCents, currency)}`;
  return (
    <svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label={label}>
      <title>{label}</title>
      <rect class="track" x="0" y="0" width="100" height="8" />
      <rect class={level} x="0" y="0" width={round(share * 100)} height="8" />
      {mark === null ? null : <rect class="mark" x={round(mark * 99)} y="0" width="0.7" height="8" />}
    </svg>
  );
}

interface ShareBarProps {
  readonly value: number;
  readonly maximum: number;
  readonly label: string;
}

/** One value against the largest of its list. */
export function ShareBar({ value, maximum, label }: ShareBarProps) {
  const width = maximum <= 0 ? 0 : round((Math.max(0, value) / maximum) * 100);
  return (
    <svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label={label}>
      <title>{label}</title>
      <rect class="track" x="0" y="0" width="100" height="8" />
      <rect class="fine" x="0" y="0" width={width} height="8" />
    </svg>
  );
}

export interface DayValue {
  /** "2026-11-21" */
  readonly day: string;
  readonly microcents: number;
}

const WIDTH = 900;
const HEIGHT = 220;
const TOP = 34;

/** A column for each day of a month. */
export function DayChart({ days, currency }: { days: readonly DayValue[]; currency: string }) {
  const largest = Math.max(1, ...days.map((day) => day.microcents));
  const step = WIDTH / days.length;
  const total = days.reduce((sum, day) => sum + day.microcents, 0);
  return (
    <svg
      class="chart"
      viewBox={`0 0 ${WIDTH} ${HEIGHT + 32}`}
      role="img"
      aria-label={`Spend day by day, ${formatMoney(total, currency)} in all`}
    >
      <line class="axis" x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} />
      {days.map(({ day, microcents }, index) => {
        const height = microcents <= 0 ? 0 : Math.max(2, (microcents / largest) * (HEIGHT - TOP));
        return (
          <g>
            <rect
              class="column"
              x={round(index * step + 2)}
              y={round(HEIGHT - height)}
              width={round(step - 4)}
              height={round(height)}
              rx="2"
            >
              <title>{`${day}: ${formatMoney(microcents, currency)}`}</title>
            </rect>
            {(index + 1) % 5 === 0 || index === 0 ? (
              <text x={round(index * step + step / 2)} y={HEIGHT + 26} text-anchor="middle">
                {String(index + 1)}
              </text>
            ) : null}
          </g>
        );
      })}
      {total === 0 ? null : <text x="0" y="22">{`most in a day: ${formatMoney(largest, currency)}`}</text>}
    </svg>
  );
}

export interface MonthPicture {
  /** Of every day of the month. */
  readonly days: readonly DayValue[];
  /** How many of them have begun. */
  readonly daysBegun: number;
  readonly forecastMicrocents: number | null;
  readonly spending: Spending;
  readonly currency: string;
  readonly label: string;
}

/** The month's spend as it adds up, where it is heading, and the lines that it is held against. */
export function MonthChart(picture: MonthPicture) {
  const { days, daysBegun, forecastMicrocents, currency } = picture;
  const { hardCapCents, budgetCents } = picture.spending;
  let sum = 0;
  const sums = days.slice(0, daysBegun).map((day) => (sum += day.microcents));
  const limits = [hardCapCents, budgetCents].map((cents) =>
    cents === null ? 0 : cents * MICROCENTS_PER_CENT,
  );
  const top = Math.max(1, ...limits, ...sums, forecastMicrocents ?? 0) * 1.05;
  const x = (day: number): number => round((day / days.length) * WIDTH);
  const y = (value: number): number => round(HEIGHT - (Math.max(0, value) / top) * (HEIGHT - TOP));
  const line = [`0,${HEIGHT}`, ...sums.map((value, index) => `${x(index + 1)},${y(value)}`)].join(" ");
  return (
    <svg class="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT + 32}`} role="img" aria-label={picture.label}>
      <polygon class="area" points={`${line} ${x(sums.length)},${HEIGHT}`} />
      <polyline class="spend" points={line} />
      {forecastMicrocents === null ? null : (
        <line class="forecast" x1={x(sums.length)} y1={y(sum)} x2={WIDTH} y2={y(forecastMicrocents)} />
      )}
      {limitLine("cap", hardCapCents, y, currency)}
      {limitLine("budget", budgetCents, y, currency)}
      <line class="axis" x1="0" x2={WIDTH} y1={HEIGHT} y2={HEIGHT} />
      <text x="0" y={HEIGHT + 26}>
        1
      </text>
      <text x={WIDTH} y={HEIGHT + 26} text-anchor="end">
        {String(days.length)}
      </text>
    </svg>
  );
}

function limitLine(
  kind: "cap" | "budget",
  cents: number | null,
  y: (value: number) => number,
  currency: string,
) {
  if (cents === null) return null;
  const height = y(cents * MICROCENTS_PER_CENT);
  return (
    <g>
      <line class={kind} x1="0" x2={WIDTH} y1={height} y2={height} />
      <text x={kind === "cap" ? 4 : WIDTH - 4} y={height - 5} text-anchor={kind === "cap" ? "start" : "end"}>
        {`${kind} ${formatLimit(cents, currency)}`}
      </text>
    </g>
  );
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
