/**
 * Brings spend and usage of a month to what the log of requests says: for a Redis that was restored from an older snapshot,
 * or has lost its last writes in a failover. Charges that lie in a spool or in a worker's memory meanwhile count once: what
 * is raised leaves a mark for each request that could still be charged.
 */
import type { Store } from "../store/types.ts";
import type { ChargeInput } from "../store/types/settlement.ts";
import type { UsageRow } from "../store/types/reporting.ts";
import { addFigures, FIGURES } from "../../shared/usage/usage-figures.ts";
import type { LoggedRow, LoggedUsage } from "./read-usage.ts";
import { groupRows, nameGroup, sumOf } from "./verify-usage.ts";

export interface UsageRebuild {
  /** Rows that were raised. */
  readonly raisedRows: number;
  readonly addedMicrocents: bigint;
  /** Requests that another had closed at an estimate, or whose charge was under way: charged as their log says. */
  readonly settledRequests: number;
  /** Organizations with requests in flight: nothing more of theirs was changed. */
  readonly inFlight: readonly string[];
}

type RebuildStore = Pick<Store, "raiseUsage" | "readUsage" | "readClosedUsage" | "markLogged" | "charge">;
/** Of the requests for which a charge may still come, each time anew. */
type LateCharges = () => AsyncIterable<ChargeInput>;

/** One look at the records takes so many. */
const BATCH = 1_000;

/** A repeat changes nothing. */
export async function rebuildUsage(
  store: RebuildStore,
  logged: LoggedUsage,
  lateCharges: LateCharges,
): Promise<UsageRebuild> {
  let settledRequests = 0;
  const inFlight = new Set<string>();
  // First, since what another has closed too high is lowered by it.
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
  return { raisedRows, addedMicrocents, settledRequests, inFlight: [...inFlight] };
}

/** Of requests with a record that has no final charge: how many got theirs. */
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
 * Days, keys and models of which the log says more than Redis, by organization and name; with what Redis has of requests
 * that another has closed, whose dead worker has written no line: else what was closed would hide what is missing.
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

/** Of one day, key, its owners and model. */
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
