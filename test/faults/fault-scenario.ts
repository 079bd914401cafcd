/** A scenario: load on three keys, one fault, everything settled, the account. */
import { waitFor } from "../support/wait.ts";
import type { Behavior } from "./counting-upstream.ts";
import {
  checkFigures,
  checkTagRows,
  countEarlyRefusals,
  countFalseRefusals,
  type Faults,
  type FigureRow,
  LOST_STREAM_MS,
  overrunBound,
  overrunOf,
  printFigures,
  readFigures,
} from "./fault-accounts.ts";
import { checkAlerts, checkWindows } from "./fault-windows.ts";
import { ROUTES, type Sent, type SendOptions, startClients } from "./fault-load.ts";
import { type FaultStackOn, MODEL, REAPED_WITHIN_MS, WORKERS } from "./fault-stack.ts";
import type { Tenants } from "./fault-tenants.ts";
import { lendMachine, watchLateness } from "./machine.ts";
import { PLACE_NAMES } from "./places.ts";
import { rebuildScenario } from "./rebuild-scenario.ts";

/** Settling what no worker left open. */
const SETTLED_WITHIN_MS = 30_000;
/** Multiplies answers that are waited for and clients: `FAULTS=long`. */
export const IS_LONG = process.env["FAULTS"] === "long";
/** So many answers on each key that either worker has had it more than once. */
export const WARM_ANSWERS = 20;

export interface Scenario {
  readonly name: string;
  /** Which kinds of caps it meets, see `planTenants`; the next ones of its stack when left out. */
  readonly turn?: number;
  /** Lets the fault happen while the load runs; what it returns is known of it afterwards. */
  readonly fault: (running: RunningScenario) => Promise<Faults | void>;
  readonly outputTokens?: number;
  readonly tokenMs?: number;
  /** Clients that go away by themselves: after so many milliseconds at most. */
  readonly abortWithinMs?: number;
  readonly behaviors?: readonly Behavior[];
  /** Changes a request of the load before it is sent. */
  readonly vary?: (options: SendOptions) => SendOptions;
  /** Nothing is lost or estimated: each refusal is held against what was used up to its own moment. */
  readonly judgesRefusalsByTime?: boolean;
  /** Redis or the network is away: nobody but strict organizations may notice. */
  readonly allowsFailures: boolean;
  /** Its workers are gone: settling waits until others close what they left. */
  readonly waitsForReaper?: boolean;
  /** A charge that was sent just before its answer's end can be sent again: a client may be quicker than it. */
  readonly repeatsCharges?: boolean;
  /** Redis is away: each worker holds the caps against what was last known and what it counts itself. */
  readonly isGrace?: boolean;
  /** The load has ended; settling begins. */
  readonly onLoadEnd?: () => void;
  /** Everything is settled and counted; the request log is not put in yet. */
  readonly onSettled?: () => Promise<void>;
}

export interface RunningScenario {
  readonly tenants: Tenants;
  readonly sent: Readonly<Record<keyof Tenants, Sent[]>>;
  /** A request of this key as the load sends them. */
  options(tenant: keyof Tenants): SendOptions;
  /** Resolves when on each key so many more requests have ended, in whatever way. */
  readonly answered: (count: number) => Promise<void>;
  /** Resolves when the upstream has written to a request in flight for so long: some of it is charged, some is not. */
  readonly streamed: (durationMs: number) => Promise<void>;
}

const CLIENTS = IS_LONG ? 12 : 5;
/** Of the caps: about thirty requests. */
export const CAP_CENTS = 3_000;
const NAMES = ["open", "capped", "strict"] as const;
/** Of requests, in turn with their routes. */
const TAGS = [undefined, "team=search", "team=search, feature=autocomplete", "team=ads"] as const;

/** Runs it, prints its figures and resolves with what is out of bounds: nothing, when all is well. */
export async function runScenario(faultStack: FaultStackOn, scenario: Scenario): Promise<readonly string[]> {
  const tenants = await faultStack.createTenants(CAP_CENTS, scenario.turn);
  const sent: Record<keyof Tenants, Sent[]> = { open: [], capped: [], strict: [] };
  let requests = 0;
  const options = (tenant: keyof Tenants): SendOptions =>
    createOptions(faultStack, tenants[tenant].key, scenario, requests++);
  const clients = NAMES.map((tenant) =>
    startClients(
      CLIENTS,
      () => options(tenant),
      (each) => sent[tenant].push(each),
    ),
  );
  let faults: Faults | void;
  const lateness = watchLateness();
  try {
    faults = await scenario.fault({ tenants, sent, options, ...watchLoad(faultStack, sent) });
    if (faults) {
      const { workerDiedMs = Infinity, redisDiedMs = Infinity } = faults;
      const diedMs = Math.min(workerDiedMs, redisDiedMs);
      faults = { ...faults, lateMs: lateness.sumBetween(diedMs - 2 * LOST_STREAM_MS, diedMs) };
    }
  } finally {
    lateness.stop();
    await Promise.all(clients.map((each) => each.stop()));
  }
  scenario.onLoadEnd?.();
  const keys = Object.values(tenants);
  if (scenario.waitsForReaper === true) {
    await lendMachine(() => faultStack.waitUntilSettled(keys, REAPED_WITHIN_MS));
  } else {
    await faultStack.waitUntilSettled(keys, SETTLED_WITHIN_MS);
  }
  const rows: FigureRow[] = [];
  const problems: string[] = [];
  for (const tenant of NAMES) {
    const own = { name: tenant, key: tenants[tenant], sent: sent[tenant] };
    const figures = await readFigures(faultStack, own, faults ?? {});
    problems.push(...(await checkTagRows(faultStack, own, figures, faults ?? {})));
    const capCents = tenant === "open" ? null : CAP_CENTS;
    rows.push({
      figures,
      overrun: capCents === null ? 0n : overrunOf(figures, capCents),
      overrunBound: boundOf(faultStack, scenario, tenant, sent[tenant], faults ?? {}),
      falseRefusals:
        tenant === "strict"
          ? 0
          : scenario.judgesRefusalsByTime === true && capCents !== null
            ? countEarlyRefusals(faultStack.upstream, sent[tenant], capCents)
            : countFalseRefusals(figures, sent[tenant], capCents),
    });
  }
  printFigures(scenario.name, rows);
  const own = NAMES.map((name) => ({ name, key: tenants[name], sent: sent[name] }));
  problems.push(...(await checkWindows(faultStack, own)));
  // An alert may have died with its master, and with it the spend that fired it.
  if (faults?.unreplicated === undefined) {
    for (const tenant of own.filter((each) => each.name === "capped")) {
      problems.push(...(await checkAlerts(faultStack, tenant, CAP_CENTS)));
    }
  }
  await scenario.onSettled?.();
  const rebuilt = await rebuildScenario(faultStack, own, faults ?? {});
  return [...problems, ...check(scenario, rows), ...rebuilt, ...(await checkWindows(faultStack, own))];
}

