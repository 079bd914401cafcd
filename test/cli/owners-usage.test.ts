/** Usage and requests by whose the requests were when they were admitted. */
import { beforeAll, describe, expect, it } from "vitest";
import { formatOwnerIds, type OwnerIds } from "../../src/shared/stored/owner-ids.ts";
import { chargeInput, createIdentity, FINAL } from "../store/fixture.ts";
import { uniqueName, withManagement } from "./with-management.ts";

const management = withManagement();
const { igw, ok } = management;

let org = "";
let organizationId = "";
let keyId = "";
let ann = "";
let gone = "";
let team = "";
let last = "";
const inOrg = (command: string) => ok(command, "--org", org);
const create = async (command: string) => (await inOrg(`${command} --quiet`)).stdout.trim();

async function spend(owners: OwnerIds, microcents: bigint): Promise<void> {
  const { store } = management.admin;
  const identity = await createIdentity(store, { organizationId, keyId, hash: "" });
  const owned = { ...identity, owners: formatOwnerIds(owners) };
  await store.charge(chargeInput(owned, 1, microcents, { final: FINAL }));
  last = identity.requestId;
}

beforeAll(async () => {
  org = uniqueName();
  organizationId = String((await ok("org create --json --currency USD --name", org)).json()["id"]);
  keyId = String((await inOrg("key create --name ci --json")).json()["id"]);
  team = await create("group create --name Search");
  ann = await create("user create --name Ann --email ann@example.com");
  gone = await create("user create --name Bob");
  await spend({ userId: null, groupId: null }, 100_000_000n);
  await spend({ userId: ann, groupId: team }, 200_000_000n);
  await spend({ userId: gone, groupId: team }, 400_000_000n);
  await inOrg("user delete Bob --yes");
});

describe("usage", () => {
  it("is shown by user and group, by their names, those of deleted ones included", async () => {
    const { stdout } = await inOrg("usage show --group-by user,group");
    expect(stdout).toMatch(/USER +GROUP +REQUESTS/);
    expect(stdout).toMatch(/\nAnn +Search +1 .* 2\.00 USD\n/);
    expect(stdout).toMatch(/\nBob +Search +1 .* 4\.00 USD\n/);
    expect(stdout).toMatch(/\n\(none\) +\(none\) +1 .* 1\.00 USD\n/);
  });

  it("tells two of one name apart by their ids", async () => {
    const twin = await create("user create --name Ann");
    await spend({ userId: twin, groupId: null }, 700_000_000n);
    const { stdout } = await inOrg("usage show --group-by user");
    expect(stdout).toMatch(new RegExp(`\\nAnn \\(user_…${ann.slice(-8)}\\) +1 .* 2\\.00 USD\\n`, "u"));
    expect(stdout).toMatch(new RegExp(`\\nAnn \\(user_…${twin.slice(-8)}\\) +1 .* 7\\.00 USD\\n`, "u"));
  });

  it("is narrowed down to a user's by name or email address, to a deleted one's by its id", async () => {
    const costOf = async (options: string): Promise<unknown> => {
      const { data } = (await inOrg(`usage show --json ${options}`)).json();
      return (data as Record<string, unknown>[]).map((row) => row["cost_microcents"]);
    };
    expect(await costOf("--user ann@example.com")).toEqual([200_000_000]);
    expect(await costOf(`--user ${gone}`)).toEqual([400_000_000]);
    expect(await costOf("--group Search")).toEqual([600_000_000]);
    expect(await costOf(`--group ${team} --user ann@example.com`)).toEqual([200_000_000]);
    expect((await igw("usage show --user Bob --org", org)).stderr).toContain('Unknown user "Bob"');
  });

  it("has both in its CSV and its export", async () => {
    const csv = (await inOrg("usage show --group-by user,group --csv")).stdout;
    expect(csv).toContain(`,${ann},Ann,${team},Search,`);
    const exported = (await inOrg("usage export")).stdout;
    expect(exported).toContain(`,${gone},Bob,${team},Search,`);
    const lines = (await inOrg("usage export --json")).stdout;
    expect(lines).toContain(
      `"user_id":"${gone}","user_name":"Bob","group_id":"${team}","group_name":"Search",`,
    );
  });
});

describe("requests", () => {
  it("are listed of a user and of a group", async () => {
    const idsOf = async (options: string): Promise<unknown[]> => {
      const { data } = (await inOrg(`requests list --json ${options}`)).json();
      return (data as Record<string, unknown>[]).map((one) => one["user_name"]);
    };
    expect(await idsOf("--user ann@example.com")).toEqual(["Ann"]);
    expect(await idsOf("--group Search")).toEqual(["Bob", "Ann"]);
    expect(await idsOf(`--user ${gone}`)).toEqual(["Bob"]);
    expect((await igw("requests list --group Nowhere --org", org)).stderr).toContain(
      'Unknown group "Nowhere"',
    );
  });

  it("say whose they were, in the list and by themselves", async () => {
    expect((await inOrg("requests list")).stdout).toMatch(/KEY +USER +GROUP +MODEL/);
    await spend({ userId: gone, groupId: team }, 1n);
    expect((await ok(`explain ${last} --org`, org)).stdout).toMatch(
      /key +ci\nuser +Bob \(deleted\)\ngroup +Search\nroute/,
    );
  });
});

describe("a correction", () => {
  it("is a user's and its group's, or those of a key, by name", async () => {
    const other = await create("group create --name Ranking");
    const correct = async (options: string) =>
      (await inOrg(`usage correct --amount -0.50 --reason refund --json ${options}`)).json();
    const email = "cid@example.com";
    const cid = await create(`user create --name Cid --email ${email} --group Search`);
    await inOrg("key create --name cids --user Cid");
    expect(await correct(`--user ${email}`)).toMatchObject({ key_id: null, user_id: cid, group_id: team });
    expect(await correct("--key cids")).toMatchObject({ user_id: cid, group_id: team });
    expect(await correct("--user Cid --group Ranking")).toMatchObject({ user_id: cid, group_id: other });
    expect(await correct("--user Cid --group none")).toMatchObject({ user_id: cid, group_id: null });
    expect(await correct("--group Ranking")).toMatchObject({ user_id: null, group_id: other });
    const shown = (await inOrg("usage show --group-by user,group --user Cid")).stdout;
    expect(shown).toMatch(/\nCid +Search +0 .* -1\.00 USD\n/);
    const unknown = await igw("usage correct --amount 1 --reason r --user Nobody --org", org);
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining("Nobody") });
  });
});
