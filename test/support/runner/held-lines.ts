/**
 * Lines for the person at the terminal, from what is done in the background: while something else writes there, those that
 * have to be known are kept, and those that say what goes on at the moment are left out.
 */
export interface HeldLines {
  /** What has to be known. */
  readonly notice: (line: string) => void;
  /** What goes on at the moment. */
  readonly progress: (line: string) => void;
  /** From here on something else writes to the terminal. */
  readonly hold: () => void;
  /** It has ended: what was kept is written. */
  readonly release: () => void;
}

export function createHeldLines(write: (line: string) => void): HeldLines {
  let held: string[] | null = null;
  return {
    notice: (line) => void (held === null ? write(line) : held.push(line)),
    progress: (line) => void (held === null && write(line)),
    hold: () => void (held ??= []),
    release: () => {
      const kept = held ?? [];
      held = null;
      for (const line of kept) write(line);
    },
  };
}
