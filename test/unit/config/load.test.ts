import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";

import { describe, expect, it } from "vitest";

import { ConfigError } from "../../../src/shared/config/config-error.ts";
import { loadConfig, parseConfig, type ParseOptions } from "../../../src/shared/config/load.ts";
import type { Config } from "../../../src/shared/config/schema.ts";
import { REASONING_EFFORTS } from "../../../src/shared/contract/model-profile.ts";

const good = readFileSync(new URL("../../fixtures/config/good.yaml", import.meta.url), "utf8");

function parse(text: string, options: Partial<ParseOptions> = {}): Config {
  return parseConfig(text, { baseDir: "/etc/gateway", env: {}, ...options });
}

function problemsOf(text: string, options: Partial<ParseOptions> = {}): string[] {
  try {
    parse(text, options);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ path, message }) => `${path}: ${message}`);
    throw error;
  }
}

function isDeepFrozen(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isDeepFrozen);
}

describe("parseConfig", () => {
  it("needs upstreams and catalog only, and fills in every default", () => {
    const { upstreams: _, catalog: __, ...rest } = parse(good);
    expect(rest).toEqual({
      listen: { host: "127.0.0.1", port: 10_000, tls: null },
      admin: {
        host: "127.0.0.1",
        port: 10_001,
        healthPort: null,
        operatorToken: null,
        tls: null,
        allowPlainHttp: false,
      },
      sidecar: { workers: "auto", sockets: "/etc/gateway/run", tcp: null, tls: null, transport: "wire" },
      dataDir: "/etc/gateway/data",
      redis: null,
      limits: { maxBodyBytes: 33_554_432, maxBufferedBytes: 268_435_456 },
      settlement: { graceSeconds: 60, spool: "/etc/gateway/data/spool", spoolMaxBytes: 1_073_741_824 },
      retention: {
        usageMonths: 13,
        requestLogDays: 400,
        requestLogMaxBytes: null,
        requestLogProtectedMonths: 2,
      },
      jwt: { providers: [] },
      publicBaseUrl: null,
      documentationUrl: null,
      dashboard: { baseUrl: null, contact: null, tokenSignIn: true, oidc: [] },
      notifications: {
        smtp: null,
        emails: { maxPerHour: 20, allowedDomains: null },
        webhooks: { allowPrivateNetworks: false },
      },
      telemetry: { logLevel: "info", metricsToken: null, otlp: null },
    });
  });

  it("gives upstreams as endpoints with host, port and TLS", () => {
    const text = good.replace(
      'url: "http://127.0.0.1:8000"',
      'urls: ["https://a.example.com", "https://[::1]:8443/"]',
    );
    expect(parse(text).upstreams).toEqual([
      {
        name: "local",
        pathPrefix: "/v1",
        protocols: ["chat"],
        credentials: [],
        awsSigning: null,
        server: null,
        connectionReuse: true,
        forwardHeaders: [],
        healthCheck: null,
        slowStartSeconds: null,
        endpointPicker: null,
        tls: null,
        connectTimeoutSeconds: 5,
        endpoints: [
          { host: "a.example.com", port: 443, usesTls: true, weight: 1, priority: 0 },
          { host: "::1", port: 8443, usesTls: true, weight: 1, priority: 0 },
        ],
      },
    ]);
  });

  it("gives the headers that reach an upstream in lower case", () => {
    const text = good.replace("catalog:", "    forward_headers: [X-Session, openai-beta]\ncatalog:");
    expect(parse(text).upstreams[0]?.forwardHeaders).toEqual(["x-session", "openai-beta"]);
  });

  it.each([
    ["Authorization", "is a header from clients for this gateway; it never reaches an upstream"],
    ["x-tags", "is a header from clients for this gateway"],
    ["Host", "belongs to the connection, the request or the gateway"],
    ["x-igw-upstream", "belongs to the connection, the request or the gateway"],
    ['":path"', "expected the name of a header: letters, digits and `-`"],
    ['"x a"', "expected the name of a header: letters, digits and `-`"],
  ])("lets no operator list %s among them", (name, says) => {
    const text = good.replace("catalog:", `    forward_headers: [${name}]\ncatalog:`);
    expect(problemsOf(text).join()).toContain(says);
  });

  it.each([
    { written: "{env: KEY}", header: "authorization", prefix: "Bearer " },
    { written: '{env: KEY, prefix: ""}', header: "authorization", prefix: "" },
    { written: "{env: KEY, header: Api-Key}", header: "api-key", prefix: "" },
    { written: '{env: KEY, header: x-token, prefix: "Token "}', header: "x-token", prefix: "Token " },
  ])("reads the credential $written as `$header: $prefix…`", ({ written, header, prefix }) => {
    const env = { KEY: "secret" };
    const single = good.replace("catalog:", `    credential: ${written}\ncatalog:`);
    const several = good.replace("catalog:", `    credentials: [${written}]\ncatalog:`);
    for (const text of [single, several]) {
      const [credential] = parse(text, { env }).upstreams[0]!.credentials;
      expect(credential).toMatchObject({ header, prefix });
      expect(credential?.secret.reveal()).toBe("secret");
    }
  });

  it("misses the secrets of several credentials one by one", () => {
    const written = '[{env: KEY, header: api-key}, {env: OTHER, header: x-account, prefix: ""}]';
    const text = good.replace("catalog:", `    credentials: ${written}\ncatalog:`);
    expect(problemsOf(text)).toEqual([
      "upstreams[0].credentials[0]: environment variable `KEY` is not set or empty",
      "upstreams[0].credentials[1]: environment variable `OTHER` is not set or empty",
    ]);
  });

  it("gives models the defaults that depend on their other fields", () => {
    const text = good
      .replace("    upstream_model: echo\n", "    capabilities: [vision]\n    prompt_overhead_tokens: 600\n")
      .replace('cached_input: "0.25", ', "");
    const [model] = parse(text).catalog;
    expect(model).toMatchObject({
      displayName: "acme/echo-small",
      upstreamModel: "acme/echo-small",
      promptOverheadTokens: 600,
      promptOverheadTokensWithTools: 600,
      prices: { USD: [{ from: null, input: "2.50", output: "10.00", tiers: [], serviceTiers: [] }] },
    });
    expect(model?.profile).toEqual({
      maxTokensField: null,
      passthroughFields: [],
      reasoningEfforts: [],
      reasoningHistory: "reasoning_content",
      thinkTags: "none",
      topK: "forward",
      images: true,
      files: true,
      maxStop: null,
      toolNameMax: null,
      systemMid: "fold",
      prefill: "plain",
      continuousUsage: false,
      streamOptions: "forward",
      userField: "user",
    });
  });

  it("lets efforts be sent to a model that reasons", () => {
    const text = good.replace("    prices:", "    capabilities: [reasoning]\n    prices:");
    expect(parse(text).catalog[0]?.profile.reasoningEfforts).toEqual(REASONING_EFFORTS);
  });

  it("lets a profile contradict the capabilities, and keeps efforts in ascending order", () => {
    const profile = "    profile: {images: true, reasoning_efforts: [high, low], user_field: none}\n";
    const [model] = parse(good.replace("    prices:", `${profile}    prices:`)).catalog;
    expect(model?.profile).toMatchObject({
      images: true,
      files: false,
      reasoningEfforts: ["low", "high"],
      userField: null,
    });
  });

  it.each([
    { name: "one server", yaml: '{url: "rediss://r:6380/1"}', mode: "single", urls: ["rediss://r:6380/1"] },
    {
      name: "a socket",
      yaml: '{url: "unix:///run/redis.sock"}',
      mode: "single",
      urls: ["unix:///run/redis.sock"],
    },
    {
      name: "a cluster",
      yaml: '{cluster: ["redis://a", "redis://b"]}',
      mode: "cluster",
      urls: ["redis://a", "redis://b"],
    },
    {
      name: "sentinels",
      yaml: '{sentinels: ["redis://s"], name: main}',
      mode: "sentinel",
      urls: ["redis://s"],
    },
  ])("gives Redis as $name by mode and urls", ({ yaml, mode, urls }) => {
    expect(parse(`${good}redis: ${yaml}\n`).redis).toMatchObject({ mode, urls });
  });

  it("resolves relative paths against the file's folder", () => {
    const text = `${good}sidecar: {sockets: ../sockets}\nsettlement: {spool: spool}\ndata_dir: data\n`;
    const { sidecar, settlement, dataDir } = parse(text);
    expect([sidecar.sockets, settlement.spool, dataDir]).toEqual([
      "/etc/sockets",
      "/etc/gateway/spool",
      "/etc/gateway/data",
    ]);
  });

  it("puts data beside the folder of the sockets when none is named, so that the file's own may be read-only", () => {
    const { dataDir, settlement } = parse(`${good}sidecar: {sockets: /var/run/gateway/sockets}\n`);
    expect([dataDir, settlement.spool]).toEqual(["/var/run/gateway/data", "/var/run/gateway/data/spool"]);
  });

  it("is frozen at every depth", () => {
    expect(
      isDeepFrozen(parse(`${good}admin: {operator_token: {env: TOKEN}}\n`, { env: { TOKEN: "t" } })),
    ).toBe(true);
  });

  it("follows anchors and aliases", () => {
    const text = good.replace("USD: {", "USD: &price {").replace(/$/, "      EUR: *price\n");
    expect(parse(text).catalog[0]?.prices["EUR"]?.[0]?.output).toBe("10.00");
  });

  it("refuses a file whose aliases would expand without end", () => {
    const levels = Array.from({ length: 9 }, (_, i) => `x${i}: &x${i} [${`*x${i - 1}, `.repeat(9)}]`).slice(
      1,
    );
    const [problem] = problemsOf(`x0: &x0 [1]\n${levels.join("\n")}\n`);
    expect(problem).toMatch(/alias/i);
  });

  it("tells all problems at once, in the order of the file", () => {
    const text = `
lisen: {port: 1}
upstreams:
  - {name: local, url: "http://127.0.0.1:8000", credential: {env: MISSING}}
catalog:
  - {id: acme/a, upstream: remote, context_window: 10, max_output_tokens: 20, prices: {USD: {input: 1, output: "1"}}}
  - {id: acme/a, upstream: local, context_window: 0, max_output_tokens: 20, prices: {}}
`;
    expect(problemsOf(text).map((problem) => problem.split(": ")[0])).toEqual([
      "lisen",
      "upstreams[0].credential",
      "catalog[0].prices.USD.input",
      "catalog[0].upstream",
      "catalog[0].max_output_tokens",
      "catalog[1].context_window",
      "catalog[1].prices",
      "catalog[1].id",
      "catalog[1].max_output_tokens",
    ]);
  });

  it("requires a price of output wherever there are prices, but for a model that has embeddings alone", () => {
    const modelWith = (capabilities: string) => `
upstreams:
  - {name: local, url: "http://127.0.0.1:8000"}
catalog:
  - id: acme/a
    upstream: local
    context_window: 10
    max_output_tokens: 10
    capabilities: [${capabilities}]
    prices:
      USD: {input: "1", tiers: [{above_prompt_tokens: 5, input: "2"}]}
      EUR: [{input: "1"}, {from: 2027-01-01, input: "1", service_tiers: {flex: {input: "1"}}}]
`;
    expect(problemsOf(modelWith("embeddings"))).toEqual([]);
    for (const capabilities of ["", "embeddings, chat", "embeddings, completions", "completions"]) {
      const problems = problemsOf(modelWith(capabilities)).map((problem) => problem.split(":")[0]);
      expect(new Set(problems)).toEqual(
        new Set([
          "catalog[0].prices.USD.output",
          "catalog[0].prices.USD.tiers[0].output",
          "catalog[0].prices.EUR[0].output",
          "catalog[0].prices.EUR[1].output",
          "catalog[0].prices.EUR[1].service_tiers.flex.output",
        ]),
      );
    }
  });

  it.each([
    ["tools, completions", "`tools`"],
    ["embeddings, vision", "`vision`"],
  ])("takes no model out of chat that lists what only chat has: %s", (capabilities, named) => {
    const text = `
upstreams:
  - {name: local, url: "http://127.0.0.1:8000"}
catalog:
  - {id: acme/a, upstream: local, context_window: 10, max_output_tokens: 10, capabilities: [${capabilities}], prices: {USD: {input: "1", output: "1"}}}
`;
    expect(problemsOf(text)).toEqual([
      `catalog[0].capabilities: expected \`chat\` as well, because of ${named}`,
    ]);
    expect(problemsOf(text.replace(capabilities, `${capabilities}, chat`))).toEqual([]);
  });

  it("names the file, the number of problems and each of them in the error's message", () => {
    expect(() => parse(`${good}limit: {}\n`, { source: "gw.yaml" })).toThrow(
      "gw.yaml: 1 problem\n  line 12: limit: unknown field `limit`; did you mean `limits`?",
    );
  });
});

