/** Column chart by period, with stacked parts. */
import { scaleBand, scaleLinear } from "d3-scale";
import { line, stack, stackOffsetDiverging } from "d3-shape";
import type { ColumnSeries, ColumnTitle } from "../usage-columns.ts";
import { type Area, type Drawing, Legend, Plot, round, type SpotLine, type Tick } from "./plot.tsx";

interface StackedColumnsProps {
  readonly label: string;
  readonly columns: readonly ColumnTitle[];
  /** Largest first; those beyond the number of colors become "others". */
  readonly series: readonly ColumnSeries[];
  /** Values of the previous period, for each column; drawn as a line. */
  readonly before?: readonly number[] | null;
  /** Unit of the axis: "USD". */
  readonly unit: string;
  /** Formats a value in full, and on the axis. */
  readonly format: (value: number) => string;
  readonly formatTick: (value: number) => string;
  /** Returns the address that a column is a link to. Omitted: none. */
  readonly hrefOf?: (index: number) => string;
  readonly isLow?: boolean;
}

/** Number of distinguishable colors; the last one is for all others. */
const COLORS = 11;
const SHORTEST_TICK = 34;
const LABELS_OF_VALUES = 5;

export function StackedColumns(props: StackedColumnsProps) {
  const series = sumSmallest(props.series);
  const entries = series.map((one, index) => ({ label: one.name, class: colorOf(one, index) }));
  const before = props.before ? [{ label: "the period before", class: "before" }] : [];
  return (
    <>
      <Legend entries={[...entries, ...before]} />
      <Plot
        label={props.label}
        unit={props.unit}
        draw={(area) => drawColumns({ ...props, series }, area)}
        shape={props.isLow === true ? "low" : "whole"}
      />
    </>
  );
}

function sumSmallest(series: readonly ColumnSeries[]): readonly ColumnSeries[] {
  if (series.length <= COLORS) return series;
  const smallest = series.slice(COLORS - 1);
  const values = smallest[0]?.values.map((_, index) =>
    smallest.reduce((sum, one) => sum + (one.values[index] ?? 0), 0),
  );
  return [...series.slice(0, COLORS - 1), { name: `${smallest.length} others`, values: values ?? [] }];
}

function drawColumns(props: StackedColumnsProps, { width, height }: Area): Drawing {
  const { columns, series } = props;
  const before = props.before ?? [];
  const indexes = columns.map((_, index) => index);
  const x = scaleBand<number>().domain(indexes).range([0, width]).paddingInner(0.2);
  const layers = stack<number, number>()
    .keys(series.map((_, position) => position))
    .value((index, position) => series[position]?.values[index] ?? 0)
    // Credits are below the axis.
    .offset(stackOffsetDiverging)(indexes);
  const edges = layers.flatMap((layer) => layer.flatMap(([from, to]) => [from, to]));
  const y = scaleLinear()
    .domain([Math.min(0, ...edges, ...before), Math.max(1, ...edges, ...before)])
    .range([height, 0])
    .nice(LABELS_OF_VALUES);
  const middle = (index: number): number => (x(index) ?? 0) + x.bandwidth() / 2;
  const path = line<number>((_, index) => middle(index), y);
  return {
    yTicks: y.ticks(LABELS_OF_VALUES).map((value) => ({ at: y(value), label: props.formatTick(value) })),
    xTicks: listTicks(columns, middle, width),
    spots: indexes.map((index) => ({
      x: middle(index),
      width: x.step(),
      lines: describeColumn({ ...props, before }, index),
      ...(props.hrefOf && { href: props.hrefOf(index) }),
    })),
    baseline: y(0),
    shapes: (
      <>
        {layers.map((layer, position) => (
          <g class={colorOf(series[position], position)}>
            {layer.map(([from, to], index) =>
              to > from ? (
                <rect
                  x={round(x(index) ?? 0)}
                  y={round(y(to))}
                  width={round(x.bandwidth())}
                  height={round(y(from) - y(to))}
                />
              ) : null,
            )}
          </g>
        ))}
        {before.length === 0 ? null : <path class="before" d={path(before) ?? ""} />}
      </>
    ),
  };
}

/** Lists the lines of a column's tooltip: title, sum, parts, and the sum in the previous period. */
function describeColumn({ columns, series, before, format }: StackedColumnsProps, index: number): SpotLine[] {
  const total = series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0);
  const parts = series.filter(({ values }) => series.length > 1 && (values[index] ?? 0) !== 0);
  const former = before?.[index];
  return [
    { name: null, text: columns[index]?.title ?? "" },
    { name: null, text: format(total) },
    ...parts.map(({ name, values }) => ({ name, text: format(values[index] ?? 0) })),
    ...(former === undefined ? [] : [{ name: "before", text: format(former) }]),
  ];
}

/** Lists as many labels as fit next to each other. */
function listTicks(
  columns: StackedColumnsProps["columns"],
  middle: (index: number) => number,
  width: number,
): Tick[] {
  const longest = Math.max(...columns.map(({ short }) => short.length * 8 + 8), SHORTEST_TICK);
  const every = Math.max(1, Math.ceil((columns.length * longest) / width));
  return columns.flatMap(({ short }, index) =>
    index % every === 0 ? [{ at: middle(index), label: short }] : [],
  );
}

function colorOf(series: ColumnSeries | undefined, position: number): string {
  return series?.class ?? `color-${position % COLORS}`;
}