/** What of the load a fault can wait for. */
function watchLoad(
  { upstream }: FaultStackOn,
  sent: RunningScenario["sent"],
): Pick<RunningScenario, "answered" | "streamed"> {
  const isOpen = ({ endedMs }: Sent): boolean => endedMs === 0;
  const countEnded = (): number[] => NAMES.map((name) => sent[name].filter((each) => !isOpen(each)).length);
  const spanOf = ({ id }: Sent): number => {
    const times = upstream.accounts.get(id)?.tokenTimesMs ?? [];
    return (times.at(-1) ?? 0) - (times[0] ?? 0);
  };
  return {
    async answered(count) {
      const before = countEnded();
      const isReached = () => countEnded().every((ended, index) => ended >= (before[index] ?? 0) + count);
      await waitFor(`${count} more answers on each key`, isReached, { timeoutMs: 120_000 });
    },
    async streamed(durationMs) {
      const isReached = () => sent.open.some((each) => isOpen(each) && spanOf(each) > durationMs);
      await waitFor(`a stream of ${durationMs} ms`, isReached, { timeoutMs: 60_000 });
    },
  };
}

function createOptions(
  { stack }: FaultStackOn,
  key: string,
  { outputTokens = 20, tokenMs = 20, abortWithinMs, behaviors, vary = (each) => each }: Scenario,
  index: number,
): SendOptions {
  const behavior = behaviors?.[Math.floor(Math.random() * behaviors.length)];
  const place = PLACE_NAMES[Math.floor(Math.random() * PLACE_NAMES.length)];
  const tags = TAGS[index % TAGS.length];
  return vary({
    baseUrl: stack.baseUrl,
    key,
    model: MODEL,
    route: ROUTES[index % ROUTES.length] ?? ROUTES[0],
    outputTokens,
    tokenMs,
    isStream: Math.random() < 0.6,
    ...(tags !== undefined && { tags }),
    ...(behavior === undefined ? {} : { behavior }),
    ...(place === undefined ? {} : { place }),
    ...(abortWithinMs === undefined ? {} : { abortAfterMs: Math.random() * abortWithinMs }),
  });
}

/**
 * By how much a cap may be overrun. The default one: by what was in flight when it was reached, which is what clients wait
 * for and what they have just left. Requests of a worker that stands still are in flight too, until it comes back or another
 * closes them; and in the grace period every worker has a cap of its own: the others may spend what was left once more, and
 * each has something in flight when it finds the cap reached. The strict one: by nothing, but for what a worker that stood
 * still for longer than its requests' deadlines charges late.
 */
function boundOf(
  { upstream }: FaultStackOn,
  scenario: Scenario,
  tenant: keyof Tenants,
  sent: readonly Sent[],
  faults: Faults,
): bigint {
  if (tenant === "open") return 0n;
  const cutOff =
    faults.workerPausedMs === undefined
      ? 0
      : sent.filter((each) => !each.isWhole && each.status !== 402).length;
  if (tenant === "strict") return overrunBound(upstream, sent, cutOff);
  // A client that goes away sends its next request before the gateway has seen it go.
  const left = scenario.abortWithinMs === undefined && scenario.repeatsCharges !== true ? 0 : CLIENTS;
  const inFlight = overrunBound(upstream, sent, CLIENTS + left + cutOff);
  return scenario.isGrace === true
    ? BigInt(WORKERS) * inFlight + BigInt(WORKERS - 1) * BigInt(CAP_CENTS) * 1_000_000n
    : inFlight;
}

function check(scenario: Scenario, rows: readonly FigureRow[]): string[] {
  return rows.flatMap(({ figures, overrun, overrunBound: bound, falseRefusals }) => {
    const found = checkFigures(figures);
    if (overrun > bound) {
      found.push(`${figures.name}: the cap is overrun by ${overrun}, more than ${bound}`);
    }
    if (falseRefusals > 0) found.push(`${figures.name}: ${falseRefusals} requests refused falsely`);
    if (!scenario.allowsFailures && figures.failures > 0 && figures.name !== "strict") {
      found.push(`${figures.name}: ${figures.failures} requests failed: ${figures.failedWith.join(", ")}`);
    }
    if (figures.requests === 0) found.push(`${figures.name}: no request was sent`);
    return found;
  });
}
