/** A picture of a curve: panels below each other that share their values on the horizontal axis. Plain SVG, no program needed. */

export interface ChartSeries {
  readonly name: string;
  readonly values: readonly number[];
}

export interface ChartPanel {
  /** With its unit. */
  readonly title: string;
  readonly series: readonly ChartSeries[];
}

export interface Chart {
  readonly title: string;
  /** What the labels are values of. */
  readonly condition: string;
  readonly labels: readonly string[];
  readonly panels: readonly ChartPanel[];
}

const WIDTH = 640;
const PANEL_HEIGHT = 150;
const GAP = 46;
const LEFT = 70;
const RIGHT = 150;
const TOP = 44;
const BOTTOM = 40;
/** Told apart without red or green, on light and dark grounds. */
const COLORS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7"];
/** One picture for light and dark pages. */
const STYLE =
  "text{font-family:sans-serif;fill:#1f2328} rect.ground{fill:#fff} line{stroke:#d1d9e0}" +
  " @media (prefers-color-scheme:dark){text{fill:#f0f6fc} rect.ground{fill:#0d1117} line{stroke:#3d444d}}";

export function drawChart(chart: Chart): string {
  const { title, condition, labels, panels } = chart;
  const height = TOP + panels.length * (PANEL_HEIGHT + GAP) + BOTTOM - GAP;
  const foot = height - 8;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img">`,
    `<title>${escapeXml(title)}</title>`,
    `<style>${STYLE}</style>`,
    `<rect class="ground" width="${WIDTH}" height="${height}"/>`,
    `<text x="${LEFT}" y="20" font-size="14">${escapeXml(title)}</text>`,
    ...panels.flatMap((panel, index) => drawPanel(panel, labels, TOP + index * (PANEL_HEIGHT + GAP))),
    ...labels.map(
      (label, index) =>
        `<text x="${xOf(index, labels.length)}" y="${foot - 16}" font-size="11" text-anchor="middle">${escapeXml(label)}</text>`,
    ),
    `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${foot}" font-size="11" text-anchor="middle">${escapeXml(condition)}</text>`,
    "</svg>\n",
  ].join("\n");
}

function drawPanel({ title, series }: ChartPanel, labels: readonly string[], top: number): string[] {
  const largest = roundUp(Math.max(...series.flatMap(({ values }) => values), 0));
  const bottom = top + PANEL_HEIGHT;
  const yOf = (value: number): number => round(bottom - (value / largest) * (PANEL_HEIGHT - 14));
  const lines = [0, largest / 2, largest].map((value) => {
    const y = yOf(value);
    return (
      `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y}" y2="${y}"/>` +
      `<text x="${LEFT - 6}" y="${y + 4}" font-size="11" text-anchor="end">${formatNumber(value)}</text>`
    );
  });
  return [
    `<text x="${LEFT}" y="${top}" font-size="12">${escapeXml(title)}</text>`,
    ...lines,
    ...series.flatMap(({ name, values }, index) => {
      const color = COLORS[index % COLORS.length] ?? "#000";
      const points = values.map((value, place) => `${xOf(place, labels.length)},${yOf(value)}`);
      const y = top + 18 + index * 16;
      return [
        `<polyline points="${points.join(" ")}" fill="none" stroke="${color}" stroke-width="2"/>`,
        ...points.map((point) => {
          const [x = "0", atY = "0"] = point.split(",");
          return `<circle cx="${x}" cy="${atY}" r="3" fill="${color}"/>`;
        }),
        `<rect x="${WIDTH - RIGHT + 14}" y="${y - 9}" width="10" height="10" fill="${color}"/>`,
        `<text x="${WIDTH - RIGHT + 30}" y="${y}" font-size="11">${escapeXml(name)}</text>`,
      ];
    }),
  ];
}

/** Values stand at even distances: most conditions grow by powers. */
function xOf(index: number, count: number): number {
  const width = WIDTH - LEFT - RIGHT;
  return round(LEFT + (count === 1 ? width / 2 : 20 + (index * (width - 40)) / (count - 1)));
}

/** The next of 1, 2, 5 times a power of ten. */
function roundUp(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value) ?? value;
}

function formatNumber(value: number): string {
  return value >= 10 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(2)));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
