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
