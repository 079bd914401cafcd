import { createHash, randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createId } from "../../src/data-path/store/ids.ts";
import { SESSION_IDLE_MS } from "../../src/data-path/store/management/sessions.ts";
import { ownSessionsKey, sessionKey, sessionListKey } from "../../src/data-path/store/redis/keys.ts";
import { type PersonHolder, SESSION_MS } from "../../src/shared/stored/sessions.ts";
import { connectStore, type StoreUnderTest, withTestStore } from "./fixture.ts";

const under = withTestStore();
let other: StoreUnderTest;
beforeAll(async () => {
  other = await connectStore(under.address);
});
afterAll(async () => {
  await other.stop();
});

const newHash = (): string => randomBytes(32).toString("hex");
const newOrganization = (): string => createId("org", Date.now());
const OPERATOR = { type: "operator", proof: "p" } as const;

function person(organizationId: string | null, subject = "anna"): PersonHolder {
  return {
    type: "person",
    provider: "corp",
    issuer: "https://idp.example.com",
    subject,
    name: "Anna",
    groups: ["a", "b"],
    role: organizationId === null ? "operator" : "viewer",
    organizationId,
    userId: null,
    sealedIdToken: null,
  };
}

const digest = ({ issuer, subject }: PersonHolder): string =>
  createHash("sha256")
    .update(JSON.stringify([issuer, subject]))
    .digest("hex");

/** As if somebody had come with it so long ago, of whom nobody has heard since. */
async function age(hash: string, fields: { seenAtMs?: number; endsAtMs?: number }): Promise<void> {
  const stored = JSON.parse((await under.client.get(sessionKey(hash))) ?? "null") as object;
  await under.client.set(sessionKey(hash), JSON.stringify({ ...stored, ...fields }), "KEEPTTL");
}

describe("sessions", () => {
  it("are found by their hash in every process, as what they were made", async () => {
    const [operator, token, anna] = [newHash(), newHash(), newHash()];
    const organizationId = newOrganization();
    const ofToken = { type: "token", tokenHash: "h", organizationId } as const;
    await under.store.createSession(operator, OPERATOR);
    await under.store.createSession(token, ofToken);
    await under.store.createSession(anna, person(organizationId));
    expect((await other.store.useSession(operator))?.holder).toEqual(OPERATOR);
    expect((await other.store.useSession(token))?.holder).toEqual(ofToken);
    expect((await other.store.findSession(anna))?.holder).toEqual(person(organizationId));
    expect(await other.store.useSession(newHash())).toBeNull();
  });

  it("are over everywhere once one process has ended them, and ending twice is no error", async () => {
    const hash = newHash();
    await under.store.createSession(hash, OPERATOR);
    expect(await other.store.endSession(hash)).toBe(true);
    expect(await other.store.endSession(hash)).toBe(false);
    expect(await under.store.useSession(hash)).toBeNull();
  });

  it("end by themselves eight hours after somebody has come with them", async () => {
    const hash = newHash();
    const { seenAtMs } = await under.store.createSession(hash, OPERATOR);
    const leftMs = await under.client.pttl(sessionKey(hash));
    expect(leftMs).toBeGreaterThan(SESSION_IDLE_MS - 60_000);
    expect(leftMs).toBeLessThanOrEqual(SESSION_IDLE_MS);
    await under.client.pexpire(sessionKey(hash), 100_000);
    await age(hash, { seenAtMs: seenAtMs - 61_000 });
    expect((await under.store.useSession(hash))?.seenAtMs).toBeGreaterThanOrEqual(seenAtMs);
    expect(await under.client.pttl(sessionKey(hash))).toBeGreaterThan(100_000);
  });

  it("end 24 hours after their beginning, however busy they are", async () => {
    const hash = newHash();
    const { createdAtMs, endsAtMs } = await under.store.createSession(hash, OPERATOR);
    expect(endsAtMs - createdAtMs).toBe(SESSION_MS);
    await age(hash, { seenAtMs: createdAtMs - 61_000, endsAtMs: createdAtMs + 600_000 });
    expect(await under.store.useSession(hash)).not.toBeNull();
    expect(await under.client.pttl(sessionKey(hash))).toBeLessThanOrEqual(600_000);
    await age(hash, { endsAtMs: createdAtMs - 1 });
    expect(await under.store.useSession(hash)).toBeNull();
  });

  it("that end while somebody comes with them stay ended", async () => {
    const hash = newHash();
    const { createdAtMs } = await under.store.createSession(hash, OPERATOR);
    await age(hash, { seenAtMs: createdAtMs - 61_000 });
    await Promise.all([under.store.useSession(hash), other.store.endSession(hash)]);
    expect(await under.store.findSession(hash)).toBeNull();
  });

  it.each(["superuser x", "operator p", "{}", '{"holder":{"type":"superuser"}}'])(
    "of a form that is not known are none: %s",
    async (text) => {
      const hash = newHash();
      await under.client.set(sessionKey(hash), text);
      expect(await under.store.useSession(hash)).toBeNull();
      expect(await under.store.findSession(hash)).toBeNull();
    },
  );
});

