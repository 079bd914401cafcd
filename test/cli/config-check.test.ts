/** `config check` and `up` as a person at a shell runs them, with an environment that names the wrong programs. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findFreePort } from "../support/free-port.ts";
import { catalogEntry } from "../support/gateway-config.ts";
import { callCli } from "./call-cli.ts";
import { runCli } from "./run-cli.ts";

let dir: string;
let gateway: string;
let bootstrap: string;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "igw-"));
  gateway = join(dir, "gateway.yaml");
  bootstrap = join(dir, "envoy.yaml");
  const config = {
    listen: { port: await findFreePort() },
    admin: { port: await findFreePort() },
    upstreams: [{ name: "local", url: "http://127.0.0.1:8000" }],
    catalog: [catalogEntry()],
  };
  writeFileSync(gateway, stringify(config));
  mkdirSync(join(dir, "run"));
  const rendered = await callCli(["envoy", "render", "--config", gateway, "--out", bootstrap]);
  if (rendered.code !== 0) throw new Error(`no bootstrap was rendered: ${rendered.stderr}`);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const check = (env: Record<string, string>) =>
  callCli(["config", "check", "--config", gateway, "--envoy", bootstrap], { env });

describe("config check --envoy", () => {
  it("has the Envoy that it finds accept what is rendered", async () => {
    const result = await check({});
    expect(result).toMatchObject({ code: 0, stdout: expect.stringContaining("Envoy accepts it") as string });
  });

  it("says that there is no Envoy where ENVOY_BIN, PATH and the set-up have none, or validates with the set-up's", async () => {
    const { code, stdout } = await check({ ENVOY_BIN: "", PATH: "/nowhere" });
    expect([code, /Envoy accepts it|not validated by Envoy/.test(stdout)]).toEqual([0, true]);
  });
});

describe("config check of listen.tls", () => {
  it("names a certificate that isn't there", async () => {
    const file = join(dir, "tls.yaml");
    const tls = { cert_file: "nope.crt", key_file: "nope.key" };
    const upstreams = [{ name: "local", url: "http://127.0.0.1:8000" }];
    writeFileSync(file, stringify({ listen: { tls }, upstreams, catalog: [catalogEntry()] }));
    const { code, stderr } = await callCli(["config", "check", "--config", file]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/`listen\.tls` can't be read: .*nope\.crt/);
  });
});

describe("config check of a LiteLLM configuration", () => {
  it("says what each part is here, and where what is not in the file is set, with its place in the file", async () => {
    const file = join(dir, "litellm.yaml");
    const litellm_params = { model: "azure/gpt-4o", api_base: "https://acme.openai.azure.com", tpm: 1_000 };
    const model_info = { max_input_tokens: 128_000, max_output_tokens: 16_384 };
    const entry = { model_name: "gpt", litellm_params, model_info };
    const settings = { max_budget: 10, default_team_settings: [{ team_id: "a" }] };
    writeFileSync(file, stringify({ model_list: [entry], litellm_settings: settings }));
    const { code, stderr } = await callCli(["config", "check", "--config", file]);
    expect(code).not.toBe(0);
    for (const text of [
      'url: "https://acme.openai.azure.com", path_prefix: "/openai/v1"',
      "context_window: 128000, max_output_tokens: 16384",
      "model_list[0].litellm_params.tpm: tokens per minute are a limit of an API key",
      "litellm_settings.max_budget: amounts are not set in this file",
      "litellm_settings.default_team_settings: a team is a group of users and API keys",
    ]) {
      expect(stderr.replaceAll(/\s+/g, " ")).toContain(text);
    }
  });
});

describe("a credential that is not there", () => {
  const COMMANDS = ["envoy render --write-secrets", "envoy secrets", "config check"];
  const CREDENTIALS = [
    {
      what: "variable",
      credential: { env: "NOT_SET" },
      message: "environment variable `NOT_SET` is not set",
    },
    { what: "file", credential: { file: "/nowhere/key" }, message: "/nowhere/key" },
  ];
  const ROWS = COMMANDS.flatMap((command) => CREDENTIALS.map((row) => ({ command, ...row })));
  const write = (credential: object): string => {
    const file = join(dir, "credential.yaml");
    const upstreams = [{ name: "local", url: "http://127.0.0.1:8000", credential }];
    writeFileSync(file, stringify({ upstreams, catalog: [catalogEntry()] }));
    return file;
  };

  it.each(ROWS)("is told by `$command` in a sentence with its place ($what)", async (row) => {
    const result = await callCli([...row.command.split(" "), "--config", write(row.credential)]);
    expect(result.code).toBe(1);
    expect(result.stderr).toMatch(/line \d+: upstreams\[0\]\.credential: /);
    expect(result.stderr).toContain(row.message);
    expect(result.stderr).not.toMatch(/^\s+at /m);
  });

  it("is no problem for `envoy render`, and for `config check --without-secrets` in a pipeline", async () => {
    const file = write({ env: "NOT_SET" });
    expect((await callCli(["envoy", "render", "--config", file])).code).toBe(0);
    expect((await callCli(["config", "check", "--without-secrets", "--config", file])).code).toBe(0);
  });
});

describe.each([
  { command: "config check", variable: "ENVOY_BIN", run: check },
  {
    command: "up",
    variable: "ENVOY_BIN",
    run: (env: Record<string, string>) => runCli(["up", "--config", gateway], { env }),
  },
  {
    command: "up",
    variable: "REDIS_SERVER_BIN",
    run: (env: Record<string, string>) => runCli(["up", "--config", gateway], { env }),
  },
])("$command with a wrong $variable", ({ variable, run }) => {
  it.each([
    ["does not exist", "/nowhere/program"],
    ["does not exist", "/etc/passwd/program"],
    ["is a directory, not a program", "/tmp"],
    ["isn't executable for this user", "/etc/passwd"],
    ["that runs", "/bin/true"],
  ])("says in one sentence that it %s (%s)", async (said, path) => {
    const result = await run({ [variable]: path });
    const lines = result.stderr.trimEnd().split("\n");
    expect(lines.at(-1)).toMatch(
      new RegExp(`^${variable} \\(${path}\\) .*${said}: correct or unset it\\.$`, "u"),
    );
    expect(result.code).toBe(1);
    expect(result.stderr).not.toMatch(/^\s+at /mu);
    expect(lines).toHaveLength(1);
  });
});

describe("up with a credential that is not there", () => {
  it("says which variable, and starts nothing", async () => {
    const file = join(dir, "credential.yaml");
    const upstreams = [
      { name: "hosted", url: "http://127.0.0.1:8000", credential: { env: "IGW_TEST_ABSENT" } },
    ];
    writeFileSync(file, stringify({ upstreams, catalog: [catalogEntry({ upstream: "hosted" })] }));
    const { code, stdout, stderr } = await runCli(["up", "--config", file]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(
      /^.*credential\.yaml: 1 problem\n {2}line \d+: upstreams\[0\]\.credential: .*`IGW_TEST_ABSENT` is not set or empty\n$/u,
    );
  });
});
