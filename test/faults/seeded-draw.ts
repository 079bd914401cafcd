/** Random choices that are the same for the same seed. */
export interface Draw {
  /** From 0 to below 1. */
  fraction(): number;
  /** A whole number from 0 to below `end`. */
  below(end: number): number;
  coin(): boolean;
  oneOf<T>(choices: readonly T[]): T;
  shuffled<T>(choices: readonly T[]): readonly T[];
}

/** Those of FAULTS_SEEDS; three in the long form, else one. */
export function readSeeds(): readonly number[] {
  const otherwise = process.env["FAULTS"] === "long" ? "1,2,3" : "1";
  return (process.env["FAULTS_SEEDS"] ?? otherwise).split(",").map(Number);
}

/** Mulberry32. */
export function createDraw(seed: number): Draw {
  let state = seed;
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number): number => Math.floor(fraction() * end);
  return {
    fraction,
    below,
    coin: () => fraction() < 0.5,
    oneOf: (choices) => choices[below(choices.length)] as (typeof choices)[number],
    shuffled: (choices) =>
      choices
        .map((choice) => ({ choice, at: fraction() }))
        .sort((one, other) => one.at - other.at)
        .map(({ choice }) => choice),
  };
}