describe("parseConfig with secrets", () => {
  const text = good.replace("catalog:", "    credential: {env: LOCAL_KEY}\ncatalog:");
  const withToken = `${text}admin: {operator_token: {env: TOKEN}}\n`;

  it("gives references that are read when they are used", () => {
    const env: Record<string, string> = { LOCAL_KEY: "first" };
    const [credential] = parse(text, { env }).upstreams[0]!.credentials;
    env["LOCAL_KEY"] = "second";
    expect(credential?.secret.reveal()).toBe("second");
  });

  it.each([
    { secrets: "all", missing: ["upstreams[0].credential", "admin.operator_token"] },
    { secrets: "own", missing: ["admin.operator_token"] },
    { secrets: "upstreams", missing: ["upstreams[0].credential"] },
    { secrets: "none", missing: [] },
  ] as const)("with secrets: $secrets misses $missing", ({ secrets, missing }) => {
    expect(problemsOf(withToken, { secrets }).map((problem) => problem.split(": ")[0])).toEqual(missing);
  });

  it("shows no secret in the configuration's string, JSON or inspection", () => {
    const config = parse(withToken, { env: { LOCAL_KEY: "sk-secret", TOKEN: "token-secret" } });
    const shown = [
      JSON.stringify(config),
      inspect(config, { depth: 9, showHidden: true }),
      String(config.admin.operatorToken),
    ];
    expect(shown.join("\n")).not.toMatch(/sk-secret|token-secret/);
  });

  it.each([
    { name: "a secret written in place", line: "admin: {operator_token: hunter2-secret}" },
    { name: "a password in the URL of Redis", line: 'redis: {url: "redis://:hunter2/secret@host"}' },
    { name: "a secret as the name of a variable", line: "admin: {operator_token: {env: hunter2-secret}}" },
    { name: "a secret in a list", line: "admin: {operator_token: [hunter2-secret]}" },
  ])("does not repeat $name in the error", ({ line }) => {
    const problems = problemsOf(`${good}${line}\n`);
    expect(problems).not.toEqual([]);
    expect(problems.join("\n")).not.toContain("hunter2");
  });
});

describe("loadConfig", () => {
  it("resolves relative paths against the file's folder", () => {
    const folder = mkdtempSync(join(tmpdir(), "config-"));
    try {
      writeFileSync(join(folder, "gateway.yaml"), good);
      const config = loadConfig(join(folder, "gateway.yaml"), { env: {} });
      expect(config.sidecar.sockets).toBe(join(folder, "run"));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("tells a file that does not exist as a problem of the configuration", () => {
    expect(() => loadConfig("/nowhere/gateway.yaml")).toThrow(
      new ConfigError("/nowhere/gateway.yaml", [{ path: "", message: "the file does not exist" }]),
    );
  });
});
