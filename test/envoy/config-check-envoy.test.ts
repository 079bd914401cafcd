/** `config check --envoy`: what is rendered passes, and each lock that somebody takes out is found where it was. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configCheckEnvoy } from "../../src/operation/cli/config-check-envoy.ts";
import { parseConfig } from "../../src/shared/config/load.ts";
import type { Config } from "../../src/shared/config/schema.ts";
import { PROVEN_ENVOYS } from "../../src/shared/contract/proven-versions.ts";
import { renderBootstrap } from "../../src/envoy/bootstrap/render-bootstrap.ts";
import { checkBootstrap } from "../../src/envoy/check-bootstrap/check-bootstrap.ts";
import { byExtent } from "../support/extent.ts";
import { findEnvoy } from "./edge/envoy-binary.ts";
import { EDGE_MUTATIONS } from "./mutations/edge-mutations.ts";
import { FILTER_MUTATIONS } from "./mutations/filter-mutations.ts";
import { type Mutation, mutate } from "./mutations/mutation.ts";

const GATEWAY = `
sidecar: {workers: 2, sockets: run}
upstreams:
  - {name: local, url: "http://127.0.0.1:8000"}
  - {name: hosted, url: "https://models.example.com", credentials: [{env: HOSTED_KEY}, {env: ACCOUNT, header: x-account}]}
  - {name: signed, url: "https://bedrock-runtime.us-west-2.amazonaws.com", aws_signing: {region: us-west-2, service: bedrock}}
catalog:
  - id: acme/echo-small
    upstream: local
    context_window: 128000
    max_output_tokens: 8192
    prices: {USD: {input: "2.50", output: "10.00"}}
`;

let dir: string;
let plainConfig: Config;
let rendered: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "igw-"));
  writeFileSync(join(dir, "gateway.yaml"), GATEWAY);
  mkdirSync(join(dir, "run/secrets"), { recursive: true });
  for (const name of ["hosted", "hosted.x-account"]) {
    writeFileSync(join(dir, `run/secrets/${name}.yaml`), "resources: []\n");
  }
  plainConfig = parseConfig(GATEWAY, { baseDir: dir, source: "gateway.yaml", secrets: "none" });
  rendered = renderBootstrap(plainConfig);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const SIDECAR = "- name: sidecar";
const PLAIN_SIDECAR = "sidecar: {workers: 2, sockets: run}";
const TLS_SIDECAR =
  "sidecar: {workers: 2, sockets: run, tcp: {host: gateway, port: 9000}, tls: {ca_file: ca.pem, server_cert_file: s.crt, server_key_file: s.key, client_cert_file: c.crt, client_key_file: c.key}}";

interface Group {
  readonly name: string;
  readonly rows: readonly Mutation[];
}

/** On each push those of a file: reading it is nearly all that a check takes. At night each has a file of its own. */
function groupMutations(): Group[] {
  const all = [...FILTER_MUTATIONS, ...EDGE_MUTATIONS];
  const count = byExtent({ push: 9, nightly: all.length });
  return Array.from({ length: count }, (_, group) => {
    const rows = all.filter((_row, index) => index % count === group);
    return { name: rows.map(({ check, name }) => `${check}: ${name}`).join(", "), rows };
  });
}

/** What is wrong with what is found: each by itself in the end where one of them hides another. */
function listWrong(rows: readonly Mutation[]): string[] {
  try {
    expectFound(rows);
    return [];
  } catch (error) {
    if (rows.length === 1) return [`${rows[0]?.name}: ${String(error)}`];
    const half = Math.ceil(rows.length / 2);
    return [...listWrong(rows.slice(0, half)), ...listWrong(rows.slice(half))];
  }
}

function expectFound(rows: readonly Mutation[]): void {
  const mutated = rows.reduce((text, { after = "", find, write }) => {
    const next = mutate(text, after, find, write);
    expect(next).not.toBe(text);
    return next;
  }, rendered);
  const findings = checkBootstrap(mutated, plainConfig);
  const found = [...new Set(findings.map((finding) => finding.check))].sort();
  expect(found).toEqual(rows.map(({ check }) => check).sort());
  const lines = mutated.split("\n");
  for (const { check, line } of rows) {
    const finding = findings.find((one) => one.check === check);
    expect(lines[(finding?.line ?? 0) - 1]).toMatch(line);
    expect(finding).toMatchObject({ level: "problem", fix: expect.stringMatching(/\w/) });
  }
}

