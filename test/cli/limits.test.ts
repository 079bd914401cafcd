/** Limits on the command line. */
import { beforeAll, describe, expect, it } from "vitest";
import { callCli } from "./call-cli.ts";
import { uniqueName, withManagement } from "./with-management.ts";

const management = withManagement();

/** Values with blanks are one word of a command. */
const igw = (...words: readonly string[]) => callCli(words, { env: management.environment() });
const shown = async (command: string, ...words: readonly string[]) => {
  const { stdout, stderr } = await igw(...command.split(" "), ...words, "--json");
  expect(stderr).toBe("");
  return JSON.parse(stdout) as unknown;
};

let org = "";
beforeAll(async () => {
  org = uniqueName();
  await shown(`org create --currency USD --name ${org}`, "--limits", "total cap 50.00");
});

const listOf = (data: readonly unknown[]) => ({ data, has_more: false, next: null });
const row = (period: string, kind: string, cents: number) => ({ period, kind, cents });

describe("--limits", () => {
  it("sets the limits of keys, users, groups and organizations", async () => {
    expect(await shown("org show", org)).toMatchObject({ limits: [row("total", "cap", 5000)] });
    const inOrg = (command: string, ...words: string[]) => shown(command, ...words, "--org", org);
    expect(await inOrg("key create --name ci", "--limits", "day cap 5.00, week budget 20")).toMatchObject({
      limits: [row("day", "cap", 500), row("week", "budget", 2000)],
    });
    const members = ["--member-limits", "week cap 20.00"];
    expect(
      await inOrg("group create --name Search", "--limits", "month cap 2000.00", ...members),
    ).toMatchObject({
      limits: [row("month", "cap", 200_000)],
      member_limits: [row("week", "cap", 2000)],
    });
    expect(await inOrg("user create --name Ann", "--limits", "week cap 20.00")).toMatchObject({
      limits: [row("week", "cap", 2000)],
    });
    expect(await inOrg("user set Ann --limits none")).toMatchObject({ limits: [] });
  });

  it("says what is no limit, and what was expected", async () => {
    const refused = await igw(
      ..."key create --name bad --org".split(" "),
      org,
      "--limits",
      "fortnight cap 5.00",
    );
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('"fortnight cap 5.00": expected a period (day, week, month, total)');
    expect(refused.stderr).toContain("week cap 20.00");
  });
});

describe("raise", () => {
  it("raises a cap of a key, a user, a group or the organization, lists it and takes it back", async () => {
    const inOrg = (command: string, ...words: string[]) => shown(command, ...words, "--org", org);
    const why = ["--reason", "the launch"];
    await inOrg("user create --name Zoe", "--limits", "week cap 20.00");
    await inOrg("group create --name Pool", "--limits", "day cap 20.00");
    await inOrg("key create --name raised --hard-cap 20.00");
    const owners = [
      [[], "total"],
      [["--user", "Zoe"], "week"],
      [["--group", "Pool"], "day"],
      [["--key", "raised"], "month"],
    ] as const;
    for (const [owner, period] of owners) {
      const what = `raise create --period ${period} --amount 50.00 --until 12h`;
      const made = await inOrg(what, ...why, ...owner);
      expect(made).toMatchObject({ period, add_cents: 5000, reason: "the launch" });
      expect(await inOrg("raise list", ...owner)).toEqual(listOf([made]));
      const { id } = made as { id: string };
      expect(await inOrg(`raise delete ${id}`, ...owner)).toEqual({ id, deleted: true });
      expect(await inOrg("raise list", ...owner)).toEqual(listOf([]));
    }
  });

  it("is shown with its key, as people read it", async () => {
    const words = ["--org", org, "--key", "shown"];
    await shown("key create --name shown --hard-cap 20.00 --org", org);
    const made = await igw(
      ..."raise create --period month --amount 50 --until 2099-12-04 --reason launch".split(" "),
      ...words,
    );
    expect(made.stdout).toMatch(
      /^Increased the monthly hard cap of the key "shown": \+50\.00 USD a month until 2099-12-04T00:00:00Z \(raise_[0-9a-f-]+\)\.\n$/,
    );
    expect((await igw("key", "show", "shown", "--org", org)).stdout).toMatch(
      /raises +\+50\.00 USD a month until 2099-12-04T00:00:00Z/,
    );
    const list = (await igw("raise", "list", ...words)).stdout;
    expect(list).toContain("launch");
    expect(list).toContain("operator");
  });

  it("says what is wrong with it", async () => {
    const create = (...words: string[]) =>
      igw(..."raise create --amount 5 --reason x --until 12h --period".split(" "), ...words, "--org", org);
    const none = await create("day", "--key", "nobody");
    expect([none.code, none.stderr]).toMatchObject([1, expect.stringContaining('Unknown key "nobody"')]);
    const two = await create("day", "--key", "ci", "--user", "Ann");
    expect(two.stderr).toContain("Pass at most one of --key, --user and --group");
    const noCap = await create("day");
    expect(noCap.stderr).toContain("expected the period of one of its caps: total");
    const past = await igw(
      ..."raise create --amount 5 --reason x --period total --until 2020-01-01 --org".split(" "),
      org,
    );
    expect(past.stderr).toContain("expected a time in the future");
  });
});

