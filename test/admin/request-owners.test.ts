/** Recent requests by whose they were when they were admitted. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createId } from "../../src/data-path/store/ids.ts";
import { formatOwnerIds, type OwnerIds } from "../../src/shared/stored/owner-ids.ts";
import { addTestGroup, addTestUser, chargeInput, createIdentity, FINAL, ROUTE } from "../store/fixture.ts";
import { admit, type AdminUnderTest, createApiKey, createOrganization, startAdmin } from "./admin-fixture.ts";

let admin: AdminUnderTest;
let organization = "";
let key = "";
let ann = "";
let bob = "";
let team = "";
/** What becomes of a request → its id. */
const ids: Record<"nobodys" | "anns" | "bobs" | "refused" | "old", string> = {
  nobodys: "",
  anns: "",
  bobs: "",
  refused: "",
  old: "",
};

const NOBODY = { userId: null, groupId: null };

async function charge(owners: OwnerIds): Promise<string> {
  const identity = await createIdentity(admin.store, { organizationId: organization, keyId: key, hash: "" });
  await admin.store.charge(
    chargeInput({ ...identity, owners: formatOwnerIds(owners) }, 1, 5n, { final: FINAL }),
  );
  return identity.requestId;
}

beforeAll(async () => {
  admin = await startAdmin();
  organization = await createOrganization(admin);
  key = (await createApiKey(admin, organization, { name: "ci" })).id;
  team = await addTestGroup(admin.store, organization, { name: "Search" });
  ann = await addTestUser(admin.store, organization, { name: "Ann" });
  bob = await addTestUser(admin.store, organization, { name: "Bob" });
  ids.nobodys = await charge(NOBODY);
  ids.anns = await charge({ userId: ann, groupId: null });
  ids.bobs = await charge({ userId: bob, groupId: team });
  ids.refused = createId("req", Date.now());
  await admin.store.recordRequest({
    organizationId: organization,
    keyId: key,
    requestId: ids.refused,
    route: ROUTE,
    model: null,
    status: 400,
    errorCode: "invalid_json",
    checks: [],
    owners: formatOwnerIds({ userId: null, groupId: team }),
  });
  await admin.ok("DELETE", `/api/organizations/${organization}/users/${bob}`);
});
afterAll(() => admin.stop());

const path = (rest = ""): string => `/api/organizations/${organization}/requests${rest}`;

async function listIds(query: string): Promise<Set<unknown>> {
  const { data } = await admin.ok("GET", path(query));
  return new Set((data as Record<string, unknown>[]).map(({ id }) => id));
}

describe("the list of recent requests", () => {
  it("says whose each was, with the names of those who were deleted since", async () => {
    const { data } = await admin.ok("GET", path());
    const shown = (data as Record<string, unknown>[]).map((one) => [
      one["id"],
      one["user_id"],
      one["user_name"],
      one["group_id"],
      one["group_name"],
    ]);
    expect(new Set(shown)).toEqual(
      new Set([
        [ids.nobodys, null, null, null, null],
        [ids.anns, ann, "Ann", null, null],
        [ids.bobs, bob, "Bob", team, "Search"],
        [ids.refused, null, null, team, "Search"],
      ]),
    );
  });

  it("is narrowed down to a user's or a group's", async () => {
    expect(await listIds(`?user_id=${ann}`)).toEqual(new Set([ids.anns]));
    expect(await listIds(`?user_id=${bob}`)).toEqual(new Set([ids.bobs]));
    expect(await listIds(`?group_id=${team}`)).toEqual(new Set([ids.bobs, ids.refused]));
    expect(await listIds(`?group_id=${team}&user_id=${ann}`)).toEqual(new Set());
    expect(await listIds(`?group_id=${team}&status=4xx`)).toEqual(new Set([ids.refused]));
  });

  it("refuses what is no id by the field's name", async () => {
    for (const [field, value] of [
      ["user_id", team],
      ["group_id", "Search"],
    ]) {
      const refused = await admin.refused("GET", path(`?${field}=${value}`));
      expect(refused).toMatchObject({ status: 400, param: field });
    }
  });
});

describe("a request that the admission refuses", () => {
  it("is not missing from its user's and its group's list", async () => {
    const limits = [{ period: "day", kind: "cap", cents: 0 }];
    const carl = await addTestUser(admin.store, organization, { name: "Carl", groupId: team });
    await admin.ok("PATCH", `/api/organizations/${organization}/users/${carl}`, { body: { limits } });
    const alone = await addTestUser(admin.store, organization, { name: "Dora" });
    for (const [owners, decision, told] of [
      [{ user_id: carl }, "user_cap_reached", { user_name: "Carl", group_name: "Search" }],
      [{ user_id: alone, disabled: true }, "key_disabled", { user_name: "Dora", group_name: null }],
      [{ group_id: team, disabled: true }, "key_disabled", { user_name: null, group_name: "Search" }],
      [{ disabled: true }, "key_disabled", { user_name: null, group_name: null }],
    ] as const) {
      const made = await createApiKey(admin, organization, owners);
      expect(await admit(admin, made.key)).toMatchObject({ decision });
      const { data } = await admin.ok("GET", path(`?key_id=${made.id}`));
      expect(data).toMatchObject([told]);
    }
    const { data } = await admin.ok("GET", path(`?user_id=${carl}&status=user_hard_cap_reached`));
    expect(data).toHaveLength(1);
  });
});

describe("one request", () => {
  it("says whose it was, and who of them is gone", async () => {
    expect(await admin.ok("GET", path(`/${ids.bobs}`))).toMatchObject({
      user_id: bob,
      user_name: "Bob",
      user_deleted: true,
      group_id: team,
      group_name: "Search",
      group_deleted: false,
    });
    expect(await admin.ok("GET", path(`/${ids.anns}`))).toMatchObject({
      user_name: "Ann",
      user_deleted: false,
      group_id: null,
      group_deleted: false,
    });
  });
});