describe("checkBootstrap", () => {
  it("finds nothing in what is rendered", () => {
    expect(checkBootstrap(rendered, plainConfig)).toEqual([]);
  });

  it.each(groupMutations())("finds $name, on its line", ({ rows }) => {
    expect(listWrong(rows)).toEqual([]);
  });

  it.each([
    ["the transport socket", / {6}transport_socket:\n(?: {8}.*\n)+/],
    ["Envoy's certificate", / {12}tls_certificate_sds_secret_configs:\n(?: {14}.*\n)+/],
    ["the name that is checked", / {14}default_validation_context:\n(?: {16}.*\n)+/],
  ])("finds %s missing where the workers take calls by TLS only", (_name, part) => {
    const config = parseConfig(GATEWAY.replace(PLAIN_SIDECAR, TLS_SIDECAR), {
      baseDir: dir,
      source: "gateway.yaml",
      secrets: "none",
    });
    const text = renderBootstrap(config);
    expect(checkBootstrap(text, config)).toEqual([]);
    const from = text.indexOf(SIDECAR);
    const mutated = text.slice(0, from) + text.slice(from).replace(part, "");
    expect(mutated).not.toBe(text);
    expect(checkBootstrap(mutated, config)).toMatchObject([{ check: "sidecar_tls", level: "problem" }]);
  });

  it("reads Envoy's camel case too", () => {
    const camel = rendered.replace("failure_mode_allow: false", "failureModeAllow: true");
    expect(checkBootstrap(camel, plainConfig)).toMatchObject([{ check: "failure_mode_allow" }]);
  });

  it("takes a limit of requests per connection for the flag", () => {
    const flagless = rendered.replace(
      "envoy.reloadable_features.ext_proc_graceful_grpc_close: true",
      "other: true",
    );
    const text = mutate(
      flagless,
      SIDECAR,
      "explicit_http_config:",
      "common_http_protocol_options: {max_requests_per_connection: 900}\n          explicit_http_config:",
    );
    expect(checkBootstrap(text, plainConfig)).toEqual([]);
  });

  it("finds connections without a limit of calls where the workers take them by Node's HTTP/2", () => {
    const yaml = GATEWAY.replace(PLAIN_SIDECAR, "sidecar: {workers: 2, sockets: run, transport: grpc-js}");
    const config = parseConfig(yaml, { baseDir: dir, source: "gateway.yaml", secrets: "none" });
    expect(checkBootstrap(renderBootstrap(config), config)).toEqual([]);
    expect(checkBootstrap(rendered, config).map(({ check }) => check)).toEqual([
      "sidecar_short_connections",
      "sidecar_short_connections",
    ]);
  });

  it("takes an operator's own names of the sidecar's clusters", () => {
    const text = rendered.replaceAll(/(name: )sidecar(?=-checks|\}|\n)/gu, "$1workers");
    expect(text).toMatch(/cluster_name: workers-checks/u);
    // The reports of ends are recognized by their cluster's name.
    const end = { check: "end_reports", level: "problem" };
    expect(checkBootstrap(text, plainConfig)).toMatchObject([end]);
  });

  it("says what lies elsewhere instead of calling it right", () => {
    const text = `dynamic_resources: {cds_config: {ads: {}}}\n${rendered.replace("- name: local", "- name: other")}`;
    expect(checkBootstrap(text, plainConfig)).toMatchObject([
      { check: "upstream_cluster", level: "unchecked" },
    ]);
  });

  it.each([
    ["no YAML", "a: [", "yaml"],
    ["an empty file", "", "filter_order"],
    ["a list", "- 1", "filter_order"],
  ])("never throws: %s", (_name, text, check) => {
    expect(checkBootstrap(text, plainConfig).map((finding) => finding.check)).toContain(check);
  });
});

describe("config check --envoy", () => {
  async function check(text: string | null, json = false, version = PROVEN_ENVOYS[0] + ".3") {
    const envoyFile = join(dir, "envoy.yaml");
    if (text !== null) writeFileSync(envoyFile, text);
    const out = { stdout: "", stderr: "" };
    const sink = (name: keyof typeof out) => ({ write: (written: string) => void (out[name] += written) });
    const code = await configCheckEnvoy({
      file: join(dir, "gateway.yaml"),
      envoyFile: text === null ? join(dir, "none.yaml") : envoyFile,
      envoy: { path: findEnvoy(), version },
      secrets: "none",
      env: {},
      stdout: sink("stdout"),
      stderr: sink("stderr"),
      json,
    });
    return { code, ...out };
  }

  it("exits with 0 for what is rendered, which Envoy accepts", async () => {
    expect(await check(rendered)).toMatchObject({
      code: 0,
      stderr: "",
      stdout: expect.stringMatching(/Envoy accepts it \(version 1\.39\.3; tested with 1\.39 and 1\.40\)/),
    });
  });

  it("warns about an Envoy that it is not tested with", async () => {
    const { code, stderr } = await check(rendered, false, "1.38.2");
    expect(code).toBe(0);
    expect(stderr).toContain("Envoy 1.38.2 is not one of the versions that this gateway is tested with");
  });

  it("exits with 1 and names line, path and what to write", async () => {
    const { code, stderr } = await check(rendered.replace("normalize_path: true", "normalize_path: false"));
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /1 problem\n {2}line \d+: static_resources\S+normalize_path: .*Write `normalize_path: true`/,
    );
  });

  it("exits with 1 and Envoy's own words when Envoy refuses it", async () => {
    const { code, stderr } = await check(rendered.replace("stat_prefix: gateway", "stat_prefiks: gateway"));
    expect(code).toBe(1);
    expect(stderr).toContain("stat_prefiks");
  });

  it("gives programs one JSON object", async () => {
    const { code, stdout } = await check(
      rendered.replace("merge_slashes: true", "merge_slashes: false"),
      true,
    );
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      findings: [{ check: "merge_slashes", severity: "problem", line: expect.any(Number) }],
      validation: { outcome: "accepted" },
    });
  });

  it("exits with 1 for a file that is not there", async () => {
    expect(await check(null)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("can't be read"),
    });
  });
});
