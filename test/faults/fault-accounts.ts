/**
 * The account of a scenario: what the upstream counted, what was charged, and how far the two may be apart. The bounds
 * are computed from the upstream's own count and the time of the fault, never from what the gateway says.
 */
import type { CreatedKey } from "../support/test-key.ts";
import type { Account, CountingUpstream } from "./counting-upstream.ts";
import type { Sent } from "./fault-load.ts";
import { type FaultStackOn, OUTPUT_MICROCENTS, PROMPT_MICROCENTS } from "./fault-stack.ts";
import type { Tenants } from "./fault-tenants.ts";

/** Refusals that a limit decides; anything else that is not 200 is a failure. */
const REFUSALS = new Set([401, 402, 403, 429]);
/** Nothing of the request went on: the gateway refused it, or nobody listened. */
const NOTHING_SENT = new Set(["gateway_unavailable", "ECONNREFUSED"]);
/** Published: what a stream loses at most when its worker dies. */
export const LOST_STREAM_MS = 2_000;
/** Between the upstream's write and the gateway's count, when neither dies: Envoy's and the kernel's buffers. */
export const IN_TRANSIT_MS = 250;

export interface Figures {
  readonly name: string;
  readonly requests: number;
  readonly whole: number;
  readonly failures: number;
  /** What the clients of these got, each once. */
  readonly failedWith: readonly string[];
  readonly refusals: number;
  readonly usedMicrocents: bigint;
  readonly chargedMicrocents: bigint;
  /** Used and not charged, at most. */
  readonly lostBoundMicrocents: bigint;
  /** Charged and not used, at most. */
  readonly excessBoundMicrocents: bigint;
}

/** How much of a request that did not end whole may be missing. */
export interface Faults {
  /** When a worker died, `performance.now()`. */
  readonly workerDiedMs?: number;
  /** When a worker stood still. */
  readonly workerPausedMs?: number;
  /** When Redis went, in which time a worker died: what streamed since is on record nowhere. */
  readonly redisDiedMs?: number;
  /** For how long the machine gave this process no turn shortly before. */
  readonly lateMs?: number;
  /** Charges that a master acknowledged in this time may have reached no replica before it died. */
  readonly unreplicated?: { readonly fromMs: number; readonly untilMs: number };
}

export interface Tenant {
  readonly name: string;
  readonly key: CreatedKey;
  readonly sent: readonly Sent[];
}

/** Everything that was used and charged by one key. */
export async function readFigures(
  { store, upstream }: Pick<FaultStackOn, "store" | "upstream">,
  { name, key, sent }: Tenant,
  faults: Faults = {},
): Promise<Figures> {
  const { organizationMicrocents } = await store.readSpend(key.organizationId, null);
  return addUp(upstream, name, sent, organizationMicrocents, faults);
}

/**
 * Says which of its rows of tags is not what was used with these tags, within the bounds of the requests that had them, or
 * that the rows are not the whole spend.
 */
export async function checkTagRows(
  { store, upstream }: Pick<FaultStackOn, "store" | "upstream">,
  { name, key, sent }: Tenant,
  { chargedMicrocents }: Figures,
  faults: Faults,
): Promise<string[]> {
  const { rows } = await store.readUsage(key.organizationId, null);
  const sumOf = (own: typeof rows): bigint =>
    own.reduce((sum, { costMicrocents }) => sum + costMicrocents, 0n);
  const tagsOf = new Set([...rows, ...sent].map(({ tags }) => tags));
  const problems = [...tagsOf].flatMap((tags) => {
    const charged = sumOf(rows.filter((row) => row.tags === tags));
    const own = sent.filter((each) => each.tags === tags);
    return checkFigures(addUp(upstream, `${name} with tags "${tags}"`, own, charged, faults));
  });
  if (sumOf(rows) !== chargedMicrocents) problems.push(`${name}: the rows of usage are not the spend`);
  return problems;
}

