import { chmod, mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkFilters } from "../../src/doctor/check-envoy.ts";
import type { Finding } from "../../src/doctor/finding.ts";
import { createRedisClient, waitUntilReady } from "../../src/store/client.ts";
import { findFreePort } from "../support/free-port.ts";
import { catalogEntry, mergeConfig } from "../support/gateway-config.ts";
import { type PrivateRedis, startRedis } from "../support/redis.ts";
import { withStack } from "../support/with-stack.ts";
import { type ScriptedUpstream, startUpstream } from "../support/upstream.ts";
import { type CliResult, runCli } from "./run-cli.ts";

let dir = "";
let redis: PrivateRedis;
let closedPort = 0;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "igw-doc-"));
  redis = await startRedis({ appendOnly: true });
  closedPort = await findFreePort();
});
afterAll(async () => {
  await redis.stop();
  await rm(dir, { recursive: true, force: true });
});

interface Report {
  readonly code: number | null;
  readonly findings: readonly Finding[];
  readonly result: CliResult;
}

let made = 0;
/** Runs the doctor on a configuration in a folder of its own; nothing of a gateway runs there. */
async function examine(overrides: object = {}, prepare?: (folder: string) => Promise<void>): Promise<Report> {
  made += 1;
  const folder = join(dir, String(made));
  await mkdir(folder);
  const base = {
    sidecar: { workers: 1, sockets: "run/" },
    redis: { url: redis.url },
    upstreams: [{ name: "local", url: `http://127.0.0.1:${closedPort}` }],
    catalog: [catalogEntry()],
  };
  const file = join(folder, "gateway.yaml");
  await writeFile(file, stringify(mergeConfig(base, overrides)));
  await prepare?.(folder);
  const result = await runCli(["doctor", "--config", file, "--json"], { env: { T_SECRET: "s3cret-value" } });
  return { code: result.code, findings: result.json()["findings"] as Finding[], result };
}

function findingOf({ findings }: Report, check: string): Finding {
  const found = findings.find((finding) => finding.check === check);
  if (found === undefined) {
    throw new Error(`no finding ${check} among ${findings.map((one) => one.check).join(", ")}`);
  }
  return found;
}

