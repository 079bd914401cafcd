/** A store on a private Redis, and what most tests of it begin with. */
import { strict as assert } from "node:assert";
import { createHash, randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
import { Cluster } from "ioredis";
import { afterAll, beforeAll, inject } from "vitest";
import {
  createRedisClient,
  type RedisAddress,
  type RedisClient,
  waitUntilReady,
} from "../../src/data-path/store/redis/client.ts";
import { createId } from "../../src/data-path/store/ids.ts";
import { readScript } from "../../src/data-path/store/ioredis/scripts.ts";
import { SCRIPTS } from "../../src/data-path/store/redis/script-layouts.ts";
import { createStore } from "../../src/data-path/store/redis-store.ts";
import type { Store } from "../../src/shared/stored/store.ts";
import type { AdmitInput, AdmitResult, KnownKeyResult } from "../../src/shared/stored/admission.ts";
import { KEY_SETTINGS, type KeySettings } from "../../src/shared/settings/key.ts";
import { ORGANIZATION_SETTINGS, type OrganizationSettings } from "../../src/shared/settings/organization.ts";
import { defaultsOf } from "../../src/shared/settings/table.ts";
import { USER_GROUP_SETTINGS, type UserGroupSettings } from "../../src/shared/settings/user-group.ts";
import { USER_SETTINGS, type UserSettings } from "../../src/shared/settings/user.ts";
import type { HashedKey, OrganizationRecord } from "../../src/shared/stored/management.ts";
import type { AuditInput } from "../../src/shared/stored/audit.ts";
import type {
  BilledRequest,
  ChargeInput,
  OpenRecordInput,
  RequestIdentity,
} from "../../src/shared/stored/settlement.ts";
import { startRedis, startRedisCluster } from "../support/redis.ts";
import { NO_TOKENS } from "../../src/shared/usage/token-usage.ts";

export const USAGE_MONTHS = 13;
export const MODEL = "acme/echo-small";
export const ROUTE = "POST /v1/chat/completions";

export interface OpenedStore {
  readonly address: RedisAddress;
  readonly store: Store;
  /** For looking behind the store, and for breaking things. */
  readonly client: RedisClient;
}

export interface StoreUnderTest extends OpenedStore {
  stop(): Promise<void>;
}

/** The whole suite runs on both: one server, and (project `cluster`) Redis Cluster. */
export const IS_ON_CLUSTER = process.env["STORE_TESTS_ON"] === "cluster";

/** On a server of its own; in the project `cluster` on its process's cluster of three nodes, which is emptied first. */
export async function openTestStore(): Promise<StoreUnderTest> {
  if (IS_ON_CLUSTER) return connectCluster();
  const redis = await startRedis();
  return connectStore({ url: redis.url }, () => redis.stop());
}

/** One store for all tests of a file, opened before them and stopped after them; the fields are there from the first on. */
export function withTestStore(open: () => Promise<StoreUnderTest> = openTestStore): OpenedStore {
  let opened: StoreUnderTest | null = null;
  const required = (): StoreUnderTest => {
    if (opened === null) throw new Error("the store is used before it was opened");
    return opened;
  };
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => opened?.stop());
  return {
    get address() {
      return required().address;
    },
    get store() {
      return required().store;
    },
    get client() {
      return required().client;
    },
  };
}

/** On a cluster of three nodes, in every project. */
export async function openClusterStore(): Promise<StoreUnderTest> {
  if (IS_ON_CLUSTER) return connectCluster();
  const cluster = await startRedisCluster();
  return connectStore({ cluster: cluster.urls }, () => cluster.stop());
}

async function connectCluster(): Promise<StoreUnderTest> {
  const cluster = inject("redisClusters")[Number(process.env["VITEST_POOL_ID"]) - 1];
  if (cluster === undefined) throw new Error("there is no cluster for this process");
  const opened = await connectStore({ cluster });
  if (opened.client instanceof Cluster) {
    await Promise.all(opened.client.nodes("master").map((node) => node.flushall()));
  }
  return opened;
}

