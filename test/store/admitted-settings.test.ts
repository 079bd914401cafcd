import { describe, expect, it } from "vitest";
import { monthAt } from "../../src/shared/time/calendar.ts";
import { admitKeys } from "../../src/data-path/store/admission/admit.ts";
import { keyRecordKey, organizationKey } from "../../src/data-path/store/redis/keys.ts";
import { parseArray } from "../../src/data-path/store/redis/parse-reply.ts";
import { AT } from "../../src/data-path/store/redis/reply-layouts.ts";
import { addTestKey, admitInput, admitKnown, createHashedKey } from "./fixture.ts";
import { createTestKey, ROUTE, type TestKey, withTestStore } from "./fixture.ts";

const test = withTestStore();
const at = AT.admit;

/** The script's reply to a caller that knows the settings of this version. */
async function admitKnowing(key: TestKey, version: string): Promise<readonly unknown[]> {
  const month = monthAt(await test.store.timeMs());
  const reply = await test.client.igwAdmit({
    keyId: key.keyId,
    presentedHash: key.hash,
    monthStartMs: String(month.startMs),
    monthEndMs: String(month.endMs),
    bucketName: "requests",
    metered: true,
    knownVersion: version,
    wantedGroupId: "",
    furtherArguments: [admitInput(key).requestId, ROUTE, "0"],
    ...admitKeys(key, month.name),
  });
  return parseArray(reply);
}

async function nameOfKey(key: TestKey): Promise<string> {
  return (await admitKnown(test.store, key)).key.name;
}

async function nameOfOrganization(key: TestKey): Promise<string> {
  return (await admitKnown(test.store, key)).organization.name;
}

describe("the settings that an admission tells", () => {
  it("are left out for a caller that knows them, and told again after each change", async () => {
    const key = await createTestKey(test.store);
    const versions = new Set<unknown>();
    const expectTold = async (): Promise<string> => {
      const told = await admitKnowing(key, [...versions].at(-1)?.toString() ?? "");
      const version = String(told[at.settingsVersion]);
      expect(versions).not.toContain(version);
      expect(parseArray(told[at.settings]).length).toBeGreaterThan(0);
      versions.add(version);
      const again = await admitKnowing(key, version);
      expect([again[at.settingsVersion], again[at.settings]]).toEqual(["", ""]);
      return version;
    };
    const first = await expectTold();
    await test.store.changeKey(key, { note: "a note" }, null);
    await expectTold();
    await test.store.changeOrganization(key.organizationId, { name: "Other" }, null);
    await expectTold();
    await test.store.rotateKey(key, createHashedKey(), 60_000);
    await expectTold();
    // Nobody else's are taken for this key's.
    const other = await addTestKey(test.store, key.organizationId);
    expect((await admitKnowing(other, first))[at.settings]).not.toBe("");
  });

  it("are those of the last change for the very next request, whoever asks meanwhile", async () => {
    const key = await createTestKey(test.store, { requestsPerMinute: 1_000_000 });
    const others = Array.from({ length: 8 }, async () => {
      for (let sent = 0; sent < 100; sent += 1) await admitKnown(test.store, key);
    });
    for (let change = 1; change <= 20; change += 1) {
      await test.store.changeKey(key, { name: `key ${change}` }, null);
      await test.store.changeOrganization(key.organizationId, { name: `organization ${change}` }, null);
      const told = await admitKnown(test.store, key);
      expect([told.key.name, told.organization.name]).toEqual([`key ${change}`, `organization ${change}`]);
    }
    await Promise.all(others);
  });

  it("are a rotated key's new display", async () => {
    const key = await createTestKey(test.store);
    await admitKnown(test.store, key);
    const rotated = createHashedKey();
    await test.store.rotateKey(key, rotated, 60_000);
    expect((await admitKnown(test.store, key)).key.display).toBe(rotated.display);
    expect((await admitKnown(test.store, { ...key, hash: rotated.hash })).key.display).toBe(rotated.display);
  });

  it("are not mistaken for those of the same version in a Redis that was restored from a snapshot", async () => {
    const key = await createTestKey(test.store, {}, { name: "Acme" });
    expect(await nameOfKey(key)).toBe("ci");
    const names = [keyRecordKey(key.organizationId, key.keyId), organizationKey(key.organizationId)];
    const snapshot = await Promise.all(names.map((name) => test.client.dumpBuffer(name)));
    await test.store.changeKey(key, { name: "lost" }, null);
    await test.store.changeOrganization(key.organizationId, { name: "Lost" }, null);
    expect([await nameOfKey(key), await nameOfOrganization(key)]).toEqual(["lost", "Lost"]);
    for (const [position, name] of names.entries()) {
      await test.client.restore(name, 0, snapshot[position] ?? "", "REPLACE");
    }
    expect([await nameOfKey(key), await nameOfOrganization(key)]).toEqual(["ci", "Acme"]);
    await test.store.changeKey(key, { name: "lost" }, null);
    expect(await nameOfKey(key)).toBe("lost");
    for (const [position, name] of names.entries()) {
      await test.client.restore(name, 0, snapshot[position] ?? "", "REPLACE");
    }
    const changed = await test.store.changeKey(key, { name: "kept" }, null);
    await test.store.changeOrganization(key.organizationId, { name: "Kept" }, null);
    expect(changed).toMatchObject({ outcome: "changed", after: { version: 2 } });
    expect([await nameOfKey(key), await nameOfOrganization(key)]).toEqual(["kept", "Kept"]);
  });

  it("are those that a program has changed which knows of versions alone", async () => {
    const key = await createTestKey(test.store);
    expect(await nameOfKey(key)).toBe("ci");
    const record = keyRecordKey(key.organizationId, key.keyId);
    await test.client.multi().hset(record, "name", "older").hincrby(record, "version", "1").exec();
    expect(await nameOfKey(key)).toBe("older");
  });
});
