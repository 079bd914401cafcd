import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { organizationKey } from "../../src/data-path/store/redis/keys.ts";
import {
  type AdminUnderTest,
  createApiKey,
  createOrganization,
  OPERATOR_TOKEN,
  startAdmin,
} from "../admin/admin-fixture.ts";
import { findFreePort } from "../support/free-port.ts";
import { callCli } from "./call-cli.ts";
import { type CliResult } from "./run-cli.ts";

let admin: AdminUnderTest;
let dir = "";
beforeAll(async () => {
  admin = await startAdmin();
  dir = await mkdtemp(join(tmpdir(), "igw-cli-"));
});
afterAll(async () => {
  await admin.stop();
  await rm(dir, { recursive: true, force: true });
});

const environment = (token = OPERATOR_TOKEN) => ({ IGW_ADMIN_URL: admin.url, IGW_ADMIN_TOKEN: token });
const igw = (...args: string[]): Promise<CliResult> => callCli(args, { env: environment() });

describe("a refused or failed command", () => {
  it.each([
    {
      name: "an unknown organization",
      args: ["key", "list", "--org", "Nobody"],
      says: /^Unknown organization "Nobody"\..*org list/,
    },
    {
      name: "no organization among several",
      args: ["key", "list"],
      says: /^There are \d+ organizations\. Pass --org/,
    },
    {
      name: "a value out of range",
      args: ["org", "create", "--name", "A", "--currency", "JPY"],
      says: /`--currency`: JPY/,
    },
    { name: "an unknown id", args: ["org", "show", "org_x"], says: /Unknown organization/ },
  ])("exits 1 and says what is wrong: $name", async ({ args, says }) => {
    await createOrganization(admin);
    const result = await igw(...args);
    expect(result).toMatchObject({ code: 1, stdout: "" });
    expect(result.stderr).toMatch(says);
    expect(result.stderr).not.toContain("    at ");
  });

  it.each([
    { name: "an unknown command", args: ["keys", "list"] },
    { name: "an unknown option", args: ["key", "list", "--organisation", "A"] },
    { name: "a missing option", args: ["key", "create"] },
    { name: "an amount that is none", args: ["org", "set", "A", "--hard-cap", "1,5"] },
    { name: "an amount too large", args: ["org", "set", "A", "--hard-cap", "90000000.01"] },
    { name: "an amount of three decimals", args: ["org", "set", "A", "--hard-cap", "1.005"] },
    { name: "a correction of nothing", args: ["usage", "correct", "--amount", "0.00", "--reason", "x"] },
    { name: "a count that is none", args: ["key", "set", "ci", "--rpm", "many"] },
    { name: "a group without a command", args: ["key"] },
  ])("exits 2 for a command line that nobody can run: $name", async ({ args }) => {
    const result = await igw(...args);
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr).not.toContain("    at ");
  });

  it.each([
    { args: ["key", "create", "--name", "ci", "--rpm", "0"], flag: "--rpm", field: "requests_per_minute" },
    { args: ["org", "set", "--key-rpm", "0"], flag: "--key-rpm", field: "key_defaults" },
  ])("names the option $flag, not the API's field, where the server refuses its value", async (row) => {
    const organization = await createOrganization(admin);
    const { code, stderr } = await igw(
      ...row.args,
      ...(row.args[0] === "org" ? [organization] : ["--org", organization]),
    );
    expect([code, stderr]).toEqual([1, expect.stringContaining(`\`${row.flag}\`: `)]);
    expect(stderr).not.toContain(row.field);
  });

  it("says where it looked when nothing answers", async () => {
    const url = `http://127.0.0.1:${await findFreePort()}`;
    const env = { IGW_ADMIN_URL: url, IGW_ADMIN_TOKEN: "x" };
    const result = await callCli(["org", "list"], { env });
    expect(result.code).toBe(1);
    expect(result.stderr).toContain(`The management API at ${url} can't be reached (ECONNREFUSED)`);
    expect(result.stderr).toContain("IGW_ADMIN_URL");
  });

  it("says how to give a token when there is none or a wrong one", async () => {
    const none = await callCli(["org", "list"], { cwd: dir });
    expect(none).toMatchObject({ code: 1 });
    expect(none.stderr).toContain("IGW_ADMIN_TOKEN");
    const wrong = await callCli(["org", "list"], { env: environment("wrong") });
    expect(wrong).toMatchObject({ code: 1 });
    expect(wrong.stderr).toContain("IGW_ADMIN_TOKEN");
  });
});

