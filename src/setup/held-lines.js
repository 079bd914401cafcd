/**
 * Lines for the person at the terminal, from what is done in the background: while something else writes there, those that
 * have to be known are kept, and those that say what goes on at the moment are left out.
 *
 * @typedef {object} HeldLines
 * @property {(line: string) => void} notice what has to be known
 * @property {(line: string) => void} progress what goes on at the moment
 * @property {() => void} hold from here on something else writes to the terminal
 * @property {() => void} release it has ended: what was kept is written
 */

/**
 * @param {(line: string) => void} write
 * @returns {HeldLines}
 */
export function createHeldLines(write) {
  /** @type {string[] | null} */
  let held = null;
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
