import { describe, expect, it } from "vitest";
import { KeyDirectory } from "../../../src/data-path/auth/key-directory.ts";
import { createKey, hashKey } from "../../../src/data-path/auth/key-format.ts";

const REFERENCE = { organizationId: "org_1", keyId: "key_1" };

function open(known: readonly string[], options: { maxEntries?: number; unknownForMs?: number } = {}) {
  const seen = { lookUps: 0, atMs: 0, isDown: false, known: new Set(known.map(hashKey)) };
  const directory = new KeyDirectory({
    ...options,
    clock: { nowMs: () => 0, monotonicMs: () => seen.atMs },
    lookUp: (hash) => {
      seen.lookUps += 1;
      if (seen.isDown) return Promise.reject(new Error("away"));
      return Promise.resolve(seen.known.has(hash) ? REFERENCE : null);
    },
  });
  return { directory, seen };
}

describe("KeyDirectory.find", () => {
  it("looks a key up once", async () => {
    const key = createKey();
    const { directory, seen } = open([key]);
    const caller = { ...REFERENCE, presentedHash: hashKey(key), userId: null, groupId: null };
    expect(await directory.find(key)).toEqual(caller);
    expect(await directory.find(key)).toEqual(caller);
    expect(seen.lookUps).toBe(1);
  });

  it("looks a key up once for all requests that come meanwhile", async () => {
    const key = createKey();
    const { directory, seen } = open([key]);
    const found = await Promise.all(Array.from({ length: 300 }, () => directory.find(key)));
    expect(found).toEqual(found.map(() => expect.objectContaining(REFERENCE)));
    expect(seen.lookUps).toBe(1);
  });

  it("has at most 10,000 look-ups wait for Redis, whoever presents how many made-up keys", async () => {
    const { directory, seen } = open([]);
    const asked = await Promise.allSettled(
      Array.from({ length: 10_001 }, (_, index) => directory.find(`made-up ${index}`)),
    );
    expect(asked.filter(({ status }) => status === "rejected")).toHaveLength(1);
    expect(seen.lookUps).toBe(10_000);
    expect(await directory.find("another")).toBe(null);
  });

  it("looks again once a key was forgotten", async () => {
    const key = createKey();
    const { directory, seen } = open([key]);
    await directory.find(key);
    directory.remove(hashKey(key));
    await directory.find(key);
    expect(seen.lookUps).toBe(2);
  });

  it("remembers for a moment that a key is unknown, then sees that it was made", async () => {
    const key = createKey();
    const { directory, seen } = open([], { unknownForMs: 3_000 });
    expect(await directory.find(key)).toBe(null);
    seen.known.add(hashKey(key));
    seen.atMs = 2_999;
    expect(await directory.find(key)).toBe(null);
    expect(seen.lookUps).toBe(1);
    seen.atMs = 3_000;
    expect(await directory.find(key)).toMatchObject(REFERENCE);
  });

  it("rejects when the look-up fails, and remembers nothing of it", async () => {
    const key = createKey();
    const { directory, seen } = open([key]);
    seen.isDown = true;
    await expect(directory.find(key)).rejects.toThrow("away");
    seen.isDown = false;
    expect(await directory.find(key)).toMatchObject(REFERENCE);
  });

  it("answers from memory for a known key while look-ups fail", async () => {
    const key = createKey();
    const { directory, seen } = open([key]);
    await directory.find(key);
    seen.isDown = true;
    expect(await directory.find(key)).toMatchObject(REFERENCE);
  });

  it("keeps no more entries than it may, the newest of them", async () => {
    const keys = [createKey(), createKey(), createKey()];
    const { directory, seen } = open(keys, { maxEntries: 2 });
    for (const key of keys) await directory.find(key);
    for (const key of keys.slice(1)) await directory.find(key);
    expect(seen.lookUps).toBe(3);
    await directory.find(keys[0] ?? "");
    expect(seen.lookUps).toBe(4);
  });

  it("lets made-up keys push out no real ones", async () => {
    const key = createKey();
    const { directory, seen } = open([key], { maxEntries: 1 });
    await directory.find(key);
    for (let index = 0; index < 50; index += 1) await directory.find(createKey());
    const before = seen.lookUps;
    await directory.find(key);
    expect(seen.lookUps).toBe(before);
  });
});
