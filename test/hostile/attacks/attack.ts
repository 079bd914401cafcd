/** What an attack is given, and what it can do with it. */
import type { Combination } from "../combinations.ts";

export interface Target extends Pick<Combination, "http"> {
  readonly port: number;
  readonly keys: Readonly<Record<"roomy" | "narrow" | "paired" | "spent", string>>;
  /** What an attack of the long form is times of one of the short form; attacks that name both numbers go by `isLong`. */
  readonly isLong: boolean;
}

/** Resolves when it is over, and nothing of it is open any more. */
export type Attack = (target: Target) => Promise<void>;

/** Runs `work` so many times, at most so many at a time. */
export async function repeat(
  times: number,
  atOnce: number,
  work: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const run = async (): Promise<void> => {
    while (next < times) {
      next += 1;
      await work(next - 1);
    }
  };
  await Promise.all(Array.from({ length: Math.min(times, atOnce) }, run));
}