describe("limit", () => {
  it("sets one and takes one away, and leaves the others of its owner as they are", async () => {
    const inOrg = (command: string, ...words: string[]) => shown(command, ...words, "--org", org);
    await inOrg("user create --name Uma");
    await inOrg("group create --name Crew");
    await inOrg("key create --name limited --hard-cap 20.00");
    const month = row("month", "cap", 2000);
    for (const [owner, before] of [
      [["--user", "Uma"], []],
      [["--group", "Crew"], []],
      [["--key", "limited"], [month]],
    ] as const) {
      expect(await inOrg("limit list", ...owner)).toEqual(listOf(before));
      const day = [row("day", "cap", 500), ...before];
      expect(await inOrg("limit set --period day --amount 5.00", ...owner)).toEqual(listOf(day));
      const both = [...day.slice(0, 1), row("day", "budget", 400), ...before];
      expect(await inOrg("limit set --period day --kind budget --amount 4", ...owner)).toEqual(listOf(both));
      const lower = [row("day", "cap", 450), ...both.slice(1)];
      expect(await inOrg("limit set --period day --amount 4.50", ...owner)).toEqual(listOf(lower));
      expect(await inOrg("limit remove --period day", ...owner)).toEqual(listOf(lower.slice(1)));
    }
  });

  it("sets what each member has, of a group and of the organization alone", async () => {
    const members = ["--members", "--period", "week", "--amount", "20.00", "--org", org];
    await shown("group create --name Squad --org", org);
    const expected = listOf([row("week", "cap", 2000)]);
    expect(await shown("limit set", "--group", "Squad", ...members)).toEqual(expected);
    expect(await shown("limit list --group Squad --members --org", org)).toEqual(expected);
    expect(await shown("limit list --group Squad --org", org)).toEqual(listOf([]));
    expect(await shown("limit set", ...members)).toEqual(expected);
    const again = await igw(
      "limit",
      "set",
      "--group",
      "Squad",
      ...members.with(members.indexOf("20.00"), "30.00"),
    );
    expect(again.stdout).toMatch(
      /^Set the weekly hard cap of each member of the group "Squad" to 30\.00 USD \(was 20\.00 USD\)\.\n\n/,
    );
    await shown("key create --name memberless --org", org);
    const refused = await igw("limit", "set", "--key", "memberless", ...members);
    expect([refused.code, refused.stderr]).toMatchObject([
      1,
      expect.stringContaining("--members works only with --group"),
    ]);
  });

  it.each([
    [["--period", "year", "--amount", "5"], "expected day, week, month or total"],
    [["--period", "day", "--kind", "max", "--amount", "5"], "expected cap or budget"],
    [["--period", "day", "--amount", "much"], "expected an amount such as 50"],
    [["--period", "day", "--amount", "none"], "Remove a limit with `limit remove`."],
  ])("says what is wrong: %j", async (words, expected) => {
    const refused = await igw("limit", "set", "--org", org, ...words);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain(expected);
  });
});
