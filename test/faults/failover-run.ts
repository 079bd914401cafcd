/** One failover under load: what was acknowledged and lost, counted, and brought back from the request log. */
import { type Faults, isAtRisk, usedBy } from "./fault-accounts.ts";
import type { Sent } from "./fault-load.ts";
import { IS_LONG, type RunningScenario, runScenario, WARM_ANSWERS } from "./fault-scenario.ts";
import type { FaultStackOn } from "./fault-stack.ts";
import type { Tenants } from "./fault-tenants.ts";
import { lendMachine } from "./machine.ts";

const ANSWERS_AFTER = IS_LONG ? 400 : 40;
const NAMES = ["open", "capped", "strict"] as const;

/** Each has a stack of its own, and so one of the turns of `planTenants`. */
interface Failover {
  readonly name: string;
  readonly turn: number;
}

/** Runs the scenario and says what is left of it after the request log was put in. */
export async function runFailover(
  faults: FaultStackOn,
  { name, turn }: Failover,
  failOver: (running: RunningScenario) => Promise<Faults>,
): Promise<readonly string[]> {
  let seen: RunningScenario | null = null;
  let happened: Faults = {};
  let before: readonly bigint[] = [];
  const problems = await runScenario(faults, {
    name,
    turn,
    outputTokens: 10,
    async fault(running) {
      seen = running;
      await running.answered(WARM_ANSWERS);
      happened = await failOver(running);
      await running.answered(ANSWERS_AFTER);
      return happened;
    },
    async onSettled() {
      before = await readCharged(faults, seen);
      // A lost command may have been the one that took an entry out, and the rebuild leaves alone what is in flight.
      const keys = Object.values(seen?.tenants ?? {});
      await lendMachine(() => faults.waitUntilLeft(keys));
    },
    allowsFailures: false,
    // What came back with an old record waits for the reaper.
    waitsForReaper: true,
    isGrace: true,
  });
  if (seen === null) throw new Error("nothing ran");
  const { sent }: RunningScenario = seen;
  const after = await readCharged(faults, seen);
  return [...problems, ...countRecovery(faults, name, { sent, happened, before, after })];
}

/** Of each key, in the order of `NAMES`. */
async function readCharged({ store }: FaultStackOn, running: RunningScenario | null): Promise<bigint[]> {
  const month = new Date(await store.timeMs()).toISOString().slice(0, 7);
  const read = async (tenant: keyof Tenants): Promise<bigint> => {
    const id = running?.tenants[tenant].organizationId ?? "";
    return (await store.readSpend(id, month)).organizationMicrocents;
  };
  return Promise.all(NAMES.map(read));
}

interface Recovered {
  readonly sent: RunningScenario["sent"];
  readonly happened: Faults;
  /** Charged without the request log, and with it. */
  readonly before: readonly bigint[];
  readonly after: readonly bigint[];
}

/** Prints what was lost and what the request log has brought back; says what it has not. */
function countRecovery(
  { upstream }: FaultStackOn,
  name: string,
  { sent, happened, before, after }: Recovered,
): readonly string[] {
  const used = (own: readonly Sent[]): bigint =>
    own.reduce((sum, { id }) => sum + usedBy(upstream.accounts.get(id)), 0n);
  return NAMES.flatMap((tenant, index) => {
    const atRisk = sent[tenant].filter((each) => each.isWhole && isAtRisk(each, happened)).length;
    const lost = used(sent[tenant]) - (before[index] ?? 0n);
    const missing = used(sent[tenant]) - (after[index] ?? 0n);
    process.stdout.write(
      `${name} | ${tenant} | answers at risk ${atRisk} | lost acknowledged ${lost} | after usage rebuild ${missing}\n`,
    );
    return missing === 0n ? [] : [`${tenant}: ${missing} is missing after the rebuild`];
  });
}
