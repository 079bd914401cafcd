/** How wide each column of a table is on a screen. */

export interface ColumnInput {
  readonly header: string;
  /** Of its longest cell. */
  readonly width: number;
  /** Cut it would say something else: a figure, a time, an id. */
  readonly isWhole: boolean;
  /** May be left out. */
  readonly isExtra: boolean;
}

export interface FittedColumns {
  /** For each column; null: it is left out. */
  readonly widths: readonly (number | null)[];
  /** Headers of those. */
  readonly leftOut: readonly string[];
}

/** A text of which less is seen says nothing. */
const MIN_TEXT_WIDTH = 8;
/** Of that much, which most names and codes fit into, more is worth than a further column. */
const GOOD_TEXT_WIDTH = 24;

/**
 * Leaves out the extra columns, from the right, before it cuts texts so far that they are hard to read, the longest
 * first, and then the others. What is left is at most so many columns of the screen wide.
 */
export function fitColumns(
  columns: readonly ColumnInput[],
  available: number | null,
  gap: number,
): FittedColumns {
  if (available === null) return { widths: columns.map(({ width }) => width), leftOut: [] };
  const sum = (widths: readonly number[]): number =>
    widths.reduce((total, width) => total + width, 0) + gap * Math.max(0, widths.length - 1);
  const kept = [...columns];
  const isTooWide = (textWidth: number) =>
    sum(kept.map((column) => leastWidth(column, textWidth))) > available;
  const lastExtra = () => kept.findLastIndex(({ isExtra }) => isExtra);
  for (let extra = lastExtra(); extra !== -1 && isTooWide(GOOD_TEXT_WIDTH); extra = lastExtra()) {
    kept.splice(extra, 1);
  }
  while (isTooWide(MIN_TEXT_WIDTH) && kept.length > 1) kept.pop();
  const widths = new Map(kept.map((column) => [column, column.width]));
  while (sum([...widths.values()]) > available) {
    const [widest] = kept
      .filter((column) => (widths.get(column) ?? 0) > leastWidth(column, MIN_TEXT_WIDTH))
      .toSorted((left, right) => (widths.get(right) ?? 0) - (widths.get(left) ?? 0));
    // One column that is wider than the screen by itself.
    if (widest === undefined) break;
    widths.set(widest, (widths.get(widest) ?? 0) - 1);
  }
  return {
    widths: columns.map((column) => {
      const width = widths.get(column);
      return width === undefined ? null : Math.min(width, available);
    }),
    leftOut: columns.filter((column) => !widths.has(column)).map(({ header }) => header),
  };
}

function leastWidth({ width, isWhole }: ColumnInput, textWidth: number): number {
  return isWhole ? width : Math.min(width, textWidth);
}