describe("what more than one fits", () => {
  it("is told with the whole ids: a name", async () => {
    const organization = await createOrganization(admin);
    const keys = [await createApiKey(admin, organization), await createApiKey(admin, organization)];
    const result = await igw("key", "show", "ci", "--org", organization);
    expect(result).toMatchObject({ code: 1, stdout: "" });
    expect(result.stderr).toContain('"ci" matches 2 keys. Pass the full id of one: ');
    for (const { id } of keys) expect(result.stderr).toContain(id);
  });

  it("is told with the whole ids: a name that two organizations have from before that was refused", async () => {
    const ids = [await createOrganization(admin), await createOrganization(admin)];
    for (const id of ids) await admin.client.hset(organizationKey(id), "name", "Doubled");
    const result = await igw("org", "show", "Doubled");
    expect(result).toMatchObject({ code: 1, stdout: "" });
    expect(result.stderr).toContain(
      `"Doubled" matches 2 organizations. Pass the full id of one: ${ids.join(", ")}.`,
    );
    expect((await igw("org", "set", ids[0] ?? "", "--name", "Doubled-no-more")).code).toBe(0);
    expect((await igw("org", "show", "Doubled")).stdout).toContain(ids[1]);
  });

  it("is told with the whole ids: a short id", async () => {
    const ids = ["a", "b"].map((digit) => `org_01934f6e-7d3a-7c1e-9a40-${digit}f0c2b8d6e11`);
    const page = { data: ids.map((id) => ({ id, name: "x" })), has_more: false, next: null };
    const server = createServer((_request, response) => response.end(JSON.stringify(page)));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const env = { IGW_ADMIN_URL: `http://127.0.0.1:${port}`, IGW_ADMIN_TOKEN: "any" };
    const result = await callCli(["org", "show", "org_…2b8d6e11"], { env });
    server.close();
    expect(result).toMatchObject({ code: 1, stdout: "" });
    expect(result.stderr).toContain(
      `"org_…2b8d6e11" matches 2 organizations. Pass the full id of one: ${ids.join(", ")}.`,
    );
  });
});

describe("a hostile server", () => {
  const HOSTILE = "a\u009b2J\u202eb\u2028c\nd\u001b[8m";

  it.each([
    {
      name: "names",
      status: 200,
      body: { data: [{ id: "org_1", name: HOSTILE }], has_more: false, next: null },
    },
    { name: "errors", status: 400, body: { error: { message: HOSTILE } } },
  ])("gets nothing of its $name obeyed by the terminal, as text or as JSON", async ({ status, body }) => {
    const server = createServer((_request, response) => response.writeHead(status).end(JSON.stringify(body)));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const env = { IGW_ADMIN_URL: `http://127.0.0.1:${port}`, IGW_ADMIN_TOKEN: "any" };
    // In JSON a line break is told as one.
    for (const { more, shown } of [
      { more: [], shown: "c\ufffdd" },
      { more: ["--json"], shown: "" },
    ]) {
      const { stdout, stderr } = await callCli(["org", "list", ...more], { env });
      expect(`${stdout}${stderr}`).not.toMatch(/[^\n\x20-\x7e\ufffd]/);
      expect(`${stdout}${stderr}`).toContain(shown);
    }
    server.close();
  });
});

describe("the connection", () => {
  it("is read from a configuration and its data folder", async () => {
    const config = join(dir, "gateway.yaml");
    const port = new URL(admin.url).port;
    await writeFile(
      config,
      [
        `admin: {host: 0.0.0.0, port: ${port}, allow_plain_http: true}`,
        "data_dir: kept",
        'upstreams: [{name: local, url: "http://127.0.0.1:8000"}]',
        "catalog:",
        "  - {id: a/b, upstream: local, context_window: 9, max_output_tokens: 9, prices: {USD: {input: '1', output: '1'}}}",
      ].join("\n"),
    );
    const before = await callCli(["org", "list", "--config", config]);
    expect(before).toMatchObject({ code: 1 });
    expect(before.stderr).toContain("Start the gateway first");
    await mkdir(join(dir, "kept"));
    await writeFile(join(dir, "kept", "operator-token"), `${OPERATOR_TOKEN}\n`);
    expect((await callCli(["org", "list", "--config", config])).code).toBe(0);
    await mkdir(join(dir, "data"));
    await writeFile(
      join(dir, "data", "gateway.yaml"),
      (await readFile(config, "utf8")).replace("kept", "../kept"),
    );
    expect((await callCli(["org", "list"], { cwd: dir })).code).toBe(0);
    const elsewhere = await callCli(["org", "list", "--admin-url", admin.url], { cwd: dir });
    expect(elsewhere).toMatchObject({ code: 1 });
    expect(elsewhere.stderr).toContain("--admin-url needs a token");
  });

  it("takes a token from a file", async () => {
    const file = join(dir, "token");
    await writeFile(file, `${OPERATOR_TOKEN}\n`);
    const env = { IGW_ADMIN_URL: admin.url, IGW_ADMIN_TOKEN_FILE: file };
    expect((await callCli(["org", "list"], { env })).code).toBe(0);
  });
});

describe("--help", () => {
  it.each([
    ["login"],
    ["logout"],
    ["whoami"],
    ["org create"],
    ["org list"],
    ["org show"],
    ["org set"],
    ["org suspend"],
    ["org resume"],
    ["org delete"],
    ["key create"],
    ["key list"],
    ["key show"],
    ["key set"],
    ["key rotate"],
    ["key disable"],
    ["key enable"],
    ["key delete"],
    ["key revoke-all"],
    ["usage show"],
    ["usage export"],
    ["usage correct"],
    ["requests list"],
    ["requests show"],
    ["token create"],
    ["token list"],
    ["token delete"],
    ["webhook list"],
    ["webhook add"],
    ["webhook set"],
    ["webhook remove"],
    ["webhook test"],
    ["webhook rotate-secret"],
    ["audit"],
    ["catalog"],
  ])("of `%s` has an example of it and needs no gateway", async (command) => {
    const result = await callCli([...command.split(" "), "--help"]);
    expect(result.code).toBe(0);
    expect(result.stdout).toContain(`Examples:\n  inference-gateway ${command}`);
  });
});
