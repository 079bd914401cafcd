/** `usage verify` and `usage rebuild` as an operator runs them, on the host of a stack under test. */
import { runCli } from "../cli/run-cli.ts";
import type { Stack } from "../support/stack.ts";

interface Verified {
  readonly spentMicrocents: bigint;
  /** Each once, in order; none: the three accounts agree. */
  readonly kinds: readonly string[];
}

interface Rebuilt {
  readonly addedMicrocents: bigint;
  readonly raisedRows: number;
  readonly settledRequests: number;
  /** Organizations of which nothing was changed. */
  readonly inFlight: readonly string[];
}

interface OnHost {
  readonly stack: Pick<Stack, "configFile">;
  /** Where the logs of several hosts were gathered; the host's own folder when left out. */
  readonly requests?: string;
}

/** Of all organizations. */
export async function verifyOnHost(faults: OnHost): Promise<Verified> {
  const { spentMicrocents, differences } = await run<{
    readonly spentMicrocents: string;
    readonly differences: readonly { readonly kind: string }[];
  }>(faults, "verify");
  const kinds = [...new Set(differences.map(({ kind }) => kind))].sort();
  return { spentMicrocents: BigInt(spentMicrocents), kinds };
}

export async function rebuildOnHost(faults: OnHost): Promise<Rebuilt> {
  const { addedMicrocents, ...rebuilt } = await run<
    Omit<Rebuilt, "addedMicrocents"> & { readonly addedMicrocents: string }
  >(faults, "rebuild");
  return { ...rebuilt, addedMicrocents: BigInt(addedMicrocents) };
}

async function run<Result>({ stack, requests }: OnHost, command: "verify" | "rebuild"): Promise<Result> {
  const gathered = requests === undefined ? [] : ["--requests", requests];
  const ended = await runCli(["usage", command, "--config", stack.configFile, "--json", ...gathered]);
  // 1: there are differences, or requests in flight.
  if (ended.code !== 0 && ended.code !== 1) throw new Error(`usage ${command}: ${ended.stderr}`);
  if (ended.stdout === "") throw new Error(`usage ${command}: ${ended.stderr}`);
  return ended.json() as Result;
}
