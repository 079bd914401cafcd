/** What the command line does at a terminal, at a real one: questions, colours, width. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  admit,
  type AdminUnderTest,
  createApiKey,
  createOrganization,
  createToken,
  type MadeKey,
  OPERATOR_TOKEN,
  startAdmin,
} from "../admin/admin-fixture.ts";
import { chargeInput, createIdentity, FINAL } from "../store/fixture.ts";
import { byExtent } from "../support/extent.ts";
import { runAtTerminal } from "../support/terminal.ts";
import { callCli } from "./call-cli.ts";
import { runCli, typeCli } from "./run-cli.ts";

const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const ESCAPE = "\u001b[";

let admin: AdminUnderTest;
let organization: string;
let key: MadeKey;
beforeAll(async () => {
  admin = await startAdmin();
});
afterAll(() => admin.stop());
beforeEach(async () => {
  organization = await createOrganization(admin);
  key = await createApiKey(admin, organization, { name: "ci" });
});

const environment = () => ({
  IGW_ADMIN_URL: admin.url,
  IGW_ADMIN_TOKEN: OPERATOR_TOKEN,
  IGW_ORG: organization,
});
const decision = async () => (await admit(admin, key.key)).decision;

/** What destroys or stops: how it is called, what its question names, and whether it was done. */
const ASKING = [
  {
    args: "key delete ci",
    names: /permanently deletes the key "ci" \(sk-igw-…[\w-]{4}\): requests with it return 401/,
    refusedAs: "unknown_key",
  },
  {
    args: "key revoke-all",
    names: /permanently deletes every API key of "Acme[ 0-9]*"/,
    refusedAs: "unknown_key",
  },
  {
    args: "key rotate ci --grace 0",
    names: /ends the secret of the key "ci" .* at once/,
    refusedAs: "unknown_key",
  },
  { args: "key disable ci", names: /disables the key "ci"/, refusedAs: "key_disabled" },
  {
    args: "org suspend ORG",
    names: /suspends the organization "Acme[ 0-9]*"/,
    refusedAs: "organization_suspended",
  },
  {
    args: "org delete ORG",
    names: /permanently deletes the organization "Acme[ 0-9]*" \(org_[0-9a-f-]+\): its API keys/,
    refusedAs: "unknown_key",
  },
];
const YES = "y\n";
/** A yes, an empty answer, a no and the end of the input. */
const ANSWERS = [YES, "\n", "n\n", "\u0004"];
/** On each push each question has one of them, and each of them a question. */
const CASES = ASKING.map((one, index) => ({
  ...one,
  answers: byExtent({ push: [ANSWERS[index % ANSWERS.length]!], nightly: ANSWERS }),
}));
const argsOf = (line: string) => line.replace("ORG", organization).split(" ");

describe.each(CASES)("$args", ({ args, names, refusedAs, answers }) => {
  it.each(answers)("names what it will do, and does it after a yes alone (%j)", async (text) => {
    const types = [{ after: "Continue? [y/N] ", text }];
    const { code, screen } = await typeCli(argsOf(args), { env: environment(), types });
    expect(screen).toMatch(names);
    expect(screen.includes("Nothing was changed.")).toBe(text !== YES);
    const outcome = text === YES ? [0, refusedAs] : [1, "admitted"];
    expect([code, await decision()]).toEqual(outcome);
  });

  it("without a terminal does it with --yes alone, and else exits with 2 and says so", async () => {
    const refused = await callCli(argsOf(args), { env: environment(), input: "y\n" });
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toMatch(names);
    expect(refused.stderr).toContain("Pass --yes to confirm.");
    expect(await decision()).toBe("admitted");
    const done = await callCli([...argsOf(args), "--yes"], { env: environment() });
    expect(done.code).toBe(0);
    expect(await decision()).toBe(refusedAs);
  });
});

describe("token delete", () => {
  it("names the token, and deletes it after a yes alone, called `revoke` too", async () => {
    const token = await createToken(admin, organization, "viewer");
    const args = ["token", "delete", "the viewer"];
    const isValid = async () => (await admin.call("GET", "/api/organizations", { token })).status === 200;
    expect((await callCli(args, { env: environment() })).code).toBe(2);
    expect(await isValid()).toBe(true);
    const types = [{ after: "Continue? [y/N] ", text: "yes\n" }];
    const { code, screen } = await typeCli(["token", "revoke", "the viewer"], { env: environment(), types });
    expect(screen).toMatch(/permanently deletes the token "the viewer" \(igw_org_…[\w-]{4}\)/);
    expect(code).toBe(0);
    expect(await isValid()).toBe(false);
  });
});

