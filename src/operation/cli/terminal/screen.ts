/** What a command writes to: how wide it is, and whether it shows colours. */

/** Which of the terminal's own colours a text is shown in. */
export type Level = "good" | "warning" | "bad" | "quiet" | "heading";

export interface Screen {
  /** Characters in a line; null where nothing is cut: a file, a pipe, `--wide`. */
  readonly columns: number | null;
  /** The text in the colour of its level; as it is where there are no colours. */
  paint(level: Level | null, text: string): string;
}

/** As much of a stream as is needed here; `process.stdout` is one. */
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
/** Select Graphic Rendition, ECMA-48 8.3.117: the sixteen colours that each terminal has in its own shades. */
const CODES: Readonly<Record<Level, number>> = { good: 32, warning: 33, bad: 31, quiet: 2, heading: 1 };

export function openScreen(stream: OutputStream, { env, isWide = false }: ScreenOptions): Screen {
  const hasColours = showsColours(stream, env);
  const columns = stream.columns ?? 0;
  return {
    // A terminal that does not know its width says 0.
    columns: stream.isTTY === true && !isWide && columns > 0 ? columns : null,
    paint: (level, text) =>
      hasColours && level !== null && text !== "" ? `${ESCAPE}${CODES[level]}m${text}${ESCAPE}0m` : text,
  };
}

/**
 * NO_COLOR with any value: none. FORCE_COLOR: even into a pipe, but for "0" and "false", which mean none. Else on a
 * terminal that is not `dumb`.
 *
 * @see https://no-color.org and https://force-color.org
 */
function showsColours(stream: OutputStream, env: NodeJS.ProcessEnv): boolean {
  const force = env["FORCE_COLOR"] ?? "";
  if ((env["NO_COLOR"] ?? "") !== "" || force === "0" || force === "false") return false;
  if (force !== "") return true;
  return stream.isTTY === true && env["TERM"] !== "dumb";
}
