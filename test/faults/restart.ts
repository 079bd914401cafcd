/**
 * What an operator does on a host whose requests have ended: SIGTERM, `usage rebuild`, start, `usage rebuild`, `usage
 * verify`. Nothing that was charged changes by it. Here it is what these commands do; `recovery.test.ts` and
 * `random-recoveries.test.ts` run the commands themselves, each a process that takes a core for most of a second.
 */
import { join } from "node:path";
import { readLateCharges, readLoggedUsage } from "../../src/data-path/request-log/read-usage.ts";
import { rebuildUsage, type UsageRebuild } from "../../src/data-path/request-log/rebuild-usage.ts";
import { verifyUsage } from "../../src/data-path/request-log/verify-usage.ts";
import { byExtent } from "../support/extent.ts";
import { type FaultStackOn, startStackAgain, terminateStack } from "./fault-stack.ts";
import { lendMachine } from "./machine.ts";

interface KnownOfHost {
  /** A worker has died before it had written its last lines. */
  readonly isLogShort: boolean;
}

/** Nobody may run anything on it meanwhile. Resolves with what is wrong. */
export async function restartStack(faults: FaultStackOn, known: KnownOfHost): Promise<string[]> {
  const problems: string[] = [];
  if (!(await terminateStack(faults))) problems.push("SIGTERM: not everything could be settled");
  await rebuild(faults);
  await startStackAgain(faults);
  const organizations = (await faults.store.listOrganizationIds()).map((organizationId) => ({
    organizationId,
  }));
  await lendMachine(() => faults.waitUntilLeft(organizations));
  const { inFlight } = await rebuild(faults);
  if (inFlight.length > 0) problems.push(`in flight: ${inFlight.join(", ")}`);
  problems.push(...(await checkSettled(faults, known)));
  return problems.map((problem) => `after a restart: ${problem}`);
}

/** The same at night: on each push the scenarios of one Redis show it. */
export const restartStackAtNight = byExtent<typeof restartStack>({
  push: () => Promise.resolve([]),
  nightly: restartStack,
});

/** That the three accounts agree, that a rebuild finds nothing to do, and that nothing settled has changed. */
export async function checkSettled(faults: FaultStackOn, { isLogShort }: KnownOfHost): Promise<string[]> {
  const problems: string[] = [];
  const { month, logged } = await readLog(faults);
  const { differences } = await verifyUsage(faults.store, month, logged);
  const kinds = new Set(differences.map(({ kind }) => kind));
  const allowed = ["in_other_tag_row", ...(isLogShort ? ["missing_in_log"] : [])];
  for (const kind of kinds) if (!allowed.includes(kind)) problems.push(`verify says ${kind}`);
  const { raisedRows, settledRequests } = await rebuild(faults);
  if (raisedRows + settledRequests > 0) problems.push(`another rebuild changes ${raisedRows} rows`);
  for (const { organizationId, microcents } of faults.settled) {
    const { organizationMicrocents: now } = await faults.store.readSpend(organizationId, null);
    if (now !== microcents) problems.push(`${organizationId}: ${microcents} has become ${now}`);
  }
  return problems;
}

/** Of this month, as this host has it. */
async function readLog({ store, stack }: FaultStackOn) {
  const dir = join(stack.dir, "data/requests");
  const nowMs = await store.timeMs();
  const month = new Date(nowMs).toISOString().slice(0, 7);
  return { dir, nowMs, month, logged: await readLoggedUsage(dir, month) };
}

async function rebuild(faults: FaultStackOn): Promise<UsageRebuild> {
  const { dir, nowMs, month, logged } = await readLog(faults);
  return rebuildUsage(faults.store, logged, () => readLateCharges(dir, month, nowMs));
}
