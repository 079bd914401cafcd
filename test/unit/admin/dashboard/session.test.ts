import { describe, expect, it } from "vitest";
import {
  createFormToken,
  isFormToken,
  Sessions,
  type SessionsStore,
} from "../../../../src/management/admin/dashboard/session.ts";
import { MinuteLimit } from "../../../../src/management/admin/minute-limit.ts";
import { createOrganizationToken, hashToken } from "../../../../src/management/admin/principal.ts";
import { createKey, hashKey } from "../../../../src/data-path/auth/key-format.ts";
import type { KeyRecord, OrganizationRecord } from "../../../../src/shared/stored/management.ts";
import type { SessionRecord } from "../../../../src/shared/stored/sessions.ts";

const NOW = 1_000_000;
const OPERATOR = "igw_op_one";
const TOKEN = createOrganizationToken();
const ROW = {
  id: "token_1",
  organizationId: "org_1",
  name: "anna",
  role: "admin",
  display: "igw_org_…",
  createdAtMs: NOW,
} as const;

/** What all hosts share, in memory. */
function createMemory() {
  const sessions = new Map<string, SessionRecord>();
  const tokens = new Set([hashToken(TOKEN)]);
  const store: SessionsStore = {
    createSession: async (hash, holder) => {
      const record = { hash, holder, createdAtMs: NOW, seenAtMs: NOW, endsAtMs: NOW + 1 };
      sessions.set(hash, record);
      return record;
    },
    useSession: async (hash) => sessions.get(hash) ?? null,
    findSession: async (hash) => sessions.get(hash) ?? null,
    endSession: async (hash) => sessions.delete(hash),
    getUser: async () => null,
    getOrganization: async () => null,
    findPresentedKey: async () => null,
    timeMs: async () => NOW,
    findToken: async (hash) => (tokens.has(hash) ? ROW : null),
  };
  return { store, sessions, tokens };
}

describe("Sessions", () => {
  it("are found by every host that shares the store and the operator's token", async () => {
    const { store } = createMemory();
    const [here, there] = [new Sessions(OPERATOR, store), new Sessions(OPERATOR, store)];
    expect(await there.find((await here.begin(OPERATOR)).secret)).toEqual({ type: "operator" });
    expect(await there.find((await here.begin(TOKEN)).secret)).toMatchObject({ type: "token", name: "anna" });
  });

  it("of an API key show its holder, and are over once no request with the key would pass", async () => {
    const { store } = createMemory();
    const key = createKey();
    const record: Partial<KeyRecord> = { id: "key_1", name: "ci", organizationId: "org_1", userId: null };
    const open = { ...record, disabled: false, expiresAtMs: null, deletedAtMs: null };
    let known: object | null = open;
    const sessions = new Sessions(OPERATOR, {
      ...store,
      findPresentedKey: async (hash) => (hash === hashKey(key) ? (known as KeyRecord | null) : null),
      getOrganization: async () => ({ deletedAtMs: null, suspended: false }) as OrganizationRecord,
    });
    const { secret } = await sessions.begin(key);
    const holder = { type: "key", role: "key", name: "ci", organizationId: "org_1", keyId: "key_1" };
    expect(await sessions.find(secret)).toEqual(holder);
    for (const over of [null, { ...open, disabled: true }, { ...open, expiresAtMs: NOW }]) {
      known = over;
      expect(await sessions.find(secret)).toBeNull();
      await expect(sessions.begin(key)).rejects.toMatchObject({ code: "invalid_token" });
    }
    await expect(sessions.begin(createKey())).rejects.toMatchObject({ code: "invalid_token" });
  });

  it("end on every host when one of them signs out", async () => {
    const { store } = createMemory();
    const [here, there] = [new Sessions(OPERATOR, store), new Sessions(OPERATOR, store)];
    const secret = (await here.begin(OPERATOR)).secret;
    await there.end(secret);
    expect(await here.find(secret)).toBeNull();
  });

  it("of the operator end with the operator's token, those of organizations go on", async () => {
    const { store } = createMemory();
    const former = new Sessions(OPERATOR, store);
    const [operator, anna] = [(await former.begin(OPERATOR)).secret, (await former.begin(TOKEN)).secret];
    const renewed = new Sessions("igw_op_two", store);
    expect(await renewed.find(operator)).toBeNull();
    expect(await renewed.find(anna)).toMatchObject({ type: "token" });
  });

  it("of an organization end with the token that they began with", async () => {
    const { store, tokens } = createMemory();
    const sessions = new Sessions(OPERATOR, store);
    const secret = (await sessions.begin(TOKEN)).secret;
    tokens.delete(hashToken(TOKEN));
    expect(await sessions.find(secret)).toBeNull();
  });

  it("let nobody in whom the store does not answer for", async () => {
    const { store } = createMemory();
    const secret = (await new Sessions(OPERATOR, store).begin(OPERATOR)).secret;
    const useSession = () => Promise.reject(new Error("away"));
    await expect(new Sessions(OPERATOR, { ...store, useSession }).find(secret)).rejects.toThrow("away");
  });

  it("leave neither a token nor a session's secret in the store", async () => {
    const { store, sessions } = createMemory();
    const secrets = [
      (await new Sessions(OPERATOR, store).begin(OPERATOR)).secret,
      (await new Sessions(OPERATOR, store).begin(TOKEN)).secret,
    ];
    const stored = JSON.stringify([...sessions]);
    for (const text of [...secrets, OPERATOR, TOKEN]) expect(stored).not.toContain(text);
  });

  it.each(["", "x", "A".repeat(43), "A".repeat(200)])("are not made up: %s", async (secret) => {
    expect(await new Sessions(OPERATOR, createMemory().store).find(secret)).toBeNull();
  });

  it("refuse a token that is none", async () => {
    const { store, sessions } = createMemory();
    await expect(new Sessions(OPERATOR, store).begin("sk-igw-x")).rejects.toMatchObject({ status: 401 });
    expect(sessions.size).toBe(0);
  });
});

describe("isFormToken", () => {
  it("knows a form's token by its session", () => {
    expect(isFormToken(createFormToken("one"), "one")).toBe(true);
    expect(isFormToken(createFormToken("one"), "two")).toBe(false);
  });
});

describe("MinuteLimit", () => {
  it("lets nobody of an address try after ten failures, until the minute is over", () => {
    const limit = new MinuteLimit(10);
    for (let failure = 0; failure < 10; failure += 1) {
      expect(limit.waitSeconds("a", NOW)).toBe(0);
      limit.count("a", NOW);
    }
    expect(limit.waitSeconds("a", NOW + 1_000)).toBe(59);
    expect(limit.waitSeconds("b", NOW)).toBe(0);
    expect(limit.waitSeconds("a", NOW + 60_000)).toBe(0);
  });
});
