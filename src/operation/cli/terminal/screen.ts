/** Output of a command: its width, and whether it has colors. */

/** Color of a text. */
export type Level = "good" | "warning" | "bad" | "quiet" | "heading";

export interface Screen {
  /** Characters per line; null if nothing is cut: a file, a pipe, `--wide`. */
  readonly columns: number | null;
  /** Returns the text in its level's color, or unchanged without colors. */
  paint(level: Level | null, text: string): string;
}

/** Required part of a stream such as `process.stdout`. */
export interface OutputStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export interface ScreenOptions {
  readonly env: NodeJS.ProcessEnv;
  /** `--wide`: nothing is cut. */
  readonly isWide?: boolean;
}

const ESCAPE = "\u001b[";
/** Select Graphic Rendition, ECMA-48 8.3.117: the terminal's own sixteen colors. */
const CODES: Readonly<Record<Level, number>> = { good: 32, warning: 33, bad: 31, quiet: 2, heading: 1 };

export function openScreen(stream: OutputStream, { env, isWide = false }: ScreenOptions): Screen {
  const hasColours = showsColours(stream, env);
  const columns = stream.columns ?? 0;
  return {
    // A terminal that does not know its width reports 0.
    columns: stream.isTTY === true && !isWide && columns > 0 ? columns : null,
    paint: (level, text) =>
      hasColours && level !== null && text !== "" ? `${ESCAPE}${CODES[level]}m${text}${ESCAPE}0m` : text,
  };
}

/**
 * Returns whether to use colors. NO_COLOR with any value: no. FORCE_COLOR: yes, even into a pipe, except "0"
 * and "false". Otherwise on a terminal that is not `dumb`.
 *
 * @see https://no-color.org and https://force-color.org
 */
function showsColours(stream: OutputStream, env: NodeJS.ProcessEnv): boolean {
  const force = env["FORCE_COLOR"] ?? "";
  if ((env["NO_COLOR"] ?? "") !== "" || force === "0" || force === "false") return false;
  if (force !== "") return true;
  return stream.isTTY === true && env["TERM"] !== "dumb";
}