describe("inference-gateway doctor, where nothing runs", () => {
  it("names worker, Envoy and upstream that do not answer, with what to do, and exits with 1", async () => {
    const report = await examine();
    expect(report.code).toBe(1);
    expect(findingOf(report, "worker.0")).toMatchObject({ level: "problem" });
    expect(findingOf(report, "envoy.reachable")).toMatchObject({ level: "problem" });
    const upstream = findingOf(report, "upstream.local");
    expect(upstream.level).toBe("problem");
    expect(upstream.what).toContain(`http://127.0.0.1:${closedPort}`);
    const untold = report.findings.filter(({ level, todo }) => level !== "ok" && (todo ?? "").length < 20);
    expect(untold).toEqual([]);
  });

  it("finds a sound Redis in order: reachable, persistent, without eviction, fast, with the right time", async () => {
    const report = await examine();
    for (const part of ["version", "persistence", "latency"]) {
      expect(findingOf(report, `redis.${part}`)).toMatchObject({ level: "ok" });
    }
    expect(findingOf(report, "redis.eviction").level).toBe("ok");
    expect(findingOf(report, "clock").level).toBe("ok");
  });

  it("names a Redis that is not there", async () => {
    const report = await examine({ redis: { url: `redis://127.0.0.1:${closedPort}` } });
    expect(findingOf(report, "redis.reachable").what).toContain(String(closedPort));
  });

  it("names an append-only file that is off, since when, and an eviction policy that loses spend", async () => {
    const client = createRedisClient({ url: redis.url, onError: () => undefined });
    await waitUntilReady(client, 5_000);
    await client.config("SET", "appendonly", "no");
    await client.config("SET", "maxmemory-policy", "allkeys-lru");
    try {
      const report = await examine();
      const persistence = findingOf(report, "redis.persistence");
      expect(persistence.level).toBe("problem");
      expect(Date.parse(String(persistence.since))).toBeLessThanOrEqual(Date.now());
      expect(findingOf(report, "redis.eviction")).toMatchObject({ level: "problem" });
      expect(findingOf(report, "redis.eviction").what).toContain("allkeys-lru");
    } finally {
      await client.config("SET", "appendonly", "yes");
      await client.config("SET", "maxmemory-policy", "noeviction");
      client.disconnect();
    }
  });

  it("tells every mistake of the configuration, and looks at nothing then", async () => {
    const report = await examine({ limits: { max_body_bytes: 1 }, retention: { usage_months: 0 } });
    expect(report.code).toBe(1);
    expect(report.findings.map(({ check }) => check)).toEqual(["configuration", "configuration"]);
  });

  it("names folders that others can open, an operator token that others can read, waiting and reported charges", async () => {
    const report = await examine({}, async (folder) => {
      await mkdir(join(folder, "run"));
      await chmod(join(folder, "run"), 0o777);
      await mkdir(join(folder, "data/spool"), { recursive: true });
      await writeFile(join(folder, "data/operator-token"), "igw_op_x");
      await chmod(join(folder, "data/operator-token"), 0o644);
      const waiting = join(folder, "data/spool/worker-0.1.000000.spool");
      await writeFile(waiting, "x\n");
      await utimes(waiting, 1_700_000_000, 1_700_000_000);
      await writeFile(join(folder, "data/spool/reported.jsonl"), "{}\n");
      await writeFile(join(folder, "run/gateway-0.sock"), "");
    });
    expect(findingOf(report, "sockets")).toMatchObject({ level: "warning" });
    expect(findingOf(report, "operator_token")).toMatchObject({ level: "problem" });
    expect(findingOf(report, "spool.pending")).toMatchObject({ since: "2023-11-14T22:13:20.000Z" });
    expect(findingOf(report, "spool.reported")).toMatchObject({ level: "problem" });
    expect(findingOf(report, "worker.0").what).toContain("is no socket");
  });

  it("names a spool that cannot be made and one that has less room than it may take", async () => {
    const occupied = await examine({ settlement: { spool: "taken" } }, (folder) =>
      writeFile(join(folder, "taken"), ""),
    );
    expect(findingOf(occupied, "spool.folder")).toMatchObject({ level: "problem" });
    const large = await examine({ settlement: { spool_max_bytes: 1024 ** 4 } });
    expect(findingOf(large, "spool.space")).toMatchObject({ level: "warning" });
  });

  it("names a mail server that is not there, without its password", async () => {
    const smtp = { url: `smtp://127.0.0.1:${closedPort}`, username: "u", password: { env: "T_SECRET" } };
    const report = await examine({ notifications: { smtp: { ...smtp, from: "a@example.com" } } });
    expect(findingOf(report, "smtp")).toMatchObject({ level: "problem" });
    expect(findingOf(report, "public_base_url")).toMatchObject({ level: "warning" });
    expect(report.result.stdout + report.result.stderr).not.toContain("s3cret-value");
  });

  it("names a public address that leads elsewhere, and one without TLS", async () => {
    const server = createServer((_request, response) => response.writeHead(404).end());
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const wrong = await examine({ public_base_url: `http://127.0.0.1:${port}` });
    server.close();
    expect(findingOf(wrong, "public_base_url").what).toContain("404");
    const open = await examine({ public_base_url: "http://gateway.example.com" });
    expect(findingOf(open, "public_base_url")).toMatchObject({ level: "warning" });
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

  it("finds no problem, exits with 0, and says so to a person", async () => {
    const result = await runCli(["doctor", "--config", stack().configFile]);
    expect(result.stdout).toMatch(/^0 problems, \d+ warnings?, \d+ in order$/m);
    expect(result.code).toBe(0);
  });

  it("names a webhook host that cannot be reached", async () => {
    const { organizationId } = await stack().createKey();
    await stack().admin("PATCH", `/api/organizations/${organizationId}`, {
      notifications: { webhook: { url: `https://127.0.0.1:${closedPort}/hook` } },
    });
    const result = await runCli(["doctor", "--config", stack().configFile, "--json"]);
    const findings = result.json()["findings"] as Finding[];
    expect(findings.filter(({ check }) => check === "webhooks")).toMatchObject([{ level: "warning" }]);
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
    expect(checkFilters(given).map(({ what }) => what)).toEqual(
      expected.map((form) => expect.stringMatching(form) as string),
    );
  });
});
