import { z } from "zod";
import { beforeAll, describe, expect, it } from "vitest";
import { isWellFormedKey } from "../../src/data-path/auth/key-format.ts";
import { createProgram } from "../../src/operation/cli/program.ts";
import { admit } from "../admin/admin-fixture.ts";
import { parseCsv } from "../support/parse-csv.ts";
import { callCli } from "./call-cli.ts";
import { runCli } from "./run-cli.ts";
import { uniqueName, withManagement } from "./with-management.ts";

const management = withManagement();
const { environment, igw, ok } = management;

describe("a management command", () => {
  it("is the same as a process of its own, output, errors and exit code", async () => {
    const name = uniqueName();
    const asProcess = (...args: string[]) => runCli(args, { env: environment() });
    const made = await asProcess("org", "create", "--name", name, "--currency", "USD");
    expect(made).toMatchObject({ code: 0, stderr: "" });
    expect(made.stdout).toBe(`Created the organization.\n\n${(await ok("org show", name)).stdout}`);
    const list = ["key", "list", "--org", name, "--json"];
    expect((await asProcess(...list)).stdout).toBe((await ok(...list)).stdout);
    for (const wrong of ["org set --hard-cap x", `org show ${name}x`, "org shw"]) {
      const { code, stdout, stderr } = await igw(wrong);
      expect(await asProcess(...wrong.split(" "))).toMatchObject({ code, stdout, stderr });
      expect(code).not.toBe(0);
    }
  });
});

describe("org", () => {
  it("makes, shows, changes, suspends and resumes an organization by its name", async () => {
    const name = uniqueName();
    const created = await ok(
      "org create --name",
      name,
      "--currency EUR --hard-cap 1000.00 --budget 800 --strict-caps --email a@example.com,b@example.com --key-rpm 60 --key-hard-cap 5",
    );
    expect(created.stdout).toContain("1000.00 EUR");
    const shown = await ok("org show", name, "--json");
    expect(shown.json()).toMatchObject({
      name,
      hard_cap_cents: 100_000,
      budget_cents: 80_000,
      strict_caps: true,
      notifications: { emails: ["a@example.com", "b@example.com"] },
      key_defaults: { requests_per_minute: 60, hard_cap_cents: 500, budget_cents: null },
    });
    const changed = await ok(
      "org set",
      name,
      "--hard-cap none --budget 0.50 --no-strict-caps --email none --key-rpm none --json",
    );
    expect(changed.json()).toMatchObject({
      hard_cap_cents: null,
      budget_cents: 50,
      strict_caps: false,
      notifications: { emails: [] },
      key_defaults: { requests_per_minute: null, hard_cap_cents: 500 },
    });
    const pairs =
      "--model-alias gpt-4o-mini=acme/echo-small,mine=acme/echo-large --default-model acme/echo-small";
    expect((await ok("org set", name, pairs)).stdout).toContain(
      "gpt-4o-mini=acme/echo-small, mine=acme/echo-large",
    );
    expect(
      (await ok("org set", name, "--model-alias none --default-model none --json")).json(),
    ).toMatchObject({ model_names: { aliases: {}, default_model: null } });
    expect((await igw("org set", name, "--model-alias mine")).stderr).toContain("unknown model");
    expect((await ok("org suspend", name, "--yes")).stdout).toMatch(/state +suspended/);
    expect((await ok("org resume", name, "--json")).json()).toMatchObject({ suspended: false });
    expect((await ok("org list")).stdout).toMatch(
      new RegExp(`org_\\S+ +${name} +0\\.00 EUR +none +0\\.50 EUR +active`),
    );
  });

  it("deletes an organization, whose usage is read by its id and whose name is free again", async () => {
    const name = uniqueName();
    const id = (await ok("org create --name", name, "--currency USD --quiet")).stdout.trim();
    const key = (await ok("key create --org", name, "--name ci --quiet")).stdout.trim();
    expect((await ok("org delete", name, "--yes")).stdout).toContain(`usage show --org ${id}`);
    expect((await admit(management.admin, key)).decision).toBe("unknown_key");
    expect((await ok("org list --json")).stdout).not.toContain(id);
    expect((await ok("org list --deleted --json")).stdout).toContain(id);
    expect((await ok("org show", id)).stdout).toMatch(/state +deleted\n/);
    expect((await ok("usage show --json --org", id)).json()).toMatchObject({ currency: "USD" });
    const refused = await igw("org set", id, "--budget 5");
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("was deleted at")]);
    await ok("org create --name", name, "--currency USD");
  });

  it("prints nothing but the id with --quiet, and a webhook's secret once", async () => {
    const name = uniqueName();
    const { stdout } = await ok("org create --name", name, "--currency USD --quiet");
    expect(stdout).toMatch(/^org_[0-9a-f-]{36}\n$/);
    const webhook = ["--webhook https://example.com/hook"];
    expect((await ok("org set", stdout.trim(), ...webhook)).stdout).toMatch(/only once:\n\n {2}whsec_\S+\n/);
    expect((await ok("org set", name, ...webhook)).stdout).not.toContain("whsec_");
    expect((await ok("org set", name, "--webhook none --json")).json()).toMatchObject({
      notifications: { webhook: null },
    });
  });
});

