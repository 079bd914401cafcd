import { describe, expect, it } from "vitest";
import { TokenCallers, type TokenCallersOptions } from "../../../src/data-path/auth/token-callers.ts";
import { defaultsOf } from "../../../src/shared/settings/table.ts";
import { ORGANIZATION_SETTINGS } from "../../../src/shared/settings/organization.ts";

const PROVIDER = {
  name: "corp",
  issuer: "https://login.example.com",
  audiences: ["gateway"],
  subjectClaim: "sub",
  nameClaim: null,
  groupsClaim: "groups",
  boundClaims: [],
  organization: "org_1",
  organizationClaim: null,
  organizations: [],
  onUnknown: "create",
  groups: [
    { equals: "low", group: "group_low", priority: 1 },
    { equals: "high", group: "group_high", priority: 2 },
  ],
} as const;

/** A store in which every subject is a user with one key of each generation. */
function open(options: Partial<Pick<TokenCallersOptions, "maxEntries" | "providers">> = {}) {
  const asked: string[] = [];
  const state = { generation: 1, isMissing: false, nowMs: 0 };
  const findUser = (_organization: string, { subject }: { readonly subject: string }) => {
    asked.push(subject);
    return Promise.resolve({ outcome: "found", user: { id: `user_${subject}`, name: subject } });
  };
  const store = {
    findExternalUser: async (organization: string, external: { readonly subject: string }) =>
      state.isMissing ? null : (await findUser(organization, external)).user,
    findOrCreateExternalUser: findUser,
    findOrCreateProviderKey: (
      _organization: string,
      provider: string,
      { userId }: { readonly userId: string },
    ) => Promise.resolve({ id: `key_${provider}_${userId}_${state.generation}` }),
    getOrganization: () => Promise.resolve({ keyDefaults: defaultsOf(ORGANIZATION_SETTINGS).keyDefaults }),
  } as unknown as TokenCallersOptions["store"];
  const clock = { nowMs: () => state.nowMs, monotonicMs: () => state.nowMs };
  const callers = new TokenCallers({ providers: [PROVIDER], store, clock, ...options });
  const find = (sub: string, claims: object = {}) =>
    callers.find({ provider: "corp", claims: { sub, ...claims }, isCritical: false }, "req_1");
  return { callers, find, asked, state };
}

describe("callers with a token", () => {
  it("are asked for once, those who come at once too, and the group is of each request", async () => {
    const { find, asked } = open();
    const found = await Promise.all([
      find("a"),
      find("a", { groups: ["low"] }),
      find("a", { groups: "high" }),
    ]);
    expect(found.map(({ groupId }) => groupId)).toEqual([null, "group_low", "group_high"]);
    expect(await find("a", { groups: ["low", "high"] })).toEqual({
      organizationId: "org_1",
      keyId: "key_corp_user_a_1",
      presentedHash: "jwt:key_corp_user_a_1",
      userId: "user_a",
      groupId: "group_high",
    });
    expect(asked).toEqual(["a"]);
  });

  it("are forgotten one by one: the next request finds out who it is, and nobody else is asked for", async () => {
    const { callers, find, asked, state } = open();
    const gone = await find("gone");
    await find("other");
    state.generation = 2;
    callers.remove(gone);
    // Whoever was admitted by the former key at the same time says so, too.
    callers.remove(gone);
    expect(await find("gone")).toMatchObject({ keyId: "key_corp_user_gone_2" });
    callers.remove(gone);
    expect(await find("gone")).toMatchObject({ keyId: "key_corp_user_gone_2" });
    expect(await find("other")).toMatchObject({ keyId: "key_corp_user_other_1" });
    expect(asked).toEqual(["gone", "other", "gone"]);
  });

  it("are as many as may be kept, of which each can be forgotten", async () => {
    const { callers, find, asked } = open({ maxEntries: 16 });
    const found = [];
    for (let place = 0; place < 40; place += 1) found.push(await find(`s${place}`));
    const before = asked.length;
    for (const caller of found) callers.remove(caller);
    for (let place = 0; place < 40; place += 1) await find(`s${place}`);
    expect(asked.length - before).toBe(40);
  });

  it("whom nobody knows are refused for a while without a look-up", async () => {
    const { find, asked, state } = open({ providers: [{ ...PROVIDER, onUnknown: "reject" }] });
    state.isMissing = true;
    await expect(find("stranger")).rejects.toMatchObject({ code: "identity_not_allowed" });
    state.isMissing = false;
    await expect(find("stranger")).rejects.toMatchObject({ code: "identity_not_allowed" });
    state.nowMs += 3_001;
    expect(await find("stranger")).toMatchObject({ userId: "user_stranger" });
    expect(asked).toEqual(["stranger"]);
  });
});
