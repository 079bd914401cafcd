/** What the doctor says as a whole; each finding by itself is in doctor-findings.test.ts. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { parse, stringify } from "yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkFilters } from "../../src/operation/doctor/check-envoy.ts";
import type { DoctorFinding } from "../../src/operation/doctor/finding.ts";
import { catalogEntry } from "../support/gateway-config.ts";
import { type ScriptedUpstream, startUpstream } from "../support/upstream.ts";
import { waitFor } from "../support/wait.ts";
import { withStack } from "../support/with-stack.ts";
import { createDoctorWorld, type DoctorWorld, type Report } from "./doctor/provocation.ts";
import { callCli } from "./call-cli.ts";

/** A gateway that has never run. */
const NOWHERE = {
  upstreams: [{ name: "local", url: "http://127.0.0.1:2" }],
  catalog: [catalogEntry()],
};

let world: DoctorWorld;
beforeAll(async () => {
  world = await createDoctorWorld();
});
afterAll(() => world.close());

function findingOf({ findings }: Report, check: string): DoctorFinding {
  const found = findings.find((finding) => finding.check === check);
  if (found === undefined) {
    throw new Error(`no finding ${check} among ${findings.map((one) => one.check).join(", ")}`);
  }
  return found;
}

describe("inference-gateway doctor, where nothing runs", () => {
  it("names worker, Envoy and upstream that do not answer, with what to do", async () => {
    const report = await world.examine();
    expect(report.isSound).toBe(false);
    expect(findingOf(report, "worker.0")).toMatchObject({ level: "problem" });
    expect(findingOf(report, "envoy.reachable")).toMatchObject({ level: "problem" });
    const upstream = findingOf(report, "upstream.local");
    expect(upstream.level).toBe("problem");
    expect(upstream.message).toContain(`http://127.0.0.1:${world.closedPort}`);
    const untold = report.findings.filter(
      ({ code: found, fix }) => found !== null && (fix ?? "").length < 20,
    );
    expect(untold).toEqual([]);
  });

  it("says first that no gateway runs, before what follows from that", async () => {
    const { findings } = await world.examine();
    const problems = findings.filter(({ level }) => level === "problem").map(({ code }) => code);
    expect(problems[0]).toBe("gateway_not_running");
    expect(problems).toContain("worker_silent");
    const folder = await world.createFolder();
    writeFileSync(join(folder, "gateway.yaml"), stringify(NOWHERE));
    const { code, stdout } = await callCli(["doctor"], { cwd: folder });
    expect([code, stdout.split("\n")[0]]).toEqual([
      1,
      expect.stringMatching(/^PROBLEM {2}gateway: No gateway runs with this configuration/),
    ]);
  });

  it("finds a sound Redis in order: reachable, persistent, without eviction, fast, with the right time", async () => {
    // On a machine that others use, too, Redis may be slow for a moment.
    const report = await waitFor("a quick Redis", async () => {
      const examined = await world.examine();
      return findingOf(examined, "redis.latency").level === "ok" && examined;
    });
    for (const part of ["version", "persistence"]) {
      expect(findingOf(report, `redis.${part}`)).toMatchObject({ level: "ok" });
    }
    expect(findingOf(report, "redis.eviction").level).toBe("ok");
    expect(findingOf(report, "clock").level).toBe("ok");
  });

  it("tells every mistake of the configuration, and looks at nothing then", async () => {
    const report = await world.examine({ limits: { max_body_bytes: 1 }, retention: { usage_months: 0 } });
    expect(report.isSound).toBe(false);
    expect(report.findings.map(({ check }) => check)).toEqual(["configuration", "configuration"]);
  });
});