describe("key", () => {
  it("makes a key that works, and prints it once", async () => {
    const org = uniqueName();
    await ok("org create --name", org, "--currency USD");
    const created = await ok(
      "key create --org",
      org,
      "--name ci --rpm 90 --hard-cap 50.00 --budget 40 --models acme/echo-small,acme/echo-large --max-concurrent 4 --expires 2100-01-01T00:00:00Z",
    );
    const key = /shown only once.*\n\n {2}(sk-igw-\S+)\n/.exec(created.stdout)?.[1] ?? "";
    expect(isWellFormedKey(key)).toBe(true);
    expect(await admit(management.admin, key)).toMatchObject({
      decision: "admitted",
      key: {
        requestsPerMinute: 90,
        allowedModels: ["acme/echo-small", "acme/echo-large"],
        maxConcurrentRequests: 4,
        expiresAtMs: Date.UTC(2100, 0, 1),
      },
      caps: [{ scope: "key", period: "month", cents: 5000 }],
    });
    const list = await ok("key list --org", org);
    expect(list.stdout).toMatch(/key_\S+ +ci +sk-igw-…\S{4} +90 +0\.00 USD +50\.00 USD +40\.00 USD +active/);
    expect(list.stdout + (await ok("key show ci --org", org)).stdout).not.toContain(key);
  });

  it("changes, disables, enables, rotates and deletes a key by its name", async () => {
    const org = uniqueName();
    await ok("org create --name", org, "--currency USD");
    const create = ["key create --org", org, "--name ci --hard-cap 0 --quiet"];
    const key = (await ok(...create)).stdout.trim();
    const decision = async (secret = key): Promise<string> =>
      (await admit(management.admin, secret)).decision;
    expect(await decision()).toBe("key_cap_reached");
    const models = ["--models none --expires none --max-concurrent none"];
    await ok("key set ci --org", org, "--hard-cap 60.00 --name deploy", ...models);
    expect(await decision()).toBe("admitted");
    expect((await ok("key disable deploy --yes --org", org)).stdout).toMatch(/state +disabled/);
    expect(await decision()).toBe("key_disabled");
    await ok("key enable deploy --org", org);
    const rotate = ["key rotate deploy --org", org, "--quiet"];
    const second = (await ok(...rotate, "--grace 3600")).stdout.trim();
    expect([await decision(), await decision(second)]).toEqual(["admitted", "admitted"]);
    const third = (await ok(...rotate, "--grace 0 --yes")).stdout.trim();
    expect([await decision(second), await decision(third)]).toEqual(["unknown_key", "admitted"]);
    await ok("key delete deploy --yes --org", org);
    expect(await decision(third)).toBe("unknown_key");
    expect((await ok("key list --org", org, "--json")).json()).toEqual({
      data: [],
      has_more: false,
      next: null,
    });
  });

  it("revokes all keys", async () => {
    const org = uniqueName();
    await ok("org create --name", org, "--currency USD");
    const key = (await ok("key create --org", org, "--name ci --quiet")).stdout.trim();
    expect((await admit(management.admin, key)).decision).toBe("admitted");
    expect((await ok("key revoke-all --org", org, "--yes --json")).json()).toMatchObject({
      revoked: 1,
    });
    expect((await admit(management.admin, key)).decision).toBe("unknown_key");
  });

  it("lets the former secret of a rotated key work for a day when nothing else is said", async () => {
    const org = uniqueName();
    await ok("org create --name", org, "--currency USD");
    const key = (await ok("key create --org", org, "--name ci --quiet")).stdout.trim();
    const rotated = (await ok("key rotate ci --json --org", org)).json();
    const leftMs = Date.parse(String(rotated["former_key_until"])) - (await management.admin.store.timeMs());
    expect(leftMs).toBeGreaterThan(86_000_000);
    expect(leftMs).toBeLessThanOrEqual(86_400_000);
    expect((await admit(management.admin, key)).decision).toBe("admitted");
    const week = (await ok("key rotate ci --grace 7d --json --org", org)).json();
    expect(Date.parse(String(week["former_key_until"]))).toBeGreaterThan(
      Date.parse(String(rotated["former_key_until"])) + 5 * 86_400_000,
    );
  });

  it("takes a day or so long from now where it takes a time", async () => {
    const org = uniqueName();
    await ok("org create --name", org, "--currency USD");
    const expiresOf = async (given: string) =>
      (await ok("key create --name ci --org", org, "--json --expires", given)).json()["expires_at"];
    expect(await expiresOf("2100-01-01")).toBe("2100-01-01T00:00:00.000Z");
    const leftMs = Date.parse(String(await expiresOf("90d"))) - Date.now();
    expect(leftMs).toBeGreaterThan(89 * 86_400_000);
  });

  it("is found by its short id, and of two that end alike by neither", async () => {
    const org = uniqueName();
    await ok("org create --name", org, "--currency USD");
    const id = String((await ok("key create --name ci --json --org", org)).json()["id"]);
    const end = id.slice(-8);
    for (const typed of [`key_…${end}`, `key_${end}`, end]) {
      expect((await ok("key show", typed, "--json --org", org)).json()).toMatchObject({ id });
    }
    const missing = await igw("key show key_…00000000 --org", org);
    expect(missing).toMatchObject({ code: 1, stdout: "" });
    expect(missing.stderr).toContain('Unknown key "key_…00000000"');
  });
});