function addUp(
  upstream: CountingUpstream,
  name: string,
  sent: readonly Sent[],
  chargedMicrocents: bigint,
  faults: Faults,
): Figures {
  let used = 0n;
  let lostBound = 0n;
  let excessBound = 0n;
  for (const each of sent) {
    const account = upstream.accounts.get(each.id);
    used += usedBy(account);
    lostBound += lostBoundOf(each, account, faults);
    excessBound += excessBoundOf(each, account, faults);
  }
  const failed = sent.filter(isFailure);
  return {
    name,
    requests: sent.length,
    whole: sent.filter(({ isWhole }) => isWhole).length,
    failures: failed.length,
    failedWith: [...new Set(failed.map(({ status, errorCode }) => `${status} ${errorCode ?? "cut off"}`))],
    refusals: sent.filter(({ status }) => REFUSALS.has(status)).length,
    usedMicrocents: used,
    chargedMicrocents,
    lostBoundMicrocents: lostBound,
    excessBoundMicrocents: excessBound,
  };
}

function isFailure({ status, isWhole, isAborted }: Sent): boolean {
  return !isWhole && !isAborted && !REFUSALS.has(status);
}

export function usedBy(account: Account | undefined): bigint {
  if (account === undefined || account.order.behavior === "status_500") return 0n;
  return (
    BigInt(account.order.promptTokens) * PROMPT_MICROCENTS +
    BigInt(account.tokenTimesMs.length) * OUTPUT_MICROCENTS
  );
}

/**
 * Nothing of an answer that the client has whole. Of a broken one: what the upstream wrote and the gateway did not see,
 * because the client had gone or the worker was dead; of a worker that died, its last two seconds too, and of an answer
 * that is not streamed, its output.
 */
function lostBoundOf(sent: Sent, account: Account | undefined, faults: Faults): bigint {
  if (account === undefined) return 0n;
  if (sent.isWhole) return isAtRisk(sent, faults) ? usedBy(account) : 0n;
  const { tokenTimesMs, isStream } = account;
  if (!isStream) return BigInt(tokenTimesMs.length) * OUTPUT_MICROCENTS;
  const { workerDiedMs = Infinity, workerPausedMs = Infinity, redisDiedMs = Infinity, lateMs = 0 } = faults;
  const countedUntilMs = Math.min(
    sent.endedMs - IN_TRANSIT_MS,
    workerPausedMs - IN_TRANSIT_MS,
    workerDiedMs - LOST_STREAM_MS - lateMs,
    redisDiedMs - LOST_STREAM_MS - lateMs,
  );
  const uncounted = tokenTimesMs.filter((timeMs) => timeMs > countedUntilMs).length;
  return BigInt(uncounted) * OUTPUT_MICROCENTS;
}

/** Its last charge may have been acknowledged by a master that died with it. */
export function isAtRisk({ endedMs }: Sent, { unreplicated }: Faults): boolean {
  return unreplicated !== undefined && endedMs >= unreplicated.fromMs && endedMs <= unreplicated.untilMs;
}

/**
 * A prompt is charged once its body was handed on, though the upstream may never have had it, or have failed after the
 * client had gone. What the gateway itself refused costs nothing; but whose worker died before Envoy had its word is
 * refused by Envoy in the same words.
 */
function excessBoundOf(sent: Sent, account: Account | undefined, { workerDiedMs }: Faults): bigint {
  const outlivedIt =
    workerDiedMs !== undefined && sent.sentMs <= workerDiedMs && workerDiedMs <= sent.endedMs;
  if (sent.isWhole || REFUSALS.has(sent.status)) return 0n;
  if (NOTHING_SENT.has(sent.errorCode ?? "") && !outlivedIt) return 0n;
  const isUnseenError = sent.isAborted && account?.order.behavior === "status_500";
  return account === undefined || isUnseenError ? BigInt(sent.promptTokens) * PROMPT_MICROCENTS : 0n;
}

/** Whether charged and used are within their bounds; text for a failure. */
export function checkFigures(figures: Figures): string[] {
  const { name, usedMicrocents: used, chargedMicrocents: charged } = figures;
  const problems: string[] = [];
  const { lostBoundMicrocents: lost, excessBoundMicrocents: excess } = figures;
  if (used - charged > lost) problems.push(`${name}: ${used - charged} is lost, more than ${lost}`);
  if (charged - used > excess) {
    problems.push(`${name}: ${charged - used} too much is charged, more than ${excess}`);
  }
  return problems;
}

