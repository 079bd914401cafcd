/** @jsxImportSource hono/jsx */
/**
 * What every chart has: axes, a grid, and values that appear on hover and on focus. Drawn on the server with d3's
 * scales and shapes, twice: for a screen and for a phone, so that texts keep their size and have room on both. Colours
 * are classes of the style sheet, in both schemes; the security policy lets no style in here.
 */
import type { Child } from "hono/jsx";

/** A point or a column that tells its values. */
export interface Spot {
  /** Its middle, and how wide the stretch is in which the pointer finds it. */
  readonly x: number;
  readonly width: number;
  /** First what it is, then its values. */
  readonly lines: readonly string[];
}

/** Inside of the axes. */
export interface Area {
  readonly width: number;
  readonly height: number;
}

export interface Tick {
  readonly at: number;
  readonly label: string;
}

interface PlotProps {
  readonly label: string;
  /** Draws one of the two sizes. */
  readonly draw: (area: Area) => Drawing;
}

export interface Drawing {
  readonly xTicks: readonly Tick[];
  readonly yTicks: readonly Tick[];
  readonly spots: readonly Spot[];
  readonly shapes: Child;
}

const SIZES = [
  { class: "for-screen", width: 960, height: 280 },
  { class: "for-phone", width: 340, height: 230 },
] as const;
const MARGIN = { top: 14, right: 12, bottom: 26, left: 64 };
const LINE_HEIGHT = 18;
/** Of a text of 13 px, about. */
const CHARACTER_WIDTH = 7;

/** A chart. Its values are in a table beneath, too. */
export function Plot({ label, draw }: PlotProps) {
  return (
    <>
      {SIZES.map((size) => (
        <svg
          class={`chart ${size.class}`}
          viewBox={`0 0 ${size.width} ${size.height}`}
          role="group"
          aria-label={label}
        >
          <Framed size={size} drawing={draw(areaOf(size))} />
        </svg>
      ))}
    </>
  );
}

function areaOf({ width, height }: { width: number; height: number }): Area {
  return {
    width: width - MARGIN.left - MARGIN.right,
    height: height - MARGIN.top - MARGIN.bottom,
  };
}

function Framed({ size, drawing }: { size: { width: number; height: number }; drawing: Drawing }) {
  const area = areaOf(size);
  return (
    <g transform={`translate(${MARGIN.left} ${MARGIN.top})`}>
      {drawing.yTicks.map(({ at, label }) => (
        <g aria-hidden="true">
          <line class="grid" x1="0" x2={area.width} y1={round(at)} y2={round(at)} />
          <text x="-8" y={round(at + 4)} text-anchor="end">
            {label}
          </text>
        </g>
      ))}
      {drawing.shapes}
      <line class="axis" x1="0" x2={area.width} y1={area.height} y2={area.height} />
      {drawing.xTicks.map(({ at, label }) => (
        <text x={round(at)} y={area.height + 18} text-anchor="middle" aria-hidden="true">
          {label}
        </text>
      ))}
      {drawing.spots.map((spot) => (
        <ValueSpot spot={spot} area={area} />
      ))}
    </g>
  );
}

/** Takes the pointer and the focus; its values stand in a box at the top. */
function ValueSpot({ spot, area }: { spot: Spot; area: Area }) {
  const longest = Math.max(...spot.lines.map((line) => line.length));
  const width = Math.min(area.width, longest * CHARACTER_WIDTH + 16);
  const height = spot.lines.length * LINE_HEIGHT + 10;
  const left = Math.min(area.width - width, Math.max(0, spot.x - width / 2));
  return (
    <g class="spot" tabindex={0} role="img" aria-label={spot.lines.join(", ")}>
      <rect
        class="reach"
        x={round(spot.x - spot.width / 2)}
        y="0"
        width={round(spot.width)}
        height={area.height}
      />
      <g class="tip">
        <rect x={round(left)} y="0" width={round(width)} height={height} rx="5" />
        {spot.lines.map((line, index) => (
          <text x={round(left + 8)} y={(index + 1) * LINE_HEIGHT}>
            {line}
          </text>
        ))}
      </g>
    </g>
  );
}

/** What the colours mean. */
export function Legend({
  entries,
}: {
  entries: readonly { readonly label: string; readonly class: string }[];
}) {
  return (
    <ul class="legend">
      {entries.map((entry) => (
        <li>
          <svg viewBox="0 0 14 14" aria-hidden="true">
            <rect class={entry.class} width="14" height="14" rx="3" />
          </svg>
          <bdi>{entry.label}</bdi>
        </li>
      ))}
    </ul>
  );
}

export function round(value: number): number {
  return Math.round(value * 100) / 100;
}
