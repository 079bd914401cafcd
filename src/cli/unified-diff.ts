/**
 * The difference between two texts as `diff -u` shows it, for a person to read before something is written.
 *
 * The package `diff` (`createTwoFilesPatch`) would do as well, for the one place that needs it. What stands here is the
 * same algorithm, is held against `patch` itself by a test, and has not changed since; a package would be one more in the
 * image of a program that holds keys.
 */
import type { Level, Screen } from "./terminal/screen.ts";

const CONTEXT_LINES = 3;
/** The names of both files. */
const HEADING_LINES = 2;

interface Line {
  readonly sign: " " | "-" | "+";
  readonly text: string;
}

/** "" when they are equal. */
export function formatUnifiedDiff(before: string, after: string, file: string): string {
  if (before === after) return "";
  const lines = compareLines(toLines(before), toLines(after));
  const hunks = listHunks(lines).map(([from, to]) => formatHunk(lines, from, to));
  return [`--- ${file}`, `+++ ${file} (merged)`, ...hunks, ""].join("\n");
}

/** `patch` wants to know of a last line without a break. */
function toLines(text: string): string[] {
  const lines = text.split("\n");
  const last = lines.pop();
  return last === "" || last === undefined ? lines : [...lines, `${last}\n\\ No newline at end of file`];
}

/**
 * The shortest way from one list of lines to the other.
 * @see E. W. Myers, An O(ND) Difference Algorithm and Its Variations (1986)
 */
function compareLines(before: readonly string[], after: readonly string[]): Line[] {
  const [most, trace] = [before.length + after.length, [] as Map<number, number>[]];
  let furthest = new Map<number, number>([[1, 0]]);
  for (let edits = 0; edits <= most; edits += 1) {
    trace.push(new Map(furthest));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = stepsDown(furthest, diagonal, edits)
        ? (furthest.get(diagonal + 1) ?? 0)
        : (furthest.get(diagonal - 1) ?? 0) + 1;
      while (x < before.length && x - diagonal < after.length && before[x] === after[x - diagonal]) x += 1;
      furthest.set(diagonal, x);
      if (x >= before.length && x - diagonal >= after.length) return walkBack(trace, before, after);
    }
  }
  return [];
}

function stepsDown(furthest: ReadonlyMap<number, number>, diagonal: number, edits: number): boolean {
  if (diagonal === -edits) return true;
  return diagonal !== edits && (furthest.get(diagonal - 1) ?? 0) < (furthest.get(diagonal + 1) ?? 0);
}

function walkBack(
  trace: readonly ReadonlyMap<number, number>[],
  before: readonly string[],
  after: readonly string[],
): Line[] {
  const lines: Line[] = [];
  let [x, y] = [before.length, after.length];
  for (let edits = trace.length - 1; edits >= 0; edits -= 1) {
    const furthest = trace[edits] ?? new Map<number, number>();
    const diagonal = x - y;
    const isDown = stepsDown(furthest, diagonal, edits);
    const from = furthest.get(isDown ? diagonal + 1 : diagonal - 1) ?? 0;
    const fromY = from - (isDown ? diagonal + 1 : diagonal - 1);
    while (x > from && y > fromY && x > 0 && y > 0) {
      lines.push({ sign: " ", text: before[--x] ?? "" });
      y -= 1;
    }
    if (edits === 0) break;
    if (isDown) lines.push({ sign: "+", text: after[--y] ?? "" });
    else lines.push({ sign: "-", text: before[--x] ?? "" });
  }
  return lines.toReversed();
}

/** Places of the changes, with the lines around them, as [from, to). */
function listHunks(lines: readonly Line[]): [number, number][] {
  const hunks: [number, number][] = [];
  for (const [index, { sign }] of lines.entries()) {
    if (sign === " ") continue;
    const [from, to] = [
      Math.max(0, index - CONTEXT_LINES),
      Math.min(lines.length, index + CONTEXT_LINES + 1),
    ];
    const last = hunks.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = to;
    else hunks.push([from, to]);
  }
  return hunks;
}

function formatHunk(lines: readonly Line[], from: number, to: number): string {
  const count = (part: readonly Line[], without: Line["sign"]) =>
    part.filter(({ sign }) => sign !== without).length;
  const [above, hunk] = [lines.slice(0, from), lines.slice(from, to)];
  const range = (without: Line["sign"]) => {
    const length = count(hunk, without);
    // Of nothing, the line above it is named.
    return `${count(above, without) + (length === 0 ? 0 : 1)},${length}`;
  };
  const body = hunk.map(({ sign, text }) => sign + text);
  return [`@@ -${range("+")} +${range("-")} @@`, ...body].join("\n");
}

/** The same in colours, where the screen has them. */
export function paintDiff(screen: Screen, diff: string): string {
  return diff
    .split("\n")
    .map((line, index) => screen.paint(index < HEADING_LINES ? "heading" : levelOf(line), line))
    .join("\n");
}

function levelOf(line: string): Level | null {
  if (line.startsWith("@@")) return "quiet";
  if (line.startsWith("+")) return "good";
  return line.startsWith("-") ? "bad" : null;
}