/** By how much a cap was overrun; 0 when it was not. */
export function overrunOf({ chargedMicrocents }: Figures, capCents: number): bigint {
  const overrun = chargedMicrocents - BigInt(capCents) * 1_000_000n;
  return overrun > 0n ? overrun : 0n;
}

/** What was in flight when a cap was reached, at most: so many requests at their full cost. */
export function overrunBound(upstream: CountingUpstream, sent: readonly Sent[], concurrency: number): bigint {
  const costs = sent.map(({ id }) => {
    const account = upstream.accounts.get(id);
    if (account === undefined) return 0n;
    const { promptTokens, outputTokens } = account.order;
    return BigInt(promptTokens) * PROMPT_MICROCENTS + BigInt(outputTokens) * OUTPUT_MICROCENTS;
  });
  const largest = costs.reduce((most, cost) => (cost > most ? cost : most), 0n);
  return BigInt(concurrency) * largest;
}

/** Requests refused by a cap before so much was used that it could be reached. */
export function countFalseRefusals(figures: Figures, sent: readonly Sent[], capCents: number | null): number {
  const refused = sent.filter(({ status }) => REFUSALS.has(status));
  if (capCents === null) return refused.length;
  const others = refused.filter(({ status }) => status !== 402).length;
  const reachable = figures.usedMicrocents + figures.excessBoundMicrocents >= BigInt(capCents) * 1_000_000n;
  return reachable ? others : refused.length;
}

/**
 * Requests refused by a cap while what had ended and what open streams had certainly used, by the upstream's own count up
 * to that moment, was below it. For scenarios in which nothing is lost and nothing is charged at an estimate.
 */
export function countEarlyRefusals(
  { accounts }: CountingUpstream,
  sent: readonly Sent[],
  capCents: number,
): number {
  const capMicrocents = BigInt(capCents) * 1_000_000n;
  const usedAt = (timeMs: number): bigint =>
    sent.reduce((sum, { id }) => sum + usedUntil(accounts.get(id), timeMs), 0n);
  return sent.filter(
    ({ status, endedMs }) => REFUSALS.has(status) && (status !== 402 || usedAt(endedMs) < capMicrocents),
  ).length;
}

/** Nothing until the first token has left: until then the upstream may still fail. */
function usedUntil(account: Account | undefined, timeMs: number): bigint {
  if (account === undefined) return 0n;
  const outputTokens = account.tokenTimesMs.filter((each) => each <= timeMs).length;
  if (outputTokens === 0) return 0n;
  return BigInt(account.order.promptTokens) * PROMPT_MICROCENTS + BigInt(outputTokens) * OUTPUT_MICROCENTS;
}

/** One line for each figure, as docs/results/faults.csv has them. */
export function printFigures(scenario: string, rows: readonly FigureRow[]): void {
  const lines = rows.map(({ figures, overrun, overrunBound: bound, falseRefusals }) => {
    const {
      name,
      requests,
      whole,
      failures,
      refusals,
      usedMicrocents: used,
      chargedMicrocents: charged,
    } = figures;
    return [
      `${scenario} | ${name}`,
      `requests ${requests}`,
      `whole ${whole}`,
      `failed ${failures}`,
      `refused ${refusals}`,
      `charged ${charged}`,
      `used ${used}`,
      `difference ${charged - used}`,
      `bound -${figures.lostBoundMicrocents}..+${figures.excessBoundMicrocents}`,
      `overrun ${overrun} of ${bound}`,
      `false refusals ${falseRefusals}`,
    ].join(" | ");
  });
  process.stdout.write(`${lines.join("\n")}\n`);
}

export interface FigureRow {
  readonly figures: Figures;
  readonly overrun: bigint;
  readonly overrunBound: bigint;
  readonly falseRefusals: number;
}

export type TenantName = keyof Tenants;
