/**
 * What a limit of tokens per minute must have decided, from the upstream's own count and from when clients sent and got
 * what: never from what the gateway says. Times are those of `performance.now()`.
 */
import type { Account } from "./counting-upstream.ts";
import { IN_TRANSIT_MS } from "./fault-accounts.ts";
import type { Sent } from "./fault-load.ts";

export interface TokenRun {
  readonly limit: number;
  readonly sent: readonly Sent[];
  /** Of the requests that emptied the bucket at first, which are larger than all others. */
  readonly emptied: ReadonlySet<string>;
  readonly accounts: ReadonlyMap<string, Account>;
  /** Of a prompt, what its admission takes at most. */
  readonly mostByHead: number;
  /** A prompt without usage is estimated at so many times what the upstream counts, at most. */
  readonly mostPerUntold: number;
  /** Between a token's write and its count in Redis, at most, where nothing is away. */
  readonly lateMs: number;
  /** When Redis or a worker was killed. */
  readonly diedMs: readonly number[];
  /** While Redis was away: what came then counts once it is back. */
  readonly outages: readonly { readonly fromMs: number; readonly untilMs: number }[];
}

const outputUntil = ({ tokenTimesMs }: Account, timeMs: number): number =>
  tokenTimesMs.filter((each) => each <= timeMs).length;
const allTokens = ({ order, tokenTimesMs }: Account): number => order.promptTokens + tokenTimesMs.length;
const perMs = ({ limit }: TokenRun): number => limit / 60_000;

/**
 * Published: in any t minutes at most `limit × (t + 1)`, beside those of requests that were in flight.
 * @param inFlight Of requests, at most, beside one of those that emptied the bucket.
 * @param forgotten Tokens that a Redis from an older copy does not know of.
 */
export function checkTokenBound(run: TokenRun, inFlight: number, forgotten = 0): string[] {
  const others = run.sent.filter(({ id }) => !run.emptied.has(id));
  const largest = Math.max(0, ...others.map(({ id }) => sizeOf(run, id)));
  const longest = Math.max(0, ...[...run.emptied].map((id) => sizeOf(run, id)));
  const beside = inFlight * largest + longest + forgotten;
  const taken = listTaken(run);
  let worst = "";
  let most = 0;
  for (const [begin, { atMs: fromMs }] of taken.entries()) {
    let used = 0;
    for (const { atMs, tokens } of taken.slice(begin)) {
      used += tokens;
      const bound = run.limit + perMs(run) * (atMs - fromMs) + beside;
      if (used - bound <= most) continue;
      most = used - bound;
      worst = `${used} tokens in ${atMs - fromMs} ms are more than ${bound}`;
    }
  }
  return most > 0 ? [worst] : [];
}

/** When which tokens went through, by the upstream: the prompt when its request was sent. */
function listTaken({ sent, accounts }: TokenRun): { readonly atMs: number; readonly tokens: number }[] {
  const taken = sent.flatMap(({ id, sentMs }) => {
    const account = accounts.get(id);
    if (account === undefined) return [];
    const prompt = { atMs: sentMs, tokens: account.order.promptTokens };
    // An answer as a whole leaves at once.
    const { isStream, tokenTimesMs } = account;
    const whole = { atMs: tokenTimesMs.at(-1) ?? sentMs, tokens: tokenTimesMs.length };
    return [prompt, ...(isStream ? tokenTimesMs.map((atMs) => ({ atMs, tokens: 1 })) : [whole])];
  });
  return taken.sort((one, other) => one.atMs - other.atMs);
}

/** Requests that were refused though the level was above 0 however late, and however much of the others, was counted. */
export function countFalseTokenRefusals(run: TokenRun): number {
  const refused = run.sent.filter(({ errorCode }) => errorCode === "token_rate_limit_exceeded");
  return refused.filter(({ endedMs }) => lowestLevel(run, endedMs) > 0).length;
}

/** What the level can be at most, when nothing is in flight: what is certainly used is taken. */
export function highestLevel(run: TokenRun, atMs: number): number {
  const certain = run.sent.filter(({ isWhole }) => isWhole);
  return levelOf(
    run,
    atMs,
    certain.map(({ id, sentMs }) => ({ untilMs: sentMs, tokens: sizeOf(run, id) })),
  );
}

/** What it can be at least: all that can be counted in a time is counted in it. */
export function lowestLevel(run: TokenRun, atMs: number): number {
  const begun = run.sent.filter((each) => each.sentMs <= atMs);
  const taken = begun.map((each) => ({
    untilMs: each.endedMs === 0 ? Infinity : countedUntil(run, each.endedMs),
    tokens: mostTaken(run, each, atMs),
  }));
  return levelOf(run, atMs, taken);
}

/** Tokens that are taken at some time until then. */
interface Taken {
  readonly untilMs: number;
  readonly tokens: number;
}

/** A bucket that is full at first: the least of what it would be had it been full at any time since. */
function levelOf(run: TokenRun, atMs: number, taken: readonly Taken[]): number {
  const begins = run.sent.map(({ sentMs }) => ({ untilMs: sentMs, tokens: 0 }));
  const all = [...begins, ...taken].filter(({ tokens, untilMs }) => tokens > 0 || untilMs <= atMs);
  all.sort((one, other) => other.untilMs - one.untilMs);
  let since = 0;
  let least = run.limit;
  for (const { untilMs, tokens } of all) {
    since += tokens;
    least = Math.min(least, run.limit + perMs(run) * Math.max(0, atMs - untilMs) - since);
  }
  return least;
}

/** Of a request, as far as it can be counted then. */
function mostTaken(run: TokenRun, sent: Sent, atMs: number): number {
  const { id, endedMs, promptTokens } = sent;
  const account = run.accounts.get(id);
  const isCounted = endedMs !== 0 && countedUntil(run, endedMs) < atMs;
  if (account === undefined) {
    if (tookNothing(run, sent)) return 0;
    return isCounted ? Math.min(promptTokens, run.mostByHead) : promptTokens;
  }
  const isEnded = endedMs !== 0 && endedMs <= atMs;
  return mostOfPrompt(run, account) + (isEnded ? account.tokenTimesMs.length : outputUntil(account, atMs));
}

function countedUntil({ lateMs, outages }: TokenRun, endedMs: number): number {
  const outage = outages.find(({ fromMs, untilMs }) => endedMs + lateMs >= fromMs && endedMs <= untilMs);
  return (outage?.untilMs ?? endedMs) + lateMs;
}

function mostOfPrompt({ mostPerUntold }: TokenRun, { order }: Account): number {
  return order.promptTokens * (order.behavior === "no_usage" ? mostPerUntold : 1);
}

function sizeOf({ accounts }: TokenRun, id: string): number {
  const account = accounts.get(id);
  return account === undefined ? 0 : allTokens(account);
}

/** What Redis admitted while it, or the worker, was killed is answered 503, and nobody can give it back. */
function tookNothing({ diedMs }: TokenRun, { errorCode, sentMs, endedMs }: Sent): boolean {
  if (errorCode === "token_rate_limit_exceeded") return true;
  if (errorCode !== "gateway_unavailable") return false;
  return !diedMs.some((atMs) => sentMs <= atMs + IN_TRANSIT_MS && endedMs >= atMs);
}

/** Of some requests, by the upstream. */
export function tokensOf(run: TokenRun, isOne: (sent: Sent) => boolean): number {
  return run.sent.filter(isOne).reduce((sum, { id }) => sum + sizeOf(run, id), 0);
}
