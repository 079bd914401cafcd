/** Generator of numbers from 0 to 1. Each run gets the same numbers, so every run shows the same company. */
export type Random = () => number;

/** Creates the generator mulberry32, of Tommy Ettinger. */
export function createRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns a number around `middle`: most are near it, few are many times larger. */
export function drawAround(random: Random, middle: number): number {
  const bell = random() + random() + random() - 1.5;
  return Math.max(1, Math.round(middle * Math.exp(1.4 * bell)));
}
