/** Chart of the month's cumulative spend, its forecast, and the limits. */
import { scaleLinear } from "d3-scale";
import { area, line } from "d3-shape";
import { MICROCENTS_PER_CENT } from "../../../../shared/money/money.ts";
import { formatLimit, formatMoney, formatTickMoney } from "../../format.ts";
import type { DayValue } from "../usage-columns.ts";
import type { Spending } from "../limit-words.ts";
import { type Area, type Drawing, Legend, Plot, round, type Spot } from "./plot.tsx";

export interface MonthPicture {
  /** All days of the month. */
  readonly days: readonly DayValue[];
  /** Number of days that have started. */
  readonly daysBegun: number;
  readonly forecastMicrocents: number | null;
  readonly spending: Spending;
  readonly currency: string;
  readonly label: string;
}

const LABELS_OF_VALUES = 5;

export function MonthChart(picture: MonthPicture) {
  const { forecastMicrocents, currency } = picture;
  const entries = [
    { label: "spent", class: "color-0" },
    ...(forecastMicrocents === null ? [] : [{ label: "forecast", class: "forecast" }]),
    ...linesOf(picture.spending).map(({ kind, cents }) => ({
      label: `${kind} ${formatLimit(cents, currency)}${isAbove(cents, picture) ? " is above" : ""}`,
      class: kind,
    })),
  ];
  return (
    <>
      <Legend entries={entries} />
      <Plot label={picture.label} unit={currency} shape="half" draw={(size) => drawMonth(picture, size)} />
    </>
  );
}

function drawMonth(picture: MonthPicture, { width, height }: Area): Drawing {
  const { days, daysBegun, forecastMicrocents } = picture;
  const lines = linesOf(picture.spending).filter(({ cents }) => !isAbove(cents, picture));
  let sum = 0;
  const sums = days.slice(0, daysBegun).map((day) => (sum += day.microcents));
  const limits = lines.map(({ cents }) => cents * MICROCENTS_PER_CENT);
  const drawn = [...limits, ...sums, forecastMicrocents ?? 0];
  const x = scaleLinear().domain([0, days.length]).range([0, width]);
  const y = scaleLinear()
    .domain([Math.min(0, ...drawn), Math.max(1, ...drawn)])
    .range([height, 0])
    .nice(LABELS_OF_VALUES);
  const points = [0, ...sums];
  const at = (_: number, index: number): number => round(x(index));
  const surface = area<number>(at, round(y(0)), (value) => round(y(value)))(points);
  const outline = line<number>(at, (value) => round(y(value)))(points);
  const step = width / days.length;
  const every = width < 400 ? 10 : 5;
  return {
    yTicks: y.ticks(LABELS_OF_VALUES).map((value) => ({ at: y(value), label: formatTickMoney(value) })),
    xTicks: days.flatMap((_, index) =>
      index === 0 || (index + 1) % every === 0
        ? [{ at: x(index + 1) - step / 2, label: String(index + 1) }]
        : [],
    ),
    spots: listSpots(picture, sums, step),
    baseline: y(0),
    shapes: (
      <>
        <path class="area" d={surface ?? ""} />
        <path class="spend" d={outline ?? ""} />
        {forecastMicrocents === null ? null : (
          <line
            class="forecast"
            x1={round(x(sums.length))}
            y1={round(y(sum))}
            x2={width}
            y2={round(y(forecastMicrocents))}
          />
        )}
        {lines.map(({ kind, cents }) => {
          const height = round(y(cents * MICROCENTS_PER_CENT));
          return <line class={kind} x1="0" x2={width} y1={height} y2={height} />;
        })}
      </>
    ),
  };
}

/** Room above spend and forecast: a limit that is farther is only a note, so that spend fills the chart. */
const HEADROOM = 1.3;

function isAbove(cents: number, { days, forecastMicrocents }: MonthPicture): boolean {
  const spent = days.reduce((sum, { microcents }) => sum + microcents, 0);
  return cents * MICROCENTS_PER_CENT > HEADROOM * Math.max(spent, forecastMicrocents ?? 0);
}

function listSpots({ days, currency }: MonthPicture, sums: readonly number[], step: number): Spot[] {
  return sums.map((value, index) => ({
    x: (index + 0.5) * step,
    width: step,
    lines: [
      days[index]?.day ?? "",
      `${formatMoney(value, currency)} so far`,
      `${formatMoney(days[index]?.microcents ?? 0, currency)} on this day`,
    ].map((text) => ({ name: null, text })),
  }));
}

/** Lines of the limits. */
function linesOf({ monthCapCents, monthBudgetCents }: Spending) {
  const lines = [
    { kind: "cap", cents: monthCapCents },
    { kind: "budget", cents: monthBudgetCents },
  ] as const;
  return lines.flatMap(({ kind, cents }) => (cents === null ? [] : [{ kind, cents }]));
}
