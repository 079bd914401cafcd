/** Difference between two texts, shown before one of them is written. */
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from "diff";
import type { Level, Screen } from "./terminal/screen.ts";

const CONTEXT_LINES = 3;
/** Lines with the names of both files. */
const HEADING_LINES = 2;

/** Formats the difference as `diff -u` does; "" for equal texts. */
export function formatUnifiedDiff(before: string, after: string, file: string): string {
  if (before === after) return "";
  const options = { context: CONTEXT_LINES, headerOptions: FILE_HEADERS_ONLY };
  return createTwoFilesPatch(file, `${file} (merged)`, before, after, undefined, undefined, options);
}

/** Colors a unified diff if the screen has colors. */
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
