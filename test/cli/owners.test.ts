import { beforeAll, describe, expect, it } from "vitest";
import { admit } from "../admin/admin-fixture.ts";
import { uniqueName, withManagement } from "./with-management.ts";

const management = withManagement();
const { igw, ok } = management;

let org = "";
beforeAll(async () => {
  org = uniqueName();
  await ok("org create --name", org, "--currency USD");
});

const inOrg = (command: string) => ok(command, "--org", org);
const create = async (command: string) => (await inOrg(`${command} --quiet`)).stdout.trim();

describe("group", () => {
  it("makes, lists, finds, shows, changes and deletes a group by its name", async () => {
    const id = await create("group create --name Research --note third-floor");
    expect(id).toMatch(/^group_[0-9a-f-]{36}$/);
    await create("user create --name Ann --group Research");
    expect((await inOrg("group list")).stdout).toMatch(/ID +NAME +USERS +KEYS\ngroup_\S+ +Research +1 +0\n/);
    expect((await inOrg("group list --search rese --json")).json()).toMatchObject({ data: [{ id }] });
    expect((await inOrg("group list --search search --json")).json()).toMatchObject({ data: [] });
    expect((await inOrg("group show Research")).stdout).toMatch(/note +third-floor\nusers +1\nkeys +0\n/);
    const changed = await inOrg("group set Research --name Search --note none --json");
    expect(changed.json()).toMatchObject({ id, name: "Search", note: null });
    const refused = await igw("group delete Search --org", org);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("it has no keys")]);
    expect((await inOrg("group delete Search --yes")).stdout).toBe('Deleted the group "Search".\n');
    expect((await igw("group show Search --org", org)).stderr).toContain('Unknown group "Search"');
  });
});

describe("user", () => {
  it("makes, lists, finds, shows, changes, disables, enables and deletes a user", async () => {
    await create("group create --name Ops");
    const id = await create("user create --name Bob --email bob@example.com --group Ops");
    expect(id).toMatch(/^user_[0-9a-f-]{36}$/);
    expect((await inOrg("user list --search bob")).stdout).toMatch(
      /ID +NAME +EMAIL +GROUP +KEYS +STATE\nuser_\S+ +Bob +bob@example\.com +Ops +0 +active\n/,
    );
    expect((await inOrg("user list --group Ops --json")).json()).toMatchObject({ data: [{ id }] });
    expect((await inOrg("user list --limit 1 --json")).json()).toMatchObject({ has_more: true });
    for (const name of ["Bob", "bob@example.com", id, `user_…${id.slice(-8)}`]) {
      expect((await inOrg(`user show ${name}`)).stdout).toMatch(
        /name +Bob\nstate +active\ngroup +Ops \(group_/,
      );
    }
    const changed = await inOrg("user set Bob --group none --email none --note n --json");
    expect(changed.json()).toMatchObject({ group_id: null, email: null, note: "n" });
    expect((await igw("user disable Bob --org", org)).code).toBe(2);
    expect((await inOrg("user disable Bob --yes")).stdout).toMatch(/state +disabled\n/);
    expect((await inOrg("user enable Bob")).stdout).toMatch(/state +active\n/);
    expect((await inOrg("user delete Bob --yes")).stdout).toBe('Deleted the user "Bob".\n');
    expect((await igw("user show Bob --org", org)).stderr).toContain('Unknown user "Bob"');
  });

  it("is not guessed where two have the name, and is told where nobody quite has it", async () => {
    const ids = [await create("user create --name Twin"), await create("user create --name Twin")];
    await create("user create --name Twinkle");
    const { code, stderr } = await igw("user show Twin --org", org);
    expect(code).toBe(1);
    for (const id of ids) expect(stderr).toContain(id);
    expect((await igw("user show Twinkl --org", org)).stderr).toContain("did you mean");
    expect((await igw("user create --name x --group Nowhere --org", org)).stderr).toContain(
      'Unknown group "Nowhere"',
    );
  });

  it("is named by the option where the API refuses a field", async () => {
    expect((await igw("user create --name x --email nobody --org", org)).stderr).toContain("`--email`");
  });
});

describe("a key of a user and a group", () => {
  it("is made, listed, moved and taken away by their names", async () => {
    await create("group create --name Team");
    const user = await create("user create --name Cid --email cid@example.com --group Team");
    const made = await inOrg("key create --name laptop --user cid@example.com --json");
    expect(made.json()).toMatchObject({ user_id: user, group_id: null, group: { name: "Team" } });
    expect((await inOrg("key create --name plain")).stdout).not.toMatch(/^user /m);
    expect((await inOrg("key list --user Cid")).stdout).toMatch(
      / STATE +USER +GROUP\n.* active +Cid +Team\n$/,
    );
    expect((await inOrg("key show laptop")).stdout).toMatch(/\nuser +Cid \(user_\S+\)\ngroup +Team \(group_/);
    await inOrg("key set laptop --group Team");
    expect((await inOrg("key list --group Team --json")).json()).toMatchObject({
      data: [{ name: "laptop" }],
    });
    const nobodys = await inOrg("key set laptop --user none --group none --json");
    expect(nobodys.json()).toMatchObject({ user_id: null, group_id: null });
    expect((await inOrg("key list")).stdout).not.toContain("USER");
  });

  it("goes on without a user that is deleted, or goes with it", async () => {
    await create("user create --name Dan");
    await create("user create --name Eve");
    const dans = await create("key create --name dans --user Dan");
    const eves = await create("key create --name eves --user Eve");
    const asked = await igw("user delete Eve --with-keys --org", org);
    expect([asked.code, asked.stderr]).toEqual([
      2,
      expect.stringContaining("and its key: requests with it return 401"),
    ]);
    expect((await igw("user delete Dan --org", org)).stderr).toContain("its key stays without it");
    await inOrg("user delete Dan --yes");
    await inOrg("user delete Eve --with-keys --yes");
    expect((await admit(management.admin, dans)).decision).toBe("admitted");
    expect((await admit(management.admin, eves)).decision).toBe("unknown_key");
  });
});
