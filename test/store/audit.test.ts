import { Cluster } from "ioredis";
import { describe, expect, it } from "vitest";
import { createRedisClient, waitUntilReady } from "../../src/data-path/store/redis/client.ts";
import { createStore } from "../../src/data-path/store/redis-store.ts";
import { auditKey } from "../../src/data-path/store/redis/keys.ts";
import type { AuditEntry, AuditInput, AuditLog } from "../../src/shared/stored/audit.ts";
import type { Page } from "../../src/shared/stored/page.ts";
import type { PersonRole } from "../../src/shared/stored/sessions.ts";
import { waitFor } from "../support/wait.ts";
import {
  addTestKey,
  createHashedKey,
  createTestKey,
  KEY,
  createTestOrganization,
  USAGE_MONTHS,
  withTestStore,
} from "./fixture.ts";

const under = withTestStore();

function entry(action: string, role: PersonRole = "admin"): AuditInput {
  return {
    actor: { type: "token", id: "token_1", name: "ci", role },
    action,
    target: { type: "key", id: "key_1", name: "deploy" },
    before: { hard_cap_cents: null, allowed_models: ["a/b"], nested: { on: true } },
    after: { hard_cap_cents: 5000, allowed_models: null, nested: { on: false } },
    requestId: "req_1",
  };
}

describe("audit entries", () => {
  it("come back as they were written, with the time of Redis", async () => {
    const { id } = await createTestOrganization(under.store);
    await under.store.addAuditEntry(id, entry("key.updated"));
    const { items, next } = await under.store.listAuditEntries(id, { limit: 10, after: null });
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject(entry("key.updated"));
    expect(Math.abs((items[0]?.recordedAtMs ?? 0) - (await under.store.timeMs()))).toBeLessThan(60_000);
    expect(next).toBeNull();
  });

  it("are listed newest first, page by page to the end, none twice", async () => {
    const { id } = await createTestOrganization(under.store);
    for (let index = 0; index < 7; index += 1) await under.store.addAuditEntry(id, entry(`n${index}`));
    const actions: string[] = [];
    let after: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof under.store.listAuditEntries>> =
        await under.store.listAuditEntries(id, {
          limit: 3,
          after,
        });
      actions.push(...page.items.map(({ action }) => action));
      after = page.next;
    } while (after !== null);
    expect(actions).toEqual(["n6", "n5", "n4", "n3", "n2", "n1", "n0"]);
  });

  it("of one organization are not another's", async () => {
    const first = await createTestOrganization(under.store);
    const second = await createTestOrganization(under.store);
    await under.store.addAuditEntry(first.id, entry("key.updated"));
    expect((await under.store.listAuditEntries(second.id, { limit: 10, after: null })).items).toEqual([]);
  });
});

describe("the logs of roles", () => {
  const roles = ["operator", "admin", "viewer", "member"] as const;

  it("are one list, newest first, page by page, none twice", async () => {
    const { id } = await createTestOrganization(under.store);
    const written = Array.from({ length: 24 }, (_, number) => `n${number}`);
    // In one turn, so that entries of several logs have the same id in their streams.
    await Promise.all(
      written.map((action, number) =>
        under.store.addAuditEntry(
          id,
          entry(action, roles[number % 4]),
          number % 8 < 4 ? "changes" : "sign-ins",
        ),
      ),
    );
    const read: AuditEntry[] = [];
    let after: string | null = null;
    do {
      const page: Page<AuditEntry> = await under.store.listAuditEntries(id, { limit: 5, after });
      read.push(...page.items);
      after = page.next;
    } while (after !== null);
    expect(read.map(({ action }) => action).sort()).toEqual(written.sort());
    const times = read.map(({ recordedAtMs }) => recordedAtMs);
    expect(times).toEqual(times.toSorted((one, other) => other - one));
  });

  it("are bounded by bytes, and what one role and its sign-ins push out is its own", async () => {
    const { id } = await createTestOrganization(under.store);
    await under.store.addAuditEntry(id, entry("admin's change", "admin"));
    const key = await addTestKey(under.store, id);
    const large = { ...entry("flood", "member"), after: { note: "x".repeat(60_000) } };
    for (let number = 0; number < 100; number += 1) {
      await under.store.addAuditEntry(id, large);
      await under.store.addAuditEntry(id, large, "sign-ins");
      // A change with its own script.
      await under.store.changeKey(key, { disabled: number % 2 === 0 }, null, large);
    }
    const bytes = (log: AuditLog) => under.client.memory("USAGE", auditKey(id, log), "SAMPLES", 0);
    expect(await bytes("changes:member")).toBeLessThan(4_194_304);
    expect(await bytes("changes:member")).toBeGreaterThan(3_000_000);
    expect(await bytes("sign-ins:member")).toBeLessThan(1_048_576);
    const oldest = await under.client.xrange(auditKey(id, "changes:admin"), "-", "+");
    expect(oldest).toHaveLength(1);
  });

  it("lose entries of 400 days", async () => {
    const { id } = await createTestOrganization(under.store);
    const key = auditKey(id, "changes:admin");
    // A stream trims whole nodes of 100 entries.
    for (let number = 1; number <= 150; number += 1) {
      await under.client.xadd(key, `${number}-1`, "entry", "{}");
    }
    await under.store.addAuditEntry(id, entry("new", "admin"));
    expect(await under.client.xlen(key)).toBe(51);
    expect(await under.client.pttl(key)).toBeGreaterThan(399 * 86_400_000);
  });
});

