import { describe, expect, it } from "vitest";
import { keyRecordKey } from "../../src/data-path/store/redis/keys.ts";
import {
  addTestKey,
  admitInput,
  createHashedKey,
  createTestKey,
  KEY,
  createTestOrganization,
  type TestKey,
  withTestStore,
} from "./fixture.ts";
import { monthLimits } from "../support/month-limits.ts";

const test = withTestStore();

const lookUp = (hash: string): string => `igw:key:${hash}`;

async function decide(key: TestKey, hash = key.hash): Promise<string> {
  return (await test.store.admit(admitInput(key, { presentedHash: hash }))).decision;
}

describe("a key", () => {
  it("is read as it was written, and found by its hash", async () => {
    const { id: organizationId } = await createTestOrganization(test.store);
    const settings = {
      ...KEY,
      name: "ci",
      requestsPerMinute: 1_000_000,
      limits: monthLimits({ cap: 9_000_000_000, budget: 0 }),
      allowedModels: ["a/b", "c/d:e"],
      maxConcurrentRequests: 3,
      expiresAtMs: 4_102_444_800_000,
      disabled: true,
    };
    const hashed = createHashedKey();
    const created = await test.store.createKey(organizationId, settings, hashed);
    expect(created).toMatchObject({ ...settings, organizationId, display: hashed.display, version: 1 });
    const keyId = created!.id;
    expect(await test.store.getKey({ organizationId, keyId })).toEqual(created);
    expect(await test.store.lookUpKey(hashed.hash)).toEqual({ organizationId, keyId });
  });

  it("is not made for an organization that does not exist", async () => {
    const none = "org_01934f6e-0000-7000-8000-000000000000";
    const hashed = createHashedKey();
    expect(await test.store.createKey(none, KEY, hashed)).toBeNull();
    expect(await test.store.createKey("org_}", KEY, hashed)).toBeNull();
    expect(await test.store.lookUpKey(hashed.hash)).toBeNull();
  });

  it("is nobody's by another organization's id", async () => {
    const [mine, other] = [await createTestKey(test.store), await createTestKey(test.store)];
    const mixed = { organizationId: other.organizationId, keyId: mine.keyId };
    expect(await test.store.getKey(mixed)).toBeNull();
    expect(await test.store.changeKey(mixed, { disabled: true }, null)).toEqual({ outcome: "not_found" });
    expect(await test.store.deleteKey(mixed)).toEqual({ outcome: "not_found" });
  });

  it("changes by version, and back to none", async () => {
    const key = await createTestKey(test.store, { limits: monthLimits({ cap: 5 }), allowedModels: ["a/b"] });
    const changed = await test.store.changeKey(key, { limits: [], allowedModels: null }, 1);
    expect(changed).toMatchObject({
      outcome: "changed",
      before: { limits: monthLimits({ cap: 5 }), allowedModels: ["a/b"], version: 1 },
      after: { limits: [], allowedModels: null, version: 2 },
    });
    const late = await test.store.changeKey(key, { name: "late" }, 1);
    expect(late).toMatchObject({ outcome: "version_conflict", current: { version: 2 } });
  });

  it("does not change its version by being used", async () => {
    const key = await createTestKey(test.store);
    await decide(key);
    expect((await test.store.getKey(key))?.version).toBe(1);
  });
});

describe("rotateKey", () => {
  it("lets the former key work for its grace and keeps id, limits and bucket", async () => {
    const key = await createTestKey(test.store, { limits: monthLimits({ cap: 77 }), requestsPerMinute: 1 });
    await decide(key);
    const next = createHashedKey();
    const rotated = await test.store.rotateKey(key, next, 60_000);
    expect(rotated).toMatchObject({
      outcome: "changed",
      after: { display: next.display, limits: monthLimits({ cap: 77 }) },
    });
    expect([await decide(key), await decide(key, next.hash)]).toEqual(["admitted", "admitted"]);
    const admission = await test.store.admit(admitInput(key));
    expect(admission).toMatchObject({ bucket: { remaining: 6 } });
    expect(await test.store.lookUpKey(next.hash)).toMatchObject({ keyId: key.keyId });
    const left = await test.client.pttl(lookUp(key.hash));
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(60_000);
  });

  it("ends the former key at once without grace", async () => {
    const key = await createTestKey(test.store);
    const next = createHashedKey();
    await test.store.rotateKey(key, next, 0);
    expect([await decide(key), await decide(key, next.hash)]).toEqual(["unknown_key", "admitted"]);
    expect(await test.store.lookUpKey(key.hash)).toBeNull();
  });

  it("ends the one before the former with the next rotation", async () => {
    const key = await createTestKey(test.store);
    const [second, third] = [createHashedKey(), createHashedKey()];
    await test.store.rotateKey(key, second, 60_000);
    await test.store.rotateKey(key, third, 60_000);
    const decisions = [await decide(key), await decide(key, second.hash), await decide(key, third.hash)];
    expect(decisions).toEqual(["unknown_key", "admitted", "admitted"]);
    expect(await test.store.lookUpKey(key.hash)).toBeNull();
  });

  it("keeps the key in use when the rotation before this one broke off between record and look-up", async () => {
    const key = await createTestKey(test.store);
    const [lost, next] = [createHashedKey(), createHashedKey()];
    await test.store.rotateKey(key, lost, 60_000);
    await test.client.del(lookUp(lost.hash));
    await test.store.rotateKey(key, next, 60_000);
    const decisions = [await decide(key), await decide(key, lost.hash), await decide(key, next.hash)];
    expect(decisions).toEqual(["admitted", "unknown_key", "admitted"]);
  });

  it("gives every one of ten at once a key that is known or was replaced", async () => {
    const key = await createTestKey(test.store);
    const keys = Array.from({ length: 5 }, createHashedKey);
    const results = await Promise.all(keys.map((each) => test.store.rotateKey(key, each, 60_000)));
    expect(results.map(({ outcome }) => outcome)).toEqual(keys.map(() => "changed"));
    const decisions = await Promise.all(keys.map(({ hash }) => decide(key, hash)));
    expect(decisions.filter((decision) => decision === "admitted").length).toBeGreaterThanOrEqual(1);
    expect(decisions.filter((decision) => decision === "admitted").length).toBeLessThanOrEqual(2);
  });
});

