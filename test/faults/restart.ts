/**
 * What an operator does on a host whose requests have ended, with the processes and commands that there are: SIGTERM,
 * `usage verify`, `usage rebuild`, start, `usage rebuild`. Nothing that was charged changes by it.
 */
import { type FaultStackOn, startStackAgain, terminateStack } from "./fault-stack.ts";
import { lendMachine } from "./machine.ts";
import { rebuildOnHost, verifyOnHost } from "./usage-commands.ts";

interface KnownOfHost {
  /** A worker has died before it had written its last lines. */
  readonly isLogShort: boolean;
}

/** Nobody may run anything on it meanwhile. Resolves with what is wrong. */
export async function restartStack(faults: FaultStackOn, known: KnownOfHost): Promise<string[]> {
  const problems: string[] = [];
  if (!(await terminateStack(faults))) problems.push("SIGTERM: not everything could be settled");
  await verifyOnHost(faults);
  await rebuildOnHost(faults);
  await startStackAgain(faults);
  const organizations = (await faults.store.listOrganizationIds()).map((organizationId) => ({
    organizationId,
  }));
  await lendMachine(() => faults.waitUntilLeft(organizations));
  const { inFlight } = await rebuildOnHost(faults);
  if (inFlight.length > 0) problems.push(`in flight: ${inFlight.join(", ")}`);
  problems.push(...(await checkSettled(faults, known)));
  return problems.map((problem) => `after a restart: ${problem}`);
}

/** That the three accounts agree, that a rebuild finds nothing to do, and that nothing settled has changed. */
export async function checkSettled(faults: FaultStackOn, { isLogShort }: KnownOfHost): Promise<string[]> {
  const problems: string[] = [];
  const { kinds } = await verifyOnHost(faults);
  const allowed = ["in_other_tag_row", ...(isLogShort ? ["missing_in_log"] : [])];
  for (const kind of kinds) if (!allowed.includes(kind)) problems.push(`verify says ${kind}`);
  const { raisedRows, settledRequests } = await rebuildOnHost(faults);
  if (raisedRows + settledRequests > 0) problems.push(`another rebuild changes ${raisedRows} rows`);
  for (const { organizationId, microcents } of faults.settled) {
    const { organizationMicrocents: now } = await faults.store.readSpend(organizationId, null);
    if (now !== microcents) problems.push(`${organizationId}: ${microcents} has become ${now}`);
  }
  return problems;
}
