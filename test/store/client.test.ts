import { Cluster } from "ioredis";
import { afterEach, describe, expect, it } from "vitest";
import {
  createRedisClient,
  type RedisClient,
  waitUntilReady,
} from "../../src/data-path/store/redis/client.ts";
import { createStore, createStoreOfBoth } from "../../src/data-path/store/redis-store.ts";
import { checkSchema, SCHEMA_VERSION } from "../../src/data-path/store/redis/schema.ts";
import { type PrivateRedis, startRedis, startRedisCluster } from "../support/redis.ts";
import { waitFor } from "../support/wait.ts";
import {
  admitInput,
  admitKnown,
  connectClient,
  connectStore,
  createTestKey,
  USAGE_MONTHS,
} from "./fixture.ts";

const cleanUps: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

async function start(options: { appendOnly?: boolean } = {}): Promise<PrivateRedis> {
  const redis = await startRedis(options);
  cleanUps.push(() => redis.stop());
  return redis;
}

/** As the gateway makes it, with its own timeout. */
async function connect(redis: PrivateRedis): Promise<RedisClient> {
  const client = createRedisClient({ url: redis.url, onError: () => undefined });
  cleanUps.push(() => client.disconnect());
  await waitUntilReady(client, 10_000);
  return client;
}

describe("createRedisClient", () => {
  it("sends an admission once when Redis has lost its scripts", async () => {
    const redis = await start();
    const { store, client } = await connectStore({ url: redis.url });
    cleanUps.push(() => client.disconnect());
    const key = await createTestKey(store, { requestsPerMinute: 1 });
    expect((await admitKnown(store, key)).bucket.remaining).toBe(9);
    await client.script("FLUSH");
    const admissions = await Promise.all([1, 2, 3].map(() => admitKnown(store, key)));
    expect(new Set(admissions.map(({ bucket }) => bucket.remaining))).toEqual(new Set([8, 7, 6]));
  });

  it("connects to a cluster once, also when its nodes take longer to connect than to tell their slots", async () => {
    const cluster = await startRedisCluster();
    cleanUps.push(() => cluster.stop());
    const late = cluster.nodes.slice(1);
    // Their connections are taken by the kernel, and answered by nobody yet.
    for (const { child } of late) child.signal("SIGSTOP");
    let reconnects = 0;
    // Several, since each asks a node by chance.
    const connecting = Array.from({ length: 6 }, async () => {
      const client = createRedisClient({ cluster: cluster.urls.slice(0, 1), onError: () => undefined });
      cleanUps.push(() => client.disconnect());
      client.on("reconnecting", () => (reconnects += 1));
      const knowsAll = () => client instanceof Cluster && client.nodes().length === cluster.nodes.length;
      await waitFor("the slots", knowsAll, { timeoutMs: 30_000 });
      return client;
    });
    const clients = await Promise.all(connecting);
    for (const { child } of late) child.signal("SIGCONT");
    await Promise.all(clients.map((client) => waitUntilReady(client, 60_000)));
    expect(reconnects).toBe(0);
    // The connections that it reads its slots by are made like these: what these had here would be their time, too.
    const nodes = clients.flatMap((client) => (client instanceof Cluster ? client.nodes() : []));
    expect(nodes.map(({ options }) => options.commandTimeout)).toEqual(nodes.map(() => undefined));
  });

  it("gives a command up whose answer does not come, and never sends it again", async () => {
    const redis = await start();
    const client = await connect(redis);
    const store = createStore({ client, usageMonths: USAGE_MONTHS });
    const key = await createTestKey(store, { requestsPerMinute: 1 });
    const other = await connectClient({ url: redis.url });
    cleanUps.push(() => other.disconnect());
    await other.client("PAUSE", 60_000, "WRITE");
    await expect(store.admit(admitInput(key))).rejects.toThrow("Command timed out");
    await other.client("UNPAUSE");
    // It was executed late, once: its token is gone, and no more than that.
    await waitFor("the late admission", async () => (await other.exists(bucketOf(key))) === 1);
    expect((await admitKnown(store, key)).bucket.remaining).toBe(8);
  });

  it("waits longer for the answers of callers that have nothing to fall back on", async () => {
    const redis = await start();
    const { store, patient } = createStoreOfBoth({ client: await connect(redis), usageMonths: USAGE_MONTHS });
    const key = await createTestKey(store);
    const other = await connectClient({ url: redis.url });
    cleanUps.push(() => other.disconnect());
    await other.client("PAUSE", 60_000, "WRITE");
    const asked = patient.admit(admitInput(key));
    await expect(store.admit(admitInput(key))).rejects.toThrow("Command timed out");
    await other.client("UNPAUSE");
    expect(await asked).toMatchObject({ decision: "admitted" });
    await other.client("PAUSE", 60_000, "WRITE");
    await expect(patient.admit(admitInput(key))).rejects.toThrow("Command timed out");
  });

  it.each([
    { name: "before its commands left", waitForWrite: false },
    { name: "while their answers came", waitForWrite: true },
  ])("does not call Redis late when this process had no turn $name", async ({ waitForWrite }) => {
    const client = await connect(await start());
    const answers = Promise.all([client.ping(), client.ping()]);
    if (waitForWrite) await new Promise(setImmediate);
    const sinceMs = performance.now();
    while (performance.now() - sinceMs < 400);
    expect(await answers).toEqual(["PONG", "PONG"]);
  });

  it("fails commands that a dying Redis did not answer, and sends none of them again", async () => {
    const redis = await start({ appendOnly: true });
    const client = await connect(redis);
    const store = createStore({ client, usageMonths: USAGE_MONTHS });
    const key = await createTestKey(store, { requestsPerMinute: 60 });
    const lost = Promise.allSettled(Array.from({ length: 5 }, () => store.admit(admitInput(key))));
    redis.kill();
    const outcomes = await lost;
    await expect(store.admit(admitInput(key))).rejects.toThrow(/writeable|closed|retries|timed out/);
    await redis.restart();
    await waitUntilReady(client, 10_000);
    const spent = outcomes.filter(({ status }) => status === "fulfilled").length;
    const { bucket } = await admitKnown(store, key);
    expect(bucket.remaining).toBeGreaterThanOrEqual(10 - 5 - 1);
    expect(bucket.remaining).toBeLessThanOrEqual(10 - spent);
  });

  it("refuses commands at once while there is no connection", async () => {
    const redis = await start();
    const client = await connect(redis);
    redis.kill();
    await waitFor("the connection to close", () => client.status !== "ready");
    await expect(client.get("igw:schema")).rejects.toThrow("enableOfflineQueue");
  });

  it("comes back by itself", async () => {
    const redis = await start();
    const client = await connect(redis);
    redis.kill();
    await waitFor("the connection to close", () => client.status !== "ready");
    await redis.restart();
    await waitUntilReady(client, 10_000);
    expect(await client.ping()).toBe("PONG");
  });

  it("sends the commands of one turn of the event loop in one write", async () => {
    const redis = await start();
    const { store, client } = await connectStore({ url: redis.url });
    cleanUps.push(() => client.disconnect());
    const key = await createTestKey(store, {});
    await admitKnown(store, key);
    const countReads = async (): Promise<number> =>
      Number(/total_reads_processed:(\d+)/.exec(await client.info("stats"))?.[1]);
    const before = await countReads();
    await Promise.all([1, 2, 3, 4, 5].map(() => admitKnown(store, key)));
    // That of the count itself is the other one.
    expect((await countReads()) - before).toBe(2);
  });

  it("takes a socket's path, and a database number", async () => {
    const redis = await start();
    const client = createRedisClient({ url: redis.url.slice("unix://".length), onError: () => undefined });
    cleanUps.push(() => client.disconnect());
    await waitUntilReady(client, 10_000);
    expect(await client.ping()).toBe("PONG");
  });
});