async function listActions(organizationId: string): Promise<string[]> {
  const { items } = await under.store.listAuditEntries(organizationId, { limit: 100, after: null });
  return items.map(({ action }) => action).toReversed();
}

describe("the entry of a change", () => {
  it("is written with it, and only when it is made", async () => {
    const { store } = under;
    const { id } = await createTestOrganization(store, { name: "Acme" }, (made) =>
      entry(`made ${made.name}`),
    );
    const record = await store.createKey(id, KEY, createHashedKey(), (made) => entry(`key ${made.name}`));
    const reference = { organizationId: id, keyId: record?.id ?? "" };
    await store.changeKey(reference, { disabled: true }, 9, entry("conflict"));
    await store.changeKey(reference, { disabled: true }, 1, entry("changed"));
    await store.rotateKey(reference, createHashedKey(), 0, (before) => entry(`rotated ${before.version}`));
    await store.changeOrganization(id, { name: "New" }, 9, entry("conflict"));
    await store.changeOrganization(id, { name: "New" }, 1, entry("renamed"));
    const correction = { ...reference, correctionId: "corr_1", amountMicrocents: 5n };
    const correct = () => store.correct(correction, (month) => entry(`corrected ${month.length}`));
    expect([(await correct()).outcome, (await correct()).outcome]).toEqual(["applied", "repeated"]);
    await store.changeOrganization(id, { currency: "EUR" }, null, entry("locked"));
    await store.deleteKey(reference, entry("deleted"));
    await store.deleteKey(reference, entry("deleted again"));
    const hashed = createHashedKey();
    const token = await store.createToken(id, { name: "t", role: "viewer" }, hashed, (made) =>
      entry(made.name),
    );
    const end = () => store.deleteToken(id, token?.id ?? "", ({ name }) => entry(`ended ${name}`));
    await Promise.all([end(), end()]);
    expect(await listActions(id)).toEqual([
      "made Acme",
      "key ci",
      "changed",
      "rotated 2",
      "renamed",
      "corrected 7",
      "deleted",
      "t",
      "ended t",
    ]);
  });

  it("is there when the answer to the change was lost", async () => {
    const key = await createTestKey(under.store);
    const client = createRedisClient({ ...under.address, onError: () => undefined });
    try {
      await waitUntilReady(client, 10_000);
      const hasty = createStore({ client, usageMonths: USAGE_MONTHS });
      const nodes = under.client instanceof Cluster ? under.client.nodes("master") : [under.client];
      await Promise.all(nodes.map((node) => node.client("PAUSE", 2_000, "WRITE")));
      await expect(hasty.changeKey(key, { disabled: true }, null, entry("late"))).rejects.toThrow(
        "timed out",
      );
      await Promise.all(nodes.map((node) => node.client("UNPAUSE")));
      await waitFor("the late change", async () => (await under.store.getKey(key))?.disabled === true);
      expect(await listActions(key.organizationId)).toEqual(["late"]);
    } finally {
      client.disconnect();
    }
  });
});