/** Every command that shows a list: those of that name, and the two that are lists by themselves. */
const LISTS = createProgram().commands.flatMap((command) => {
  if (["audit", "catalog"].includes(command.name())) return [command.name()];
  return command.commands.filter((one) => one.name() === "list").map(() => `${command.name()} list`);
});

describe("--json of a list", () => {
  const page = z.strictObject({
    data: z.array(z.looseObject({})),
    has_more: z.boolean(),
    next: z.string().nullable(),
  });

  it("is looked at for every list that there is", () => {
    expect(LISTS.toSorted()).toEqual(
      [
        "alerts list",
        "audit",
        "catalog",
        "group list",
        "key list",
        "limit list",
        "org list",
        "raise list",
        "requests list",
        "token list",
        "user list",
        "webhook list",
      ].toSorted(),
    );
  });

  it.each(LISTS)("is the API's page: %s", async (command) => {
    const org = uniqueName();
    await ok("org create --name", org, "--currency USD");
    const inOrg = ["org list", "catalog"].includes(command) ? "" : ` --org ${org}`;
    const printed = page.parse((await ok(`${command} --json${inOrg}`)).json());
    expect(printed.has_more).toBe(printed.next !== null);
  });
});

describe("usage, requests, token, audit, catalog", () => {
  let org = "";
  beforeAll(async () => {
    org = uniqueName();
    await ok("org create --name", org, "--currency USD");
    await ok("key create --org", org, "--name ci --hard-cap 0");
  });

  it("corrects spend to the last decimal, in either direction, and shows it", async () => {
    const correct = ["usage correct --org", org, "--key ci --reason test"];
    await ok(...correct, "--amount 12.50");
    const back = await ok(...correct, "--amount -0.00125 --json");
    expect(back.json()).toMatchObject({ amount_microcents: -125_000, key_spent_microcents: 1_249_875_000 });
    const shown = await ok("usage show --org", org, "--group-by day,key,model");
    expect(shown.stdout).toMatch(/DAY +KEY +MODEL +REQUESTS +INPUT +CACHED +OUTPUT +COST\n/);
    expect(shown.stdout).toMatch(/ci +\(correction\) +0 +0 +0 +0 +12\.49875 USD\n/);
    const csv = await ok("usage show --org", org, "--group-by key --csv");
    const table = parseCsv(csv.stdout);
    expect(table.columns).toEqual(parseCsv((await ok("usage export --org", org)).stdout).columns);
    expect(table.rows).toMatchObject([
      { key_name: "ci", requests: "0", cost: "12.49875000", currency: "USD" },
    ]);
    const json = await ok("usage show --org", org, "--json");
    expect(json.json()).toMatchObject({ currency: "USD", data: [{ cost_cents: 1249 }] });
    const empty = await ok("usage show --org", org, "--month 2020-01 --group-by day");
    expect(empty.stdout).toContain("No requests.");
  });

  it("charges what did not pass the gateway by its tokens, once for each idempotency key, and shows it", async () => {
    const correct = [
      "usage correct --org",
      org,
      "--model acme/echo-small --reason batch --idempotency-key b7",
    ];
    const tokens = "--tokens input=1000,cached_input=7,output=50";
    const first = await ok(...correct, tokens);
    expect(first.stdout).toMatch(
      /^Corrected\. Outside usage: 1000 input, 7 cached input, 50 output tokens of acme\/echo-small: \d/,
    );
    const again = await ok(...correct, tokens);
    expect(again.stdout).toMatch(
      /^This correction was made before; nothing changed\. Outside usage: 1000 input/,
    );
    const audit = await ok("audit --org", org, "--limit 1");
    expect(audit.stdout).toContain(
      "Outside usage: 1000 input, 7 cached input, 50 output tokens of acme/echo-small",
    );
  });

  it("shows the last requests and why one was refused", async () => {
    const key = (await ok("key create --org", org, "--name capped --hard-cap 0 -q")).stdout.trim();
    await admit(management.admin, key);
    const list = await ok("requests list --org", org, "--limit 1");
    const id = /req_[0-9a-f-]{36}/.exec(list.stdout)?.[0] ?? "";
    expect(list.stdout).toContain("402 hard_cap_reached");
    expect(list.stdout).toMatch(/ capped /);
    const shown = await ok("requests show", id, "--org", org);
    expect(shown.stdout).toMatch(
      /^Blocked\. Monthly hard cap of 0\.00 USD for this API key reached: 0\.00 USD spent in /,
    );
    expect(shown.stdout).toMatch(/Change this cap: http:\S+\/keys\/key_\S+#limits/);
    expect(shown.stdout).toMatch(
      /key hard cap +REJECTED +0\.00 USD spent of the monthly hard cap of 0\.00 USD/,
    );
    expect((await ok("explain", id, "--org", org)).stdout).toBe(shown.stdout);
    const filtered = async (filter: string) =>
      (await ok("requests list --org", org, "--json", filter)).json()["data"];
    expect(await filtered("--key capped --status 4xx")).toHaveLength(1);
    expect(await filtered("--key capped --status 2xx")).toHaveLength(0);
    expect(await filtered("--to 2020-01-01")).toHaveLength(0);
    expect(await filtered("--upstream local")).toHaveLength(0);
    expect((await ok("requests show", id, "--org", org, "--json")).json()).toMatchObject({
      id,
      status: 402,
    });
  });

  it("makes tokens that see one organization, so that --org may be left out", async () => {
    const create = ["token create --org", org, "--name report --role viewer"];
    const token = (await ok(...create, "--quiet")).stdout.trim();
    const env = environment(token);
    const keys = await callCli(["key", "list", "--json"], { env });
    expect(keys.code).toBe(0);
    const refused = await callCli(["key", "create", "--name", "x"], { env });
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain("viewer");
    const list = await ok("token list --org", org);
    const id = /token_[0-9a-f-]{36}/.exec(list.stdout)?.[0] ?? "";
    expect(list.stdout).toMatch(/report +viewer +igw_org_…/);
    await ok("token delete", id, "--yes --org", org);
    expect((await callCli(["key", "list"], { env })).stderr).toContain("Invalid management token");
  });

  it("shows who changed what", async () => {
    const changed = await ok("key set ci --org", org, "--hard-cap 7");
    expect(changed.stdout).toMatch(
      /^Changed the key "ci" \(sk-igw-…[\w-]{4}\): .*hard cap 7\.00 USD \(was 0\.00 USD\).*\.\n\n/,
    );
    expect((await ok("key set ci --org", org, "--hard-cap 7")).stdout).toMatch(
      /^Nothing changed: the key "ci" /,
    );
    const { stdout } = await ok("audit --org", org, "--limit 1");
    expect(stdout).toMatch(/operator +key\.updated +ci +hard_cap_cents 0 -> 700\n/);
    const page = (await ok("audit --org", org, "--limit 2 --json")).json();
    expect(page).toMatchObject({ data: [{}, {}], has_more: true });
    const [first] = page["data"] as { id: string }[];
    const behind = await ok("audit --org", org, "--limit 1 --json --after", String(page["next"]));
    expect(behind.json()["data"]).not.toEqual([first]);
    expect(behind.json()["data"]).toHaveLength(1);
  });

  it("lists the models with their prices", async () => {
    const { stdout } = await ok("catalog");
    expect(stdout).toMatch(/acme\/echo-small +USD +2\.50 +2\.50 +10\.00 +1000\n/);
    expect(stdout).toMatch(/acme\/echo-small +EUR +2\.30/);
  });
});
