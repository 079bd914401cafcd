/** What the suite runs on: a real stack, two organizations that nobody may hurt, one that tries to, and their model server. */
import { readdirSync, readFileSync } from "node:fs";
import { setPriority } from "node:os";
import { join } from "node:path";
import { configureCounted } from "../faults/fault-stack.ts";
import { startStack, type Stack } from "../support/stack.ts";
import { findFreePort } from "../support/free-port.ts";
import { addTestKey, type CreatedKey, createTestKey } from "../support/test-key.ts";
import type { ManagementTarget } from "./attacks/attack.ts";
import type { Combination } from "./combinations.ts";
import { BEHIND_OTHERS, type HelperProcess, startHelper } from "./helper-process.ts";
import { createManaged } from "./managed.ts";
import type { Started } from "./upstream-program.ts";
import { monthLimits } from "../support/month-limits.ts";

export interface HostileStack {
  readonly stack: Stack;
  readonly upstream: HelperProcess;
  readonly attacker: HelperProcess;
  /** One with default caps, one with strict ones, of which little is left at any time. */
  readonly victims: { readonly open: CreatedKey; readonly strict: CreatedKey };
  readonly hostile: HostileKeys;
  readonly managed: ManagementTarget;
  readonly healthUrl: string;
  stop(): Promise<void>;
}

/** All of one organization. */
export interface HostileKeys {
  /** Of many requests a minute, without a cap. */
  readonly roomy: CreatedKey;
  /** Whose limits are soon reached: six requests a minute, one at a time. */
  readonly narrow: CreatedKey;
  /** Two at a time, of many a minute. */
  readonly paired: CreatedKey;
  /** Whose cap is reached. */
  readonly spent: CreatedKey;
}

const FAR_CENTS = 9_000_000_000;

export async function startHostileStack({ transport, workers }: Combination): Promise<HostileStack> {
  const upstream = startHelper("upstream-program.ts");
  const attacker = startHelper("attacker-program.ts", BEHIND_OTHERS);
  const stopHelpers = (): void => {
    attacker.stop();
    upstream.stop();
  };
  try {
    const { url, smtpUrl, silentUrl } = await upstream.call<Started>("start");
    const healthPort = await findFreePort();
    const stack = await startStack({
      ...configureCounted(url),
      workers,
      overrides: {
        sidecar: { transport },
        admin: { health_port: healthPort },
        notifications: {
          smtp: { url: smtpUrl, from: "gateway@example.com" },
          webhooks: { allow_private_networks: true },
        },
      },
      isLauncherOwnProcess: true,
    });
    preferRedis(stack);
    const organizations = await createOrganizations(stack);
    const managed = await createManaged(stack, silentUrl);
    const healthUrl = `http://127.0.0.1:${healthPort}`;
    const stop = async (): Promise<void> => {
      stopHelpers();
      await stack.stop();
    };
    return { stack, upstream, attacker, ...organizations, managed, healthUrl, stop };
  } catch (error) {
    stopHelpers();
    throw error;
  }
}

async function createOrganizations(stack: Stack): Promise<Pick<HostileStack, "victims" | "hostile">> {
  const store = await stack.store();
  const limited = { requestsPerMinute: 60_000, limits: monthLimits({ cap: FAR_CENTS, budget: FAR_CENTS }) };
  const capped = { limits: monthLimits({ cap: FAR_CENTS, budget: FAR_CENTS }) };
  const open = await createTestKey(store, limited, capped);
  const strict = await createTestKey(
    store,
    { ...limited, maxConcurrentRequests: 16 },
    { ...capped, limits: monthLimits({ cap: HEADROOM_CENTS }), strictCaps: true },
  );
  const roomy = await createTestKey(store);
  const add = async (settings: Parameters<typeof addTestKey>[2]): Promise<CreatedKey> =>
    await addTestKey(store, roomy.organizationId, settings);
  const hostile = {
    roomy,
    narrow: await add({ requestsPerMinute: 6, maxConcurrentRequests: 1 }),
    paired: await add({ maxConcurrentRequests: 2 }),
    spent: await add({ limits: monthLimits({ cap: 0 }) }),
  };
  return { victims: { open, strict }, hostile };
}

/**
 * What the strict victim may spend at any time, at least half of it: many of its own requests at the most that each can
 * cost, and none with a prompt of 90,000 tokens beside it.
 */
const HEADROOM_CENTS = 400_000;

/** Raises the strict victim's cap as it spends. */
export function createCapKeeper(stack: Stack, key: CreatedKey): (spentCents: number) => Promise<void> {
  let raisedAtCents = 0;
  return async (spentCents) => {
    if (spentCents - raisedAtCents < HEADROOM_CENTS / 2) return;
    raisedAtCents = spentCents;
    const hardCapCents = spentCents + HEADROOM_CENTS;
    await stack.admin("PATCH", `/api/organizations/${key.organizationId}`, { hard_cap_cents: hardCapCents });
  };
}

/** An answer that Redis gives late is a failure (250 ms), whoever else computes here: it is not to wait behind the tests. */
function preferRedis(stack: Stack): void {
  for (const { pid, name } of listStackProcesses(stack)) {
    if (name !== "redis") continue;
    try {
      setPriority(pid, -10);
    } catch (error) {
      // For root alone: others need a machine that does nothing else.
      if ((error as NodeJS.ErrnoException).code !== "ERR_SYSTEM_ERROR") throw error;
    }
  }
}

/** What each kind of process takes of the machine's memory, in bytes. */
export interface Memory {
  readonly envoy: number;
  /** The largest of the workers. */
  readonly worker: number;
  readonly redis: number;
}

export function readMemory(stack: Stack): Memory {
  const memory = { envoy: 0, worker: 0, redis: 0 };
  for (const { pid, name } of listStackProcesses(stack)) {
    memory[name] = Math.max(memory[name], readResidentBytes(pid));
  }
  return memory;
}

/** The files of all logs of the stack. */
export function listLogs({ dir }: Stack): readonly string[] {
  const folder = join(dir, "data/logs");
  return readdirSync(folder).map((name) => join(folder, name));
}

interface StackProcess {
  readonly pid: number;
  readonly name: keyof Memory;
}

function listStackProcesses({ dir, configFile }: Stack): readonly StackProcess[] {
  const pids = readdirSync("/proc").filter((entry) => /^\d+$/u.test(entry));
  return pids.map(Number).flatMap((pid) => {
    const name = nameProcess(readProcess(pid, "cmdline").split("\0"), dir, configFile);
    return name === null ? [] : [{ pid, name }];
  });
}

function nameProcess(args: readonly string[], dir: string, configFile: string): keyof Memory | null {
  const text = args.join(" ");
  if (!text.includes(dir)) return null;
  const [program = ""] = args;
  if (/(?:^|\/)envoy[^/]*$/u.test(program)) return "envoy";
  if (/redis-server/u.test(program)) return "redis";
  return args.includes("worker") && args.includes(configFile) ? "worker" : null;
}

function readResidentBytes(pid: number): number {
  const [, kibibytes = "0"] = /VmRSS:\s+(\d+) kB/u.exec(readProcess(pid, "status")) ?? [];
  return Number(kibibytes) * 1024;
}

/** Empty for one that has ended. */
function readProcess(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch (error) {
    if (["ENOENT", "ESRCH"].includes(String((error as NodeJS.ErrnoException).code))) return "";
    throw error;
  }
}
