import { afterEach, describe, expect, it } from "vitest";
import { Secret } from "../../src/shared/config/secret.ts";
import { type OpeningStore, openStoreInBackground } from "../../src/data-path/store/open-store.ts";
import { SCHEMA_VERSION } from "../../src/data-path/store/redis/schema.ts";
import { type PrivateRedis, startRedis } from "../support/redis.ts";
import { waitFor } from "../support/wait.ts";
import { connectClient, USAGE_MONTHS } from "./fixture.ts";

const cleanUps: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

async function start(): Promise<PrivateRedis> {
  const redis = await startRedis({ appendOnly: true });
  cleanUps.push(() => redis.stop());
  return redis;
}

async function open(redis: PrivateRedis, password: Secret | null = null): Promise<OpeningStore & Logged> {
  const errors: string[] = [];
  const logger = {
    warn: () => undefined,
    error: ({ err }: { err?: unknown }) => void errors.push(String(err)),
  };
  const settings = {
    mode: "single" as const,
    urls: [redis.url],
    name: null,
    username: null,
    password,
    sentinelPassword: null,
    caFile: null,
    certFile: null,
    keyFile: null,
  };
  const opening = await openStoreInBackground(
    { redis: settings, retention: { usageMonths: USAGE_MONTHS } },
    logger,
  );
  cleanUps.push(() => opening.close());
  return { ...opening, errors };
}

interface Logged {
  readonly errors: readonly string[];
}

/** Another program's connection. */
async function setSchema(redis: PrivateRedis, version: number): Promise<void> {
  const client = await connectClient({ url: redis.url });
  await client.set("igw:schema", String(version));
  client.disconnect();
}

describe("a store that opens in the background", () => {
  it("is open at once where Redis answers", async () => {
    const opening = await open(await start());
    expect(opening.isOpen()).toBe(true);
    await opening.opened;
    expect(await opening.store.timeMs()).toBeGreaterThan(0);
  });

  it("rejects every operation while Redis is away, and opens by itself when it comes", async () => {
    const redis = await start();
    redis.kill();
    const opening = await open(redis);
    expect(opening.isOpen()).toBe(false);
    await expect(opening.store.timeMs()).rejects.toThrow("has not answered");
    expect(opening.store.firedAlerts()).toBe(0);
    await redis.restart();
    await opening.opened;
    expect(await opening.store.timeMs()).toBeGreaterThan(0);
  });

  it("stays closed when the Redis that comes holds a newer version's data, says so, and opens when that is put right", async () => {
    const redis = await start();
    await setSchema(redis, SCHEMA_VERSION + 1);
    redis.kill();
    const opening = await open(redis);
    await redis.restart();
    await waitFor("it to be said", () => opening.errors.some((text) => text.includes("newer version")));
    await expect(opening.store.timeMs()).rejects.toThrow("has not answered");
    await setSchema(redis, SCHEMA_VERSION);
    await opening.opened;
    expect(opening.isOpen()).toBe(true);
  });

  it("does not open when a newer version's data is there at the start", async () => {
    const redis = await start();
    await setSchema(redis, SCHEMA_VERSION + 1);
    await expect(open(redis)).rejects.toThrow("newer version");
  });

  it("does not open when Redis refuses the login", async () => {
    const redis = await start();
    const client = await connectClient({ url: redis.url });
    await client.config("SET", "requirepass", "right");
    client.disconnect();
    const wrong = new Secret({ env: "PASSWORD" }, { baseDir: "/", env: { PASSWORD: "wrong" } });
    await expect(open(redis, wrong)).rejects.toThrow(/not ready/);
  });

  it("gives up what cannot go without Redis", async () => {
    const redis = await start();
    redis.kill();
    const opening = await open(redis);
    await expect(opening.waitUntilOpen(50)).rejects.toThrow("did not answer");
  });
});