describe("the list of sessions", () => {
  it("has those of one organization, newest first, page by page, without those that are over", async () => {
    const organizationId = newOrganization();
    const hashes: string[] = [];
    for (let number = 0; number < 5; number += 1) {
      const hash = newHash();
      hashes.unshift(hash);
      await under.store.createSession(hash, person(organizationId, `s${number}`));
      // Of one millisecond they are in the order of their hashes.
      await under.client.zincrby(sessionListKey(organizationId), number, hash);
    }
    await under.store.createSession(newHash(), person(newOrganization()));
    await under.store.endSession(hashes[1] ?? "");
    await under.client.del(sessionKey(hashes[2] ?? ""));
    const first = await other.store.listSessions(organizationId, { limit: 2, after: null });
    const second = await other.store.listSessions(organizationId, { limit: 2, after: first.next });
    expect(first.items.map(({ hash }) => hash)).toEqual([hashes[0], hashes[3]]);
    expect(second.items.map(({ hash }) => hash)).toEqual([hashes[4]]);
    expect(second.next).toBeNull();
    const behindNothing = { limit: 2, after: newHash() };
    expect((await other.store.listSessions(organizationId, behindNothing)).items).toEqual([]);
  });

  it("of the operator's role has whoever came with the token or with a provider", async () => {
    const [token, anna] = [newHash(), newHash()];
    await under.store.createSession(token, OPERATOR);
    await under.store.createSession(anna, person(null));
    const { items } = await under.store.listSessions(null, { limit: 100, after: null });
    expect(items.map(({ hash }) => hash)).toEqual(expect.arrayContaining([token, anna]));
  });

  it("forgets what is over", async () => {
    const organizationId = newOrganization();
    const key = sessionListKey(organizationId);
    await under.client.zadd(key, 1, "over");
    await under.store.createSession(newHash(), person(organizationId));
    expect(await under.client.zrange(key, "0", "-1")).toHaveLength(1);
  });

  it.each([
    ["person", (organizationId: string) => person(organizationId, `mallory of ${organizationId}`)],
    ["token", (organizationId: string) => ({ type: "token", tokenHash: newHash(), organizationId }) as const],
  ])("has 20 of one %s: its oldest end, and nobody else's", async (_kind, holderIn) => {
    const organizationId = newOrganization();
    const others = newHash();
    await under.store.createSession(others, person(organizationId, `anna of ${organizationId}`));
    const holder = holderIn(organizationId);
    const hashes = Array.from({ length: 25 }, newHash);
    const own = ownSessionsKey(holder.type === "token" ? holder.tokenHash : digest(holder));
    for (const [number, hash] of hashes.entries()) {
      await under.store.createSession(hash, holder);
      // Sessions that begin in one millisecond are in the order of their hashes.
      await under.client.zincrby(own, number - 25, hash);
    }
    const found = await Promise.all(hashes.map((hash) => under.store.findSession(hash)));
    expect(found.map((record) => record !== null)).toEqual(hashes.map((_, number) => number >= 5));
    expect(await under.store.findSession(others)).not.toBeNull();
    expect((await under.store.listSessions(organizationId, { limit: 100, after: null })).items).toHaveLength(
      21,
    );
    expect(await under.client.zcard(own)).toBe(20);
  });
});

describe("the role of an identity", () => {
  it("is remembered from one sign-in to the next", async () => {
    const identity = { issuer: "https://idp.example.com", subject: newHash() };
    const viewer = { role: "viewer", organizationId: newOrganization() } as const;
    const operator = { role: "operator", organizationId: null } as const;
    expect(await under.store.rememberRole(identity, viewer)).toBeNull();
    expect(await other.store.rememberRole(identity, operator)).toEqual(viewer);
    expect(await under.store.rememberRole({ ...identity, issuer: "https://other" }, viewer)).toBeNull();
  });
});
