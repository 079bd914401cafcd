/**
 * Restores spend and usage of a month from the request log: for a Redis that was restored from an older snapshot or
 * lost its last writes in a failover. Charges that are still in a spool or in a worker's memory count once: raising a
 * row leaves a mark for each request that could still be charged.
 */
import type { Store } from "../../shared/stored/store.ts";
import type { ChargeInput } from "../../shared/stored/settlement.ts";
import type { UsageRow } from "../../shared/stored/reporting.ts";
import { addFigures, FIGURES } from "../../shared/usage/usage-figures.ts";
import type { LoggedRow, LoggedUsage } from "./read-usage.ts";
import { groupRows, nameGroup, sumOf } from "./verify-usage.ts";

export interface UsageRebuild {
  /** Rows that were raised. */
  readonly raisedRows: number;
  readonly addedMicrocents: bigint;
  /** Requests that another process had closed at an estimate, or whose charge was incomplete: charged as logged. */
  readonly settledRequests: number;
  /** Organizations with requests in flight, which were not changed any further. */
  readonly inFlight: readonly string[];
}

type RebuildStore = Pick<
  Store,
  "raiseUsage" | "readUsage" | "readClosedUsage" | "markLogged" | "charge" | "deleteSums"
>;
/** Lists the charges of requests that may still be charged by their owner; each call starts over. */
type LateCharges = () => AsyncIterable<ChargeInput>;

/** Records per read. */
const BATCH = 1_000;

/** Rebuilds usage. Idempotent. */
export async function rebuildUsage(
  store: RebuildStore,
  logged: LoggedUsage,
  lateCharges: LateCharges,
): Promise<UsageRebuild> {
  let settledRequests = 0;
  const inFlight = new Set<string>();
  // First, because it lowers requests that another process closed too high.
  for await (const [organizationId, batch] of inBatches(lateCharges())) {
    settledRequests += await settle(store, organizationId, batch, { mark: false }, inFlight);
  }
  const missing = await findMissing(store, logged);
  const isMissing = (charge: ChargeInput): boolean =>
    missing.has(`${charge.organizationId} ${nameGroup(charge)}`);
  for await (const [organizationId, batch] of inBatches(lateCharges(), isMissing)) {
    settledRequests += await settle(store, organizationId, batch, { mark: true }, inFlight);
  }
  let raisedRows = 0;
  let addedMicrocents = 0n;
  for (const { organizationId, of, rows, tagsInRedis } of missing.values()) {
    if (inFlight.has(organizationId)) continue;
    const { day, keyId, owners, model } = of;
    const result = await store.raiseUsage(organizationId, { day, keyId, owners, model, rows }, tagsInRedis);
    if (result.outcome === "in_flight") inFlight.add(organizationId);
    if (result.outcome === "raised") raisedRows += 1;
    addedMicrocents += result.addedMicrocents;
  }
  for (const organizationId of logged.rows.keys()) await store.deleteSums(organizationId, logged.month);
  return { raisedRows, addedMicrocents, settledRequests, inFlight: [...inFlight] };
}

/** Charges requests whose record has no final charge; returns their number. */
async function settle(
  store: RebuildStore,
  organizationId: string,
  charges: readonly ChargeInput[],
  options: { readonly mark: boolean },
  inFlight: Set<string>,
): Promise<number> {
  const unsettled = await store.markLogged(organizationId, charges, options);
  if (unsettled === null) inFlight.add(organizationId);
  for (const charge of unsettled ?? []) await store.charge(charge);
  return unsettled?.length ?? 0;
}

interface MissingRows {
  readonly organizationId: string;
  readonly of: LoggedRow;
  readonly rows: readonly UsageRow[];
  readonly tagsInRedis: readonly string[];
}

/**
 * Finds days, keys and models for which the log has more than Redis, by organization and name. Adds the usage in Redis
 * of requests that another process closed and whose dead worker logged no line, because it would hide missing usage
 * otherwise.
 */
async function findMissing(
  store: Pick<Store, "readUsage" | "readClosedUsage">,
  logged: LoggedUsage,
): Promise<ReadonlyMap<string, MissingRows>> {
  const missing = new Map<string, MissingRows>();
  const closed = await store.readClosedUsage(logged.month);
  for (const [organizationId, all] of logged.rows) {
    const known = groupRows((await store.readUsage(organizationId, logged.month)).rows);
    const closedRows = groupRows(closed.get(organizationId) ?? []);
    for (const [name, ofLog] of groupRows(all)) {
      const [of] = ofLog;
      if (of === undefined) continue;
      const rows = addUpByTags([...ofLog, ...(closedRows.get(name) ?? [])]);
      const found = known.get(name) ?? [];
      if (FIGURES.every((figure) => sumOf(found, figure) >= sumOf(rows, figure))) continue;
      const tagsInRedis = found.map(({ tags }) => tags);
      missing.set(`${organizationId} ${name}`, { organizationId, of, rows, tagsInRedis });
    }
  }
  return missing;
}

/** Adds up rows of one day, key, owners and model. */
function addUpByTags(rows: readonly UsageRow[]): readonly UsageRow[] {
  const sums = new Map<string, UsageRow>();
  for (const row of rows) {
    const sum = sums.get(row.tags);
    sums.set(row.tags, sum === undefined ? row : addUsage(sum, row));
  }
  return [...sums.values()];
}

function addUsage(sum: UsageRow, row: UsageRow): UsageRow {
  const added = { ...sum };
  addFigures(added, row);
  return added;
}

async function* inBatches(
  charges: AsyncIterable<ChargeInput>,
  isWanted: (charge: ChargeInput) => boolean = () => true,
): AsyncGenerator<readonly [organizationId: string, batch: readonly ChargeInput[]]> {
  const batches = new Map<string, ChargeInput[]>();
  for await (const charge of charges) {
    if (!isWanted(charge)) continue;
    const { organizationId } = charge;
    const batch = batches.get(organizationId) ?? [];
    batches.set(organizationId, batch);
    if (batch.push(charge) < BATCH) continue;
    batches.delete(organizationId);
    yield [organizationId, batch];
  }
  yield* batches;
}
