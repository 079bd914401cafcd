/** What an attack is given, and what it can do with it. */
import type { Combination } from "../combinations.ts";

export interface Target extends Pick<Combination, "http"> {
  readonly port: number;
  readonly keys: Readonly<Record<"roomy" | "narrow" | "paired" | "spent", string>>;
  readonly management: ManagementTarget;
  /** What an attack of the long form is times of one of the short form; attacks that name both numbers go by `isLong`. */
  readonly isLong: boolean;
}

/** The management API, and a second organization of the attacker with people of every role. */
export interface ManagementTarget {
  readonly url: string;
  readonly organizationId: string;
  readonly tokens: Readonly<Record<"admin" | "viewer", string>>;
  /** Two members' keys: one spends what both share. */
  readonly keys: Readonly<Record<"spender" | "neighbor", string>>;
  /** A month with many rows of usage. */
  readonly month: string;
  /** A webhook that never answers. */
  readonly silentUrl: string;
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
