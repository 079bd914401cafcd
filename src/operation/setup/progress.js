/** Work is announced after this time; shorter work would only flicker. */
const QUIET_MS = 1_000;
const REPEAT_MS = 10_000;

/**
 * Awaits `work` and reports progress on stderr: `<task> …` once it lasts, then `<task> … 10 s` every ten
 * seconds. Prints nothing on stdout, which belongs to `--json`.
 *
 * @template T
 * @param {string} task "Installing npm packages"
 * @param {() => Promise<T>} work
 * @param {{write?: (line: string) => void, quietMs?: number, repeatMs?: number}} [options]
 * @returns {Promise<T>}
 */
export async function withProgress(task, work, options = {}) {
  const write = options.write ?? ((line) => void process.stderr.write(`${line}\n`));
  const startedAtMs = performance.now();
  /** @type {NodeJS.Timeout | undefined} */
  let repeated;
  const first = setTimeout(() => {
    write(`${task} …`);
    repeated = setInterval(() => {
      write(`${task} … ${Math.round((performance.now() - startedAtMs) / 1000)} s`);
    }, options.repeatMs ?? REPEAT_MS);
  }, options.quietMs ?? QUIET_MS);
  try {
    return await work();
  } finally {
    clearTimeout(first);
    clearInterval(repeated);
  }
}