describe("waitUntilReady", () => {
  it("says why there is no Redis", async () => {
    const client = createRedisClient({ url: "unix:///nowhere/redis.sock", onError: () => undefined });
    cleanUps.push(() => client.disconnect());
    await expect(waitUntilReady(client, 100)).rejects.toThrow(/not ready after 100 ms: .*ENOENT/);
  });
});

describe("checkSchema", () => {
  it("marks an empty Redis, and knows its own mark", async () => {
    const client = await connect(await start());
    await checkSchema(client);
    await checkSchema(client);
    expect(await client.get("igw:schema")).toBe(String(SCHEMA_VERSION));
  });

  it.each([
    {
      name: "a newer version's data",
      stored: String(SCHEMA_VERSION + 1),
      message: "a newer version of this gateway",
    },
    {
      name: "an older version's data",
      stored: String(SCHEMA_VERSION - 1),
      message:
        /an older version.* Start the version that wrote the data, or set `redis\.url` to an empty Redis\./,
    },
    { name: "something else's data", stored: "hello", message: "not this gateway's" },
  ])("refuses $name and leaves it alone", async ({ stored, message }) => {
    const client = await connect(await start());
    await client.set("igw:schema", stored);
    await expect(checkSchema(client)).rejects.toThrow(message);
    expect(await client.get("igw:schema")).toBe(stored);
  });
});

function bucketOf({ organizationId, keyId }: { organizationId: string; keyId: string }): string {
  return `igw:{${organizationId}}:bucket:${keyId}`;
}