/** A store with a connection of its own, as another process has one. */
export async function connectStore(
  address: RedisAddress,
  stopServer: () => Promise<void> = async () => undefined,
): Promise<StoreUnderTest> {
  const client = await connectClient(address);
  const store = createStore({ client, usageMonths: USAGE_MONTHS });
  return {
    address,
    store,
    client,
    async stop() {
      if (IS_ON_CLUSTER) await noteScripts(client);
      client.disconnect();
      await stopServer();
    },
  };
}

/** Notes which scripts a cluster has run: shared-cluster.ts looks that none is left out. */
async function noteScripts(client: RedisClient): Promise<void> {
  if (!(client instanceof Cluster)) return;
  const hashes = Object.values(SCRIPTS).map(({ file }) =>
    createHash("sha1").update(readScript(file)).digest("hex"),
  );
  const known = await Promise.all(
    client.nodes("master").map((node) => node.script("EXISTS", ...hashes) as Promise<number[]>),
  );
  const names = Object.keys(SCRIPTS).filter((_, index) => known.some((each) => each[index] === 1));
  appendFileSync(inject("clusterScripts"), `${names.join("\n")}\n`);
}

export async function connectClient(address: RedisAddress): Promise<RedisClient> {
  // Generous: a test is about what is decided, and the machine may be busy.
  const client = createRedisClient({ ...address, commandTimeoutMs: 20_000, onError: () => undefined });
  await waitUntilReady(client, 10_000);
  return client;
}

export const ORGANIZATION: OrganizationSettings = {
  ...defaultsOf(ORGANIZATION_SETTINGS),
  name: "Acme",
  currency: "USD",
};

export const KEY: KeySettings = { ...defaultsOf(KEY_SETTINGS), name: "ci", requestsPerMinute: 600 };

/** The hash of a made-up key: the store never sees a key. */
export function createHashedKey(): HashedKey {
  const hash = createHash("sha256").update(randomUUID()).digest("hex");
  return { hash, display: `sk-igw-…${hash.slice(-4)}` };
}

export interface TestKey {
  readonly organizationId: string;
  readonly keyId: string;
  readonly hash: string;
  /** Of its organization; left out: that of `ORGANIZATION`. */
  readonly currency?: string;
}

/** A new organization, with a name of its own unless one is given. */
export async function createTestOrganization(
  store: Store,
  settings: Partial<OrganizationSettings> = {},
  audit?: (record: OrganizationRecord) => AuditInput,
): Promise<OrganizationRecord> {
  const name = `Acme ${randomUUID()}`;
  const result = await store.createOrganization({ ...ORGANIZATION, name, ...settings }, audit);
  if (result.outcome !== "created") throw new Error(`the name is that of ${result.holder.id}`);
  return result.organization;
}

/** A new organization with one key. */
export async function createTestKey(
  store: Store,
  key: Partial<KeySettings> = {},
  organization: Partial<OrganizationSettings> = {},
): Promise<TestKey> {
  const { id, currency } = await createTestOrganization(store, organization);
  return { ...(await addTestKey(store, id, key)), currency };
}

export async function addTestKey(
  store: Store,
  organizationId: string,
  settings: Partial<KeySettings> = {},
): Promise<TestKey> {
  const hashed = createHashedKey();
  const record = await store.createKey(organizationId, { ...KEY, ...settings }, hashed);
  if (record === null) throw new Error("the key was not created");
  return { organizationId, keyId: record.id, hash: hashed.hash };
}

/** A new user, with a name of its own. Returns its id. */
export async function addTestUser(
  store: Store,
  organizationId: string,
  settings: Partial<UserSettings> = {},
): Promise<string> {
  const name = `user ${randomUUID()}`;
  const result = await store.createUser(organizationId, { ...defaultsOf(USER_SETTINGS), name, ...settings });
  if (result.outcome !== "created") throw new Error(result.outcome);
  return result.owner.id;
}

/** A new group, with a name of its own. Returns its id. */
export async function addTestGroup(
  store: Store,
  organizationId: string,
  settings: Partial<UserGroupSettings> = {},
): Promise<string> {
  const defaults = { ...defaultsOf(USER_GROUP_SETTINGS), name: `group ${randomUUID()}` };
  const result = await store.createGroup(organizationId, { ...defaults, ...settings });
  if (result.outcome !== "created") throw new Error(result.outcome);
  return result.owner.id;
}

