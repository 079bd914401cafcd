import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createKey as createApiKeyText, displayKey, hashKey } from "../../src/data-path/auth/key-format.ts";
import { lookUpKey } from "../../src/data-path/store/redis/keys.ts";
import { createStore } from "../../src/data-path/store/redis-store.ts";
import type { Store } from "../../src/shared/stored/store.ts";
import { connectClient, KEY, createTestOrganization, USAGE_MONTHS } from "../store/fixture.ts";
import { type PrivateRedis, startRedis } from "../support/redis.ts";
import { waitFor } from "../support/wait.ts";
import { admit, createApiKey, createOrganization, createToken, startAdmin } from "./admin-fixture.ts";

describe("while Redis is away", () => {
  it("every call that needs it is 503 in the shape of errors, and all is well when it is back", async () => {
    const admin = await startAdmin();
    try {
      const organization = await createOrganization(admin);
      const { key, path } = await createApiKey(admin, organization);
      const token = await createToken(admin, organization, "admin");
      admin.redis.kill();
      await waitFor("the connection to be lost", () => admin.client.status !== "ready");
      const write = await admin.call("PATCH", path, { body: { name: "new" } });
      for (const answer of [
        write,
        await admin.call("GET", "/api/organizations"),
        await admin.call("GET", path, { token }),
        await admin.call("POST", `${path}/rotate`),
        await admin.call("GET", `/api/organizations/${organization}/usage`),
      ]) {
        expect(answer.status).toBe(503);
        expect(answer.headers["retry-after"]).toBe("1");
        expect(answer.json()).toMatchObject({ error: { type: "api_error", code: "gateway_unavailable" } });
      }
      expect(write.text).toContain("outcome of this change is unknown");
      expect((await admin.call("GET", "/readyz")).status).toBe(503);
      expect((await admin.call("GET", "/healthz")).status).toBe(200);
      expect((await admin.call("GET", "/api/catalog")).status).toBe(200);
      expect((await admin.call("GET", "/api/catalog", { token: "igw_op_wrong" })).status).toBe(401);
      expect(JSON.stringify(admin.logs)).not.toContain(token);
      await admin.redis.restart();
      await waitFor("the connection to be back", () => admin.client.status === "ready");
      expect((await admin.call("GET", "/readyz")).status).toBe(200);
      expect((await admin.call("GET", path, { token })).status).toBe(200);
      expect((await admit(admin, key)).decision).toBe("admitted");
    } finally {
      await admin.stop();
    }
  });
});

describe("a crash between the two slots of a key", () => {
  let redis: PrivateRedis;
  let disconnects: (() => void)[] = [];

  async function open(crashBefore: "set" | "del" | null = null): Promise<Store> {
    const client = await connectClient({ url: redis.url });
    const crash = (): Promise<never> => {
      redis.kill();
      return Promise.reject(new Error("the process and Redis are gone"));
    };
    if (crashBefore !== null) Object.assign(client, { [crashBefore]: crash });
    const store = createStore({ client, usageMonths: USAGE_MONTHS });
    disconnects.push(() => client.disconnect());
    return store;
  }

  function createHashed() {
    const key = createApiKeyText();
    return { key, hashed: { hash: hashKey(key), display: displayKey(key) } };
  }

  beforeEach(async () => {
    redis = await startRedis({ appendOnly: true });
    disconnects = [];
  });
  afterEach(async () => {
    for (const disconnect of disconnects) disconnect();
    await redis.stop();
  });

  it("of its creation leaves a listed key that nobody was given, which can be rotated or deleted", async () => {
    const { id } = await createTestOrganization(await open());
    const lost = createHashed();
    await expect((await open("set")).createKey(id, KEY, lost.hashed)).rejects.toThrow("gone");
    await redis.restart();
    const store = await open();
    expect((await admit({ store }, lost.key)).decision).toBe("unknown_key");
    const [record] = (await store.listKeys(id, { limit: 10, after: null })).items;
    const reference = { organizationId: id, keyId: record?.id ?? "" };
    await store.repair();
    const fresh = createHashed();
    expect((await store.rotateKey(reference, fresh.hashed, 0)).outcome).toBe("changed");
    expect((await admit({ store }, fresh.key)).decision).toBe("admitted");
    expect((await admit({ store }, lost.key)).decision).toBe("unknown_key");
    expect((await store.deleteKey(reference)).outcome).toBe("changed");
    expect((await admit({ store }, fresh.key)).decision).toBe("unknown_key");
  });

  it("of its rotation leaves the key that its owner has working for the grace, and the next rotation too", async () => {
    const before = await open();
    const { id } = await createTestOrganization(before);
    const owned = createHashed();
    const record = await before.createKey(id, KEY, owned.hashed);
    const reference = { organizationId: id, keyId: record?.id ?? "" };
    const lost = createHashed();
    await expect((await open("set")).rotateKey(reference, lost.hashed, 3_600_000)).rejects.toThrow("gone");
    await redis.restart();
    const store = await open();
    expect((await admit({ store }, owned.key)).decision).toBe("admitted");
    await store.repair();
    expect((await admit({ store }, owned.key)).decision).toBe("admitted");
    const fresh = createHashed();
    expect((await store.rotateKey(reference, fresh.hashed, 3_600_000)).outcome).toBe("changed");
    expect((await admit({ store }, fresh.key)).decision).toBe("admitted");
    expect((await admit({ store }, owned.key)).decision).toBe("admitted");
    expect((await admit({ store }, lost.key)).decision).toBe("unknown_key");
  });

  it("of its deletion leaves a key that is unknown, and a look-up that the repair takes away", async () => {
    const before = await open();
    const { id } = await createTestOrganization(before);
    const { key, hashed } = createHashed();
    const record = await before.createKey(id, KEY, hashed);
    const reference = { organizationId: id, keyId: record?.id ?? "" };
    await expect((await open("del")).deleteKey(reference)).rejects.toThrow("gone");
    await redis.restart();
    const store = await open();
    expect((await admit({ store }, key)).decision).toBe("unknown_key");
    expect(await store.lookUpKey(hashed.hash)).toEqual(reference);
    expect(await store.repair()).toEqual({ lookUpsWritten: 0, lookUpsRemoved: 1 });
    expect(await store.lookUpKey(hashed.hash)).toBeNull();
    const client = await connectClient({ url: redis.url });
    expect(await client.exists(lookUpKey(hashed.hash))).toBe(0);
    client.disconnect();
  });
});
