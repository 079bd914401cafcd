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
  readonly lines: readonly SpotLine[];
}

export interface SpotLine {
  /** Of one part; cut off where there is no room. Null: the text says it all. */
  readonly name: string | null;
  readonly text: string;
}

/** Of a whole drawing, or inside of its axes. */
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
  /** What the values on the axis are: "USD". */
  readonly unit: string;
  /** Draws one of the two sizes. */
  readonly draw: (area: Area) => Drawing;
}

export interface Drawing {
  /** Where nothing is, from the top. */
  readonly baseline: number;
  readonly xTicks: readonly Tick[];
  readonly yTicks: readonly Tick[];
  readonly spots: readonly Spot[];
  readonly shapes: Child;
}

const SIZES = [
  { class: "for-screen", width: 960, height: 296 },
  { class: "for-phone", width: 340, height: 246 },
] as const;
const MARGIN = { top: 30, right: 24, bottom: 26, left: 64 };
const LINE_HEIGHT = 18;
/** Between a spot and the box of its values. */
const TIP_GAP = 6;
const TIP_PADDING = 8;
const CUT = "…: ";
/** Of a text of 13 px, about. */
const CHARACTER_WIDTH = 7;
/** Of the same in bold, as the first line is. */
const BOLD_WIDTH = 8.5;

/** A chart. Its values are in a table beneath, too. */
export function Plot({ label, unit, draw }: PlotProps) {
  return (
    <>
      {SIZES.map((size) => (
        <svg
          class={`chart ${size.class}`}
          viewBox={`0 0 ${size.width} ${size.height}`}
          role="group"
          aria-label={label}
        >
          <Framed size={size} unit={unit} drawing={draw(areaOf(size))} />
        </svg>
      ))}
    </>
  );
}

function areaOf({ width, height }: Area): Area {
  return {
    width: width - MARGIN.left - MARGIN.right,
    height: height - MARGIN.top - MARGIN.bottom,
  };
}

function Framed({ size, unit, drawing }: { size: Area; unit: string; drawing: Drawing }) {
  const area = areaOf(size);
  return (
    <g transform={`translate(${MARGIN.left} ${MARGIN.top})`}>
      <text x="-8" y="-14" text-anchor="end" aria-hidden="true">
        {unit}
      </text>
      {drawing.yTicks.map(({ at, label }) => (
        <g aria-hidden="true">
          <line class="grid" x1="0" x2={area.width} y1={round(at)} y2={round(at)} />
          <text x="-8" y={round(at + 4)} text-anchor="end">
            {label}
          </text>
        </g>
      ))}
      {drawing.shapes}
      <line class="axis" x1="0" x2={area.width} y1={round(drawing.baseline)} y2={round(drawing.baseline)} />
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

/** Takes the pointer and the focus; its values stand in a box beside it, where there is room. */
function ValueSpot({ spot, area }: { spot: Spot; area: Area }) {
  const room = Math.floor((area.width - 2 * TIP_PADDING) / CHARACTER_WIDTH);
  const lines = spot.lines.map((line) => fitLine(line, room));
  const widths = lines.map(({ length }, index) => length * (index === 0 ? BOLD_WIDTH : CHARACTER_WIDTH));
  const width = Math.max(...widths) + 2 * TIP_PADDING;
  const height = spot.lines.length * LINE_HEIGHT + 10;
  const aside = spot.width / 2 + TIP_GAP;
  const isRightFree = spot.x + aside + width <= area.width;
  const beside = isRightFree ? spot.x + aside : spot.x - aside - width;
  const left = Math.min(area.width - width, Math.max(0, beside));
  return (
    <g
      class="spot"
      tabindex={0}
      role="img"
      aria-label={spot.lines.map((line) => fitLine(line, Infinity)).join(", ")}
    >
      <rect
        class="reach"
        x={round(spot.x - spot.width / 2)}
        y="0"
        width={round(spot.width)}
        height={area.height}
      />
      <g class="tip">
        <rect x={round(left)} y="0" width={round(width)} height={height} rx="5" />
        {lines.map((line, index) => (
          <text x={round(left + TIP_PADDING)} y={(index + 1) * LINE_HEIGHT}>
            {line}
          </text>
        ))}
      </g>
    </g>
  );
}

/** "ci: 3.20 USD", or "the old mobile a…: 3.20 USD" in so many characters. */
export function fitLine({ name, text }: SpotLine, characters: number): string {
  if (name === null) return text;
  const whole = `${name}: ${text}`;
  if (whole.length <= characters) return whole;
  return `${name.slice(0, Math.max(1, characters - text.length - CUT.length))}${CUT}${text}`;
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
