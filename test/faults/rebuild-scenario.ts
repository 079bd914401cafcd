/** The end of each scenario: what `usage rebuild` does once everything is settled, and the account again. */
import { join } from "node:path";
import { readLateCharges, readLoggedUsage } from "../../src/data-path/request-log/read-usage.ts";
import { rebuildUsage, type UsageRebuild } from "../../src/data-path/request-log/rebuild-usage.ts";
import {
  checkFigures,
  checkTagRows,
  type Faults,
  type Figures,
  readFigures,
  type Tenant,
} from "./fault-accounts.ts";
import type { FaultStackOn } from "./fault-stack.ts";

/**
 * Rebuilds what these keys were charged and says what is out of bounds then: figures, rows of tags, and a rebuild that
 * finds something to do twice. An organization with requests in flight stays as it is.
 */
export async function rebuildScenario(
  faultStack: FaultStackOn,
  tenants: readonly Tenant[],
  faults: Faults,
): Promise<string[]> {
  const readAll = (): Promise<Figures[]> =>
    Promise.all(tenants.map((tenant) => readFigures(faultStack, tenant, faults)));
  const before = await readAll();
  const { inFlight } = await rebuildOnly(faultStack, tenants, []);
  const after = await readAll();
  const problems = after.flatMap(checkFigures);
  for (const [index, tenant] of tenants.entries()) {
    const figures = after[index];
    if (figures === undefined) continue;
    problems.push(...(await checkTagRows(faultStack, tenant, figures, faults)));
    const { organizationId } = tenant.key;
    if (!inFlight.includes(organizationId)) {
      faultStack.settled.push({ organizationId, microcents: figures.chargedMicrocents });
    }
    const moved = figures.chargedMicrocents - (before[index]?.chargedMicrocents ?? 0n);
    if (moved !== 0n) process.stdout.write(`usage rebuild | ${tenant.name} | ${moved}\n`);
  }
  const { raisedRows, settledRequests } = await rebuildOnly(faultStack, tenants, inFlight);
  if (raisedRows + settledRequests > 0) problems.push(`another rebuild changes ${raisedRows} rows`);
  return problems.map((problem) => `after usage rebuild: ${problem}`);
}

/** Of these alone: others may be in the middle of a scenario of their own. */
async function rebuildOnly(
  { store, stack }: FaultStackOn,
  tenants: readonly Tenant[],
  except: readonly string[],
): Promise<UsageRebuild> {
  const ids = tenants.map(({ key }) => key.organizationId).filter((id) => !except.includes(id));
  const nowMs = await store.timeMs();
  const month = new Date(nowMs).toISOString().slice(0, 7);
  const dir = join(stack.dir, "data/requests");
  const logged = await readLoggedUsage(dir, month);
  const rows = new Map([...logged.rows].filter(([id]) => ids.includes(id)));
  async function* lateCharges() {
    for await (const charge of readLateCharges(dir, month, nowMs)) {
      if (ids.includes(charge.organizationId)) yield charge;
    }
  }
  return rebuildUsage(store, { ...logged, rows }, lateCharges);
}
