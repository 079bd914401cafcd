/**
 * Base of every chart: axes, a grid, and values on hover and focus. Drawn on the server with d3's scales and
 * shapes, twice: for a screen and for a phone, so that texts are readable on both. Colors are classes of the
 * style sheet, in both schemes; the security policy allows no inline styles.
 */
import type { Child } from "hono/jsx";

/** Point or column with values. */
export interface Spot {
  /** Center, and width of the area that reacts to the pointer. */
  readonly x: number;
  readonly width: number;
  /** First a title, then values. */
  readonly lines: readonly SpotLine[];
  /** Address that it is a link to. Omitted: none. */
  readonly href?: string;
}

export interface SpotLine {
  /** Name of one part; shortened if necessary. Null: the text is complete. */
  readonly name: string | null;
  readonly text: string;
}

/** Size of a drawing, including or excluding its axes. */
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
  /** Unit of the axis: "USD". */
  readonly unit: string;
  /** Draws one of the two sizes. */
  readonly draw: (area: Area) => Drawing;
  /** `low`: half as high, above a list. `half`: half as wide, next to a list. */
  readonly shape?: "whole" | "low" | "half";
}

export interface Drawing {
  /** Position of zero, from the top. */
  readonly baseline: number;
  readonly xTicks: readonly Tick[];
  readonly yTicks: readonly Tick[];
  readonly spots: readonly Spot[];
  readonly shapes: Child;
}

const SCREENS = {
  whole: { width: 960, height: 296 },
  low: { width: 960, height: 150 },
  half: { width: 600, height: 290 },
} as const;
const PHONE = { width: 340, height: 246 };
const MARGIN = { top: 30, right: 24, bottom: 26, left: 64 };
const LINE_HEIGHT = 18;
/** Distance between a spot and the box of its values. */
const TIP_GAP = 6;
const TIP_PADDING = 8;
const CUT = "…: ";
/** Approximate width of a character of 13 px. */
const CHARACTER_WIDTH = 7;
/** Same in bold, as in the first line. */
const BOLD_WIDTH = 8.5;

/** Chart. A table below it has the same values. */
export function Plot({ label, unit, draw, shape = "whole" }: PlotProps) {
  const sizes = [
    { ...SCREENS[shape], class: "for-screen" },
    { ...PHONE, height: Math.min(PHONE.height, SCREENS[shape].height), class: "for-phone" },
  ];
  return (
    <>
      {sizes.map((size) => (
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

/** Area that reacts to pointer and focus; its values are in a box next to it, wherever there is space. */
function ValueSpot({ spot, area }: { spot: Spot; area: Area }) {
  const maxCharacters = Math.floor((area.width - 2 * TIP_PADDING) / CHARACTER_WIDTH);
  const lines = spot.lines.map((line) => fitLine(line, maxCharacters));
  const widths = lines.map(({ length }, index) => length * (index === 0 ? BOLD_WIDTH : CHARACTER_WIDTH));
  const width = Math.max(...widths) + 2 * TIP_PADDING;
  const height = spot.lines.length * LINE_HEIGHT + 10;
  const aside = spot.width / 2 + TIP_GAP;
  const isRightFree = spot.x + aside + width <= area.width;
  const wanted = isRightFree ? spot.x + aside : spot.x - aside - width;
  const boxX = Math.min(area.width - width, Math.max(0, wanted));
  const label = spot.lines.map((line) => fitLine(line, Infinity)).join(", ");
  const parts = (
    <>
      <rect
        class="reach"
        x={round(spot.x - spot.width / 2)}
        y="0"
        width={round(spot.width)}
        height={area.height}
      />
      <g class="tip">
        <rect x={round(boxX)} y="0" width={round(width)} height={height} rx="5" />
        {lines.map((line, index) => (
          <text x={round(boxX + TIP_PADDING)} y={(index + 1) * LINE_HEIGHT}>
            {line}
          </text>
        ))}
      </g>
    </>
  );
  return spot.href === undefined ? (
    <g class="spot" tabindex={0} role="img" aria-label={label}>
      {parts}
    </g>
  ) : (
    <a class="spot" href={spot.href} aria-label={label}>
      {parts}
    </a>
  );
}

/** Formats "ci: 3.20 USD", shortened to "the old mobile a…: 3.20 USD". */
export function fitLine({ name, text }: SpotLine, characters: number): string {
  if (name === null) return text;
  const whole = `${name}: ${text}`;
  if (whole.length <= characters) return whole;
  return `${name.slice(0, Math.max(1, characters - text.length - CUT.length))}${CUT}${text}`;
}

/** Legend of the colors. */
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
