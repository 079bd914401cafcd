/**
 * What an upgrade runs on: `serve` of an older build, one Envoy that knows the sockets of the next one, Redis, a counting
 * upstream; and an organization that the older build has made.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Generation, startEnvoyForBoth } from "../envoy/access/generations.ts";
import { type ServeAlone, startServeAlone } from "../envoy/access/serve-alone.ts";
import { createRedisClient, type RedisClient, waitUntilReady } from "../../src/store/redis/client.ts";
import { send } from "../support/http.ts";
import type { OlderBuild } from "../support/older-build.ts";
import type { SideEnvoy } from "../support/side-envoy.ts";
import { type CountingUpstream, startCountingUpstream } from "./counting-upstream.ts";
import { configureCounted, WORKERS } from "./fault-stack.ts";
import { leaveMachine, takeMachine } from "./machine.ts";

export interface UpgradeStack {
  readonly older: OlderBuild;
  readonly first: ServeAlone;
  readonly envoy: SideEnvoy;
  readonly upstream: CountingUpstream;
  readonly client: RedisClient;
  readonly tenant: UpgradeTenant;
  /** What was started beside, and ends with it. */
  readonly started: Generation[];
  stop(): Promise<void>;
}

/** Zoë is of a group, Ann of another; the third key is nobody's. */
export interface UpgradeTenant {
  readonly organizationId: string;
  readonly keys: Readonly<Record<KeyName, { readonly id: string; readonly key: string }>>;
  /** By what an owner is called in Redis's counters: whose requests count to it. */
  readonly subjects: ReadonlyMap<string, readonly KeyName[]>;
  /** In the management API, of whatever generation. */
  readonly paths: Readonly<
    Record<"organization" | "zoe" | "ann" | "ci" | "zoeUser" | "annUser" | "zoeGroup" | "annGroup", string>
  >;
}

const KEY_NAMES = ["zoe", "ann", "ci"] as const;
export type KeyName = (typeof KEY_NAMES)[number];

/** Longer than anything here takes: streams end when the test lets them. */
const DRAIN_SECONDS = 90;

/** Has the machine from here until the stack is stopped: see machine.ts. */
export async function startUpgradeStack(older: OlderBuild): Promise<UpgradeStack> {
  await takeMachine();
  const cleanup: (() => Promise<unknown>)[] = [];
  const started: Generation[] = [];
  const stop = async (): Promise<void> => {
    for (const { serve } of started.toReversed()) await serve.stop(15_000);
    for (const end of cleanup.toReversed()) await end();
    leaveMachine();
  };
  try {
    const upstream = await startCountingUpstream();
    cleanup.push(() => upstream.close());
    const first = await startServeAlone({
      upstreamUrl: upstream.url,
      workers: WORKERS,
      drainSeconds: DRAIN_SECONDS,
      overrides: configureCounted(upstream.url),
      main: older.main,
    });
    cleanup.push(() => first.stop());
    const envoy = await startEnvoyForBoth(first, WORKERS);
    cleanup.push(() => envoy.stop());
    const client = createRedisClient({
      url: first.redis.url,
      commandTimeoutMs: 10_000,
      onError: () => undefined,
    });
    cleanup.push(async () => client.disconnect());
    await waitUntilReady(client, 10_000);
    const tenant = await createTenant(callerOf(olderGeneration(first)));
    return { older, first, envoy, upstream, client, tenant, started, stop };
  } catch (thrown) {
    await stop();
    throw thrown;
  }
}

export interface AdminAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export type CallAdmin = (method: string, path: string, body?: object) => Promise<AdminAnswer>;

type Managed = Pick<Generation, "adminUrl" | "dataDir">;

export function olderGeneration({ adminUrl, configFile }: ServeAlone): Managed {
  return { adminUrl, dataDir: join(dirname(configFile), "data") };
}

/** A generation's own management API, with its operator's token. */
export function callerOf({ adminUrl, dataDir }: Managed): CallAdmin {
  return async (method, path, body) => {
    const token = readFileSync(join(dataDir, "operator-token"), "utf8").trim();
    const answer = await send(adminUrl, {
      method,
      path,
      headers: { authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body }),
    });
    return { status: answer.status, body: answer.text === "" ? {} : answer.json() };
  };
}

async function createTenant(call: CallAdmin): Promise<UpgradeTenant> {
  const create = async (path: string, body: object): Promise<Record<"id" | "key", string>> => {
    const answer = await call("POST", path, body);
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body as Record<"id" | "key", string>;
  };
  const { id: organizationId } = await create("/api/organizations", { name: "Upgraded", currency: "USD" });
  const path = `/api/organizations/${organizationId}`;
  const createMember = async (name: string) => {
    const group = await create(`${path}/groups`, { name: `Group of ${name}` });
    const user = await create(`${path}/users`, { name, group_id: group.id });
    return { group, user, key: await createKey(name, { user_id: user.id }) };
  };
  const createKey = (name: string, owner: object) =>
    create(`${path}/keys`, { name, requests_per_minute: 1_000_000, ...owner });
  const zoe = await createMember("Zoë");
  const ann = await createMember("Ann");
  const ci = await createKey("ci", {});
  return {
    organizationId,
    keys: { zoe: zoe.key, ann: ann.key, ci },
    subjects: new Map<string, readonly KeyName[]>([
      ["organization", KEY_NAMES],
      [`key:${ci.id}`, ["ci"]],
      ...[["zoe", zoe] as const, ["ann", ann] as const].flatMap(([name, { key, user, group }]) =>
        [`key:${key.id}`, `user:${user.id}`, `group:${group.id}`].map(
          (subject): [string, readonly KeyName[]] => [subject, [name]],
        ),
      ),
    ]),
    paths: {
      organization: path,
      zoe: `${path}/keys/${zoe.key.id}`,
      ann: `${path}/keys/${ann.key.id}`,
      ci: `${path}/keys/${ci.id}`,
      zoeUser: `${path}/users/${zoe.user.id}`,
      annUser: `${path}/users/${ann.user.id}`,
      zoeGroup: `${path}/groups/${zoe.group.id}`,
      annGroup: `${path}/groups/${ann.group.id}`,
    },
  };
}