export function admitInput(key: TestKey, changes: Partial<AdmitInput> = {}): AdmitInput {
  return {
    organizationId: key.organizationId,
    keyId: key.keyId,
    presentedHash: key.hash,
    requestId: createId("req", Date.now()),
    route: ROUTE,
    bucket: "requests",
    metered: true,
    promptTokens: 0,
    ...changes,
  };
}

/** An admission that is expected to know the key. */
export async function admitKnown(
  store: Store,
  key: TestKey,
  changes: Partial<AdmitInput> = {},
): Promise<KnownKeyResult> {
  return known(await store.admit(admitInput(key, changes)));
}

export function known(result: AdmitResult): KnownKeyResult {
  if (result.decision === "unknown_key") throw new Error("the key is not known");
  return result;
}

/** The identity of a new request of this key, admitted now by Redis's clock. */
export async function createIdentity(store: Store, key: TestKey): Promise<BilledRequest> {
  const now = new Date(await store.timeMs()).toISOString();
  return {
    organizationId: key.organizationId,
    keyId: key.keyId,
    requestId: createId("req", Date.now()),
    month: now.slice(0, 7),
    day: now.slice(0, 10),
    model: MODEL,
    route: ROUTE,
    currency: key.currency ?? ORGANIZATION.currency,
  };
}

export function openRecordInput(
  identity: RequestIdentity,
  changes: Partial<OpenRecordInput> = {},
): OpenRecordInput {
  return { ...identity, worstCaseMicrocents: null, floorMicrocents: 0n, floorInputTokens: 0, ...changes };
}

/** A new request of the only key of a new organization. */
export async function createRequest(store: Store): Promise<BilledRequest> {
  return createIdentity(store, await createTestKey(store));
}

/** A charge of so many microcents, with as many tokens of each kind as tell a mix-up. */
export function chargeInput(
  identity: RequestIdentity,
  sequence: number,
  totalMicrocents: bigint,
  changes: Partial<ChargeInput> = {},
): ChargeInput {
  return {
    ...identity,
    totalMicrocents,
    sequence,
    tokens: {
      ...NO_TOKENS,
      inputTokens: 10 * sequence,
      cachedInputTokens: 3 * sequence,
      outputTokens: 7 * sequence,
      reasoningTokens: sequence,
    },
    requests: 1,
    estimated: false,
    estimate: null,
    final: null,
    ...changes,
  };
}

export const FINAL = { status: 200, errorCode: null, checks: [] } as const;

/** What a request's key has spent in its month, and its organization, which has no other. */
export async function spentBy(
  store: Store,
  { organizationId, keyId, month }: RequestIdentity,
): Promise<bigint> {
  const figures = await store.readSpend(organizationId, month);
  const key = figures.keyMicrocents.get(keyId) ?? 0n;
  assert.equal(figures.organizationMicrocents, key);
  return key;
}

/** What is held for an organization or a key in a month, as it stands in Redis. */
export async function readHeld(
  client: RedisClient,
  identity: RequestIdentity,
  subject: string,
): Promise<bigint> {
  const spend = `igw:{${identity.organizationId}}:spend:${identity.month}`;
  return BigInt((await client.hget(spend, `held:${subject}`)) ?? "0");
}

/**
 * When a key expires, in milliseconds since 1970, two milliseconds off at most: PEXPIRETIME, for Redis 6.2 as well.
 */
export async function readExpiry(client: RedisClient, name: string): Promise<number> {
  const script =
    "local now = redis.call('TIME'); return now[1] * 1000 + math.floor(now[2] / 1000) + redis.call('PTTL', KEYS[1])";
  return Number(await client.eval(script, 1, name));
}

/** How many scripts Redis has run. */
export async function countScripts(client: RedisClient): Promise<number> {
  const nodes = client instanceof Cluster ? client.nodes("master") : [client];
  const stats = await Promise.all(nodes.map((node) => node.info("commandstats")));
  const calls = [...stats.join("\n").matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)];
  return calls.reduce((sum, [, count]) => sum + Number(count), 0);
}