describe("deleteKey", () => {
  it("ends the key and keeps its name until its figures expire", async () => {
    const key = await createTestKey(test.store, { name: "old" });
    expect(await test.store.deleteKey(key)).toMatchObject({ outcome: "changed", after: { name: "old" } });
    expect(await decide(key)).toBe("unknown_key");
    expect(await test.store.lookUpKey(key.hash)).toBeNull();
    expect((await test.store.getKey(key))?.deletedAtMs).toBeTypeOf("number");
    expect((await test.store.listKeys(key.organizationId, { limit: 10, after: null })).items).toEqual([]);
    const record = `igw:{${key.organizationId}}:key:${key.keyId}`;
    expect(await test.client.pttl(record)).toBeGreaterThan(365 * 86_400_000);
    expect(await test.store.deleteKey(key)).toEqual({ outcome: "not_found" });
    expect(await test.store.changeKey(key, { disabled: false }, null)).toEqual({ outcome: "not_found" });
  });

  it("ends a key in its grace too", async () => {
    const key = await createTestKey(test.store);
    await test.store.rotateKey(key, createHashedKey(), 60_000);
    await test.store.deleteKey(key);
    expect(await decide(key)).toBe("unknown_key");
    expect(await test.store.lookUpKey(key.hash)).toBeNull();
  });
});

describe("revokeAllKeys", () => {
  it("deletes every key of the organization and no other's", async () => {
    const first = await createTestKey(test.store);
    const more = await Promise.all(
      Array.from({ length: 20 }, () => addTestKey(test.store, first.organizationId)),
    );
    const other = await createTestKey(test.store);
    const revoked = await test.store.revokeAllKeys(first.organizationId);
    const ids = [first, ...more].map(({ keyId }) => keyId);
    expect(new Set(revoked.map(({ id }) => id))).toEqual(new Set(ids));
    const decisions = await Promise.all([first, ...more].map((key) => decide(key)));
    expect(new Set(decisions)).toEqual(new Set(["unknown_key"]));
    expect(await decide(other)).toBe("admitted");
  });
});

describe("repair", () => {
  it("writes look-ups that are missing and removes those that nobody answers to", async () => {
    const kept = await createTestKey(test.store);
    await test.store.rotateKey(kept, createHashedKey(), 60_000);
    const withoutLookUp = await createTestKey(test.store);
    await test.client.del(lookUp(withoutLookUp.hash));
    const deleted = await createTestKey(test.store);
    await test.store.deleteKey(deleted);
    await test.client.set(lookUp(deleted.hash), `${deleted.organizationId} ${deleted.keyId}`);
    const stranger = createHashedKey();
    await test.client.set(lookUp(stranger.hash), `${kept.organizationId} ${kept.keyId}`);

    expect(await test.store.repair()).toEqual({ lookUpsWritten: 1, lookUpsRemoved: 2 });
    expect(await test.store.lookUpKey(withoutLookUp.hash)).toMatchObject({ keyId: withoutLookUp.keyId });
    expect(await test.store.lookUpKey(deleted.hash)).toBeNull();
    expect(await test.store.lookUpKey(stranger.hash)).toBeNull();
    expect(await test.store.lookUpKey(kept.hash)).toMatchObject({ keyId: kept.keyId });
    expect(await test.store.repair()).toEqual({ lookUpsWritten: 0, lookUpsRemoved: 0 });
  });
});

describe("what is kept of a key", () => {
  it("is its hash in the record and the look-up's name, in no value that a person reads", async () => {
    const key = await createTestKey(test.store);
    const record = await test.store.getKey(key);
    expect(record).toMatchObject({ id: key.keyId, name: "ci" });
    expect(JSON.stringify(record)).not.toContain(key.hash);
    expect(await test.client.hget(keyRecordKey(key.organizationId, key.keyId), "hash")).toBe(key.hash);
    expect(await test.client.exists(lookUp(key.hash))).toBe(1);
  });
});