describe("inference-gateway doctor, beside a running gateway", () => {
  let upstream: ScriptedUpstream;
  const stack = withStack(async () => {
    upstream = await startUpstream();
    return {
      upstreams: [{ name: "local", url: upstream.url }],
      overrides: { notifications: { webhooks: { allow_private_networks: true } } },
    };
  });
  afterAll(async () => upstream.close());

  it("exits with 1 when there is a problem, and has the form that docs/operate.md promises programs", async () => {
    const { configFile, dir } = stack();
    const config: object = parse(readFileSync(configFile, "utf8"));
    const file = join(dir, "wrong.yaml");
    writeFileSync(file, stringify({ ...config, retention: { usage_months: 0 } }));
    const result = await callCli(["doctor", "--config", file, "--json"]);
    expect(result.code).toBe(1);
    expect(result.json()).toEqual({
      ok: false,
      findings: [
        {
          check: "configuration",
          level: "problem",
          code: "configuration_invalid",
          what: expect.stringContaining("retention.usage_months") as string,
          since: null,
          todo: expect.stringContaining("Correct") as string,
        },
      ],
    });
    expect(await callCli(["doctor", "--config", file])).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /^PROBLEM {2}configuration: .*\n {9}→ Correct .*\n\n1 problem, /u,
      ) as string,
    });
  });

  it("finds no problem, exits with 0, and says so to a person, in the colours of the other commands", async () => {
    const env = { FORCE_COLOR: "1" };
    const result = await callCli(["doctor", "--config", stack().configFile], { env });
    expect(result.stdout).toContain("\u001b[32mok     \u001b[0m  configuration: ");
    expect(result.stdout).not.toContain("No gateway runs");
    expect(stripVTControlCharacters(result.stdout)).toMatch(
      /^0 problems, \d+ warnings?, \d+ in order, \d+ skipped$/m,
    );
    expect(result.code).toBe(0);
  });

  it.each([
    { name: "the right addresses", isSwapped: false, levels: ["ok", "ok"] },
    {
      name: "the API's address and the dashboard's swapped",
      isSwapped: true,
      levels: ["problem", "problem"],
    },
  ])("tells what $name lead to", async ({ isSwapped, levels }) => {
    const { configFile, baseUrl, adminUrl, dir } = stack();
    const [api, pages] = isSwapped ? [adminUrl, baseUrl] : [baseUrl, adminUrl];
    const config: object = parse(readFileSync(configFile, "utf8"));
    const file = join(dir, "addresses.yaml");
    writeFileSync(file, stringify({ ...config, public_base_url: api, dashboard: { base_url: pages } }));
    const report = await world.examineFile(file);
    const checks = ["public_base_url", "dashboard.base_url"];
    expect(checks.map((check) => findingOf(report, check).level)).toEqual(levels);
  });
});

describe("the check of Envoy's filters", () => {
  const dump = (...filters: object[]) => ({
    configs: [
      {
        typed_config: {
          "@type":
            "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
          http_filters: filters,
        },
      },
    ],
  });
  const authz = (fields: object = {}) => ({
    typed_config: {
      "@type": "type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthz",
      ...fields,
    },
  });
  const proc = (fields: object = {}) => ({
    typed_config: {
      "@type": "type.googleapis.com/envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor",
      ...fields,
    },
  });

  it.each([
    { name: "in order", dump: dump(authz(), proc()), expected: [/in order/] },
    { name: "reversed", dump: dump(proc(), authz()), expected: [/before ext_authz/] },
    { name: "without ext_authz", dump: dump(proc()), expected: [/ext_authz is missing/] },
    {
      name: "open when it fails",
      dump: dump(authz({ failure_mode_allow: true }), proc()),
      expected: [/fails/],
    },
    {
      name: "disabled",
      dump: dump(authz(), { ...proc(), disabled: true }),
      expected: [/ext_proc is disabled/],
    },
    { name: "no listener", dump: {}, expected: [/no HTTP listener/] },
  ])("tells of a chain that is $name", ({ dump: given, expected }) => {
    expect(checkFilters(given).map(({ message }) => message)).toEqual(
      expected.map((form) => expect.stringMatching(form) as string),
    );
  });
});