describe("key rotate", () => {
  it("asks nothing where the former secret works on", async () => {
    expect((await callCli(["key", "rotate", "ci", "-q"], { env: environment() })).code).toBe(0);
    expect(await decision()).toBe("admitted");
  });

  it("asks on the terminal where its output goes to a file", async () => {
    const dir = mkdtempSync(join(tmpdir(), "igw-rotate-"));
    try {
      const line = `'${process.execPath}' '${MAIN}' key rotate ci --grace 0 --quiet > secret`;
      const types = [{ after: "Continue? [y/N] ", text: "y\n" }];
      const { code } = await runAtTerminal(["sh", "-c", line], { cwd: dir, env: environment(), types });
      expect(code).toBe(0);
      expect(readFileSync(join(dir, "secret"), "utf8")).toMatch(/^sk-igw-\S+\n$/);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});

describe("tables", () => {
  const NAME = "a key with a name that is much too long for a terminal of eighty columns, with its purpose";

  it.each(byExtent({ push: [40, 132], nightly: [40, 60, 80, 132] }))(
    "fit a terminal of %d columns, with short ids",
    async (columns) => {
      await createApiKey(admin, organization, { name: NAME });
      const { screen } = await typeCli(["key", "list"], {
        env: { ...environment(), NO_COLOR: "1" },
        columns,
      });
      expect(Math.max(...screen.split("\n").map((line) => line.length))).toBeLessThanOrEqual(columns);
      expect(screen).toContain(`key_…${key.id.slice(-8)}`);
      expect(screen).not.toContain(key.id);
    },
  );

  it("are whole with --wide, and in a pipe", async () => {
    await createApiKey(admin, organization, { name: NAME });
    const { screen } = await typeCli(["key", "list", "--wide"], { env: environment(), columns: 60 });
    const { stdout } = await callCli(["key", "list"], { env: environment() });
    for (const text of [screen, stdout]) {
      expect(text).toContain(NAME);
      expect(text).toContain(key.id);
    }
    expect(stdout.replace(/sk-igw-…/g, "")).not.toContain("…");
  });

  it("have a request's id that explain takes", async () => {
    const capped = await createApiKey(admin, organization, { name: "capped", hard_cap_cents: 0 });
    await admit(admin, capped.key);
    const { screen } = await typeCli(["requests", "list"], { env: { ...environment(), NO_COLOR: "1" } });
    expect(screen).toMatch(/402 hard_cap_\S+ +none/);
    const [short = ""] = /req_…[0-9a-f]{8}/.exec(screen) ?? [];
    for (const args of [
      ["explain", short],
      ["requests", "show", short],
    ]) {
      const explained = await callCli(args, { env: environment() });
      expect(explained.stdout).toMatch(
        /^Blocked\. Monthly hard cap of 0\.00 USD for this API key reached: 0\.00 USD spent/,
      );
    }
    const [listed] = (
      await callCli(["requests", "list", "--id", short, "--json"], { env: environment() })
    ).json()["data"] as { id: string }[];
    expect(listed!.id.endsWith(short.slice(-8))).toBe(true);
  });
});

describe("colours", () => {
  it("of states, headers and errors are on the terminal alone, and never with NO_COLOR", async () => {
    await admin.ok("PATCH", key.path, { body: { budget_cents: 1 } });
    const identity = await createIdentity(admin.store, {
      organizationId: organization,
      keyId: key.id,
      hash: "",
    });
    await admin.store.charge(chargeInput(identity, 1, 5_000_000n, { final: FINAL }));
    const list = ["key", "list"];
    const { screen } = await typeCli(list, { env: environment(), columns: 120 });
    expect(screen).toContain(`${ESCAPE}33mover budget${ESCAPE}0m`);
    expect(screen).toContain(`${ESCAPE}1mNAME${ESCAPE}0m`);
    const refused = await typeCli(["key", "show", "CI"], { env: environment() });
    expect(refused.screen).toContain(`${ESCAPE}31mUnknown key "CI"; did you mean \`ci\`? `);
    for (const env of [{ NO_COLOR: "1" }, { TERM: "dumb" }]) {
      expect((await typeCli(list, { env: { ...environment(), ...env } })).screen).not.toContain(ESCAPE);
    }
    expect((await runCli(list, { env: environment() })).stdout).not.toContain(ESCAPE);
    const forced = await runCli(list, { env: { ...environment(), FORCE_COLOR: "1" } });
    expect(forced.stdout).toContain(`${ESCAPE}33mover budget${ESCAPE}0m`);
    const mistyped = await runCli(["keys"], { env: { FORCE_COLOR: "1" } });
    expect(mistyped.stderr).toMatch(
      /^.\[31merror: unknown command 'keys'.*\(--help lists commands and options\)\n$/s,
    );
    // Without `dashboard.base_url` the pages are where the API is.
    const alerts = await callCli(["alerts", "list"], { env: environment() });
    const page = `${admin.url}/organizations/${organization}/keys/${key.id}#limits`;
    expect(alerts.stdout).toContain(`Change the monthly budget of API key "ci": ${page}\n`);
  });
});
