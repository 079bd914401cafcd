/** `envoy render --into`, without the file: what is put into real-looking bootstraps, and what is refused. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { describe, expect, it } from "vitest";
import { parseConfig } from "../../../src/shared/config/load.ts";
import { checkBootstrap } from "../../../src/envoy/check-bootstrap/check-bootstrap.ts";
import { BEGIN, END } from "../../../src/envoy/merge-bootstrap/bootstrap-file.ts";
import { mergeBootstrap, type MergeOptions } from "../../../src/envoy/merge-bootstrap/merge-bootstrap.ts";
import { firstOnPush } from "../../support/extent.ts";

const FIXTURES = join(import.meta.dirname, "../../fixtures/bootstraps");
const readFixture = (name: string) => readFileSync(join(FIXTURES, `${name}.yaml`), "utf8");

function createConfig(url = "http://127.0.0.1:8000", more = "") {
  const text = `
sidecar: {workers: 2, sockets: run}
upstreams:
  - {name: local, url: "${url}"${more}}
catalog:
  - id: acme/echo-small
    upstream: local
    context_window: 128000
    max_output_tokens: 8192
    prices: {USD: {input: "2.50", output: "10.00"}}
`;
  return parseConfig(text, { baseDir: "/srv/gateway", secrets: "none" });
}

const CONFIG = createConfig();
const merge = (text: string, options: Partial<MergeOptions> = {}, config = CONFIG) =>
  mergeBootstrap(text, config, { listener: null, domains: [], ...options });

const QUICK = readFixture("quick-start");
const FRONT = readFixture("front-proxy");
const TWO = readFixture("two-listeners");
const FRONT_MERGED = merge(FRONT);
const TWO_MERGED = merge(TWO, { listener: "public" });

interface Row {
  readonly name: string;
  readonly before: string;
  readonly after: string;
  readonly options: Partial<MergeOptions>;
}

const OF_DOMAIN = { domains: ["api.example.com"] };
const ROWS: readonly Row[] = [
  { name: "front-proxy", before: FRONT, after: FRONT_MERGED, options: {} },
  { name: "quick-start", before: QUICK, after: merge(QUICK, OF_DOMAIN), options: OF_DOMAIN },
  { name: "two-listeners", before: TWO, after: TWO_MERGED, options: { listener: "public" } },
];

/** The text without the gateway's blocks. */
function takeOut(text: string): string {
  const lines: string[] = [];
  let isOurs = false;
  for (const line of text.split("\n")) {
    if (line.trim().startsWith(BEGIN)) isOurs = true;
    if (!isOurs) lines.push(line);
    if (line.trim() === END) isOurs = false;
  }
  return lines.join("\n");
}

describe.each(ROWS)("$name, with the gateway in it", ({ before, after, options }) => {
  it("breaks no promise of the gateway", () => {
    expect(checkBootstrap(after, CONFIG)).toEqual([]);
  });

  it("has every line as it was, outside of the gateway's blocks", () => {
    expect(after.length).toBeGreaterThan(before.length);
    expect(takeOut(after)).toBe(before);
  });

  it("is the same when it is merged once more", () => {
    expect(merge(after, options)).toBe(after);
  });
});

it.each(firstOnPush(ROWS))("$name follows a changed gateway.yaml", ({ before, after, options }) => {
  const changed = createConfig("https://models.example.com", ", credential: {env: KEY}");
  const next = merge(after, options, changed);
  expect(next).toBe(merge(before, options, changed));
  expect(checkBootstrap(next, changed)).toEqual([]);
  expect(next).toContain("models.example.com");
  expect(next).not.toContain("port_value: 8000");
});

describe("what is an operator's own", () => {
  interface Manager {
    request_timeout: string;
    access_log: { name: string }[];
    http_filters: { name: string }[];
    route_config: {
      virtual_hosts: {
        name: string;
        domains: string[];
        typed_per_filter_config?: Record<string, { disabled: boolean }>;
      }[];
    };
  }
  const manager = (text: string): Manager => {
    const value = parse(text) as {
      static_resources: { listeners: { filter_chains: { filters: { typed_config: Manager }[] }[] }[] };
    };
    const found = value.static_resources.listeners[0]?.filter_chains[0]?.filters[0]?.typed_config;
    if (found === undefined) throw new Error("there is no connection manager");
    return found;
  };

  it("is a timeout and a log, to which the gateway's log is added", () => {
    const { request_timeout, access_log } = manager(FRONT_MERGED);
    expect(request_timeout).toBe("30s");
    expect(access_log.map(({ name }) => name)).toEqual([
      "envoy.access_loggers.stdout",
      "envoy.access_loggers.http_grpc",
    ]);
  });

  it("is a gRPC log of its own beside the sidecar's", () => {
    const type = "type.googleapis.com/envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig";
    const service = "{envoy_grpc: {cluster_name: collector}}";
    const theirs = `-   {name: envoy.access_loggers.http_grpc, typed_config: {"@type": ${type}, common_config: {log_name: all, grpc_service: ${service}}}}`;
    const own = FRONT.replace(/^( +)-( +)name: envoy\.access_loggers\.stdout$/m, `$1${theirs}\n$&`);
    const merged = merge(own);
    expect(checkBootstrap(merged, CONFIG)).toEqual([]);
    expect(manager(merged).access_log.map(({ name }) => name)).toEqual([
      "envoy.access_loggers.http_grpc",
      "envoy.access_loggers.stdout",
      "envoy.access_loggers.http_grpc",
    ]);
  });

  it("comes before the gateway's filters, and the router last", () => {
    const names = manager(FRONT_MERGED).http_filters.map(({ name }) => name);
    expect(names.map((name) => name.split(".").at(-1))).toEqual([
      "compressor",
      "grpc_reply",
      "header_to_metadata",
      "ext_authz",
      "ext_proc",
      "content_length",
      "router",
    ]);
  });

  it("is a virtual host with the gateway's filters off, beside the gateway's", () => {
    const { virtual_hosts: hosts } = manager(FRONT_MERGED).route_config;
    expect(hosts.map(({ name, domains }) => [name, domains])).toEqual([
      ["shop", ["shop.example.com", "www.shop.example.com"]],
      ["inference-gateway", ["*"]],
    ]);
    const off = Object.entries(hosts[0]?.typed_per_filter_config ?? {});
    expect(off.map(([name, { disabled }]) => [name.split(".").at(-1), disabled])).toEqual([
      ["ext_authz", true],
      ["ext_proc", true],
      ["content_length", true],
    ]);
  });

  it("has its mapper of local replies behind the first of the gateway's", () => {
    const first = TWO_MERGED.indexOf("'ext_authz_denied'");
    const own = TWO_MERGED.indexOf("# Our page for what is missing.");
    expect([first > 0, own > first, TWO_MERGED.indexOf("model_starting") > own]).toEqual([true, true, true]);
  });

  it("is another listener, which is not touched", () => {
    const internal = (text: string) =>
      text.slice(text.indexOf("- name: internal"), text.indexOf("- name: public"));
    expect(internal(TWO_MERGED)).toBe(internal(TWO));
  });
});

it("may be a virtual host without routes", () => {
  const empty = FRONT.replace(/routes:\n[\s\S]*?timeout: 15s\n/u, "routes: []\n");
  expect(empty).not.toBe(FRONT);
  const merged = merge(empty);
  expect(checkBootstrap(merged, CONFIG)).toEqual([]);
  expect(takeOut(merged)).toBe(empty);
});

it("may end without a new line, or with a block of text", () => {
  expect(merge(FRONT.trimEnd())).toBe(FRONT_MERGED);
  const note = `${FRONT}    secrets:\n    - name: note\n      generic_secret:\n        secret:\n          inline_string: |\n            one\n\n            two\n`;
  expect(takeOut(merge(note))).toBe(note);
});

const AUTHZ = `                    -   name: opa
                        typed_config:
                            "@type": type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthz
                            grpc_service: {envoy_grpc: {cluster_name: opa}}
`;

const GUARDRAIL = `${AUTHZ.replace("ext_authz.v3.ExtAuthz", "ext_proc.v3.ExternalProcessor")}\
                            metadata_options: {receiving_namespaces: {untyped: [inference_gateway_guardrail]}}
                            mutation_rules: {disallow_expression: {regex: "x-igw-.*"}}
                            forward_rules: {disallowed_headers: {patterns: [{exact: authorization}, {exact: x-api-key}, {prefix: x-igw-}]}}
`;
const BLOCK_OF = (name: string) => new RegExp(` *${BEGIN} envoy\\.filters\\.http\\.${name}\\n`, "u");

describe("a guardrail's ext_proc", () => {
  it("stays between the gateway's ext_authz and its ext_proc when the gateway is merged again", () => {
    const guarded = FRONT_MERGED.replace(BLOCK_OF("ext_proc"), (own) => GUARDRAIL + own);
    expect(guarded).not.toBe(FRONT_MERGED);
    expect(merge(guarded)).toBe(guarded);
  });

  it.each([
    ["before ext_authz", FRONT_MERGED.replace(BLOCK_OF("ext_authz"), (own) => GUARDRAIL + own)],
    [
      "before the gateway is there",
      FRONT.replace("                    # The router stays last.\n", GUARDRAIL),
    ],
  ])("is refused %s", (_where, text) => {
    expect(() => merge(text)).toThrow(/this ext_proc filter conflicts with the gateway's/u);
  });
});

describe("what cannot be merged is refused by name", () => {
  it.each([
    {
      name: "a virtual host that takes every domain",
      text: QUICK,
      says: /virtual_hosts\[0\]: the virtual host `local_service` has the domain \* already: .*--domain/u,
    },
    {
      name: "several listeners",
      text: TWO,
      says: /several HTTP connection managers exist: name one by --listener: internal, public\./u,
    },
    {
      name: "a listener that is not there",
      text: FRONT,
      options: { listener: "inner" },
      says: /no listener `inner` .*: name one by --listener: edge\./u,
    },
    {
      name: "a bootstrap without a listener",
      text: "static_resources: {}\n",
      says: /no listener has an HTTP connection manager/u,
    },
    { name: "JSON", text: JSON.stringify(parse(FRONT)), says: /the bootstrap is JSON: convert it to YAML/u },
    { name: "what is no YAML", text: "a: [\n", says: /^line \d+: the file isn't valid YAML: /u },
    { name: "several documents", text: `${FRONT}---\n${FRONT}`, says: /expected one YAML document/u },
    {
      name: "somebody else's ext_authz",
      text: FRONT.replace("                    # The router stays last.\n", AUTHZ),
      says: /http_filters\[1\]: this ext_authz filter conflicts with the gateway's/u,
    },
    {
      name: "a list on one line",
      text: FRONT.replace(
        / {20}http_filters:\n[\s\S]*?\n {4}clusters:/u,
        '                    http_filters: [{name: r, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}]\n    clusters:',
      ),
      says: /http_filters: it is written on one line: write each member on its own line/u,
    },
    {
      name: "routes that come by RDS",
      text: FRONT.replace(
        / {20}route_config:\n[\s\S]*?\n {20}http_filters:/u,
        "                    rds: {route_config_name: shop, config_source: {ads: {}}}\n                    http_filters:",
      ),
      says: /typed_config\.rds: the routes come by xDS/u,
    },
    {
      name: "an alias",
      text: FRONT.replace(
        "static_resources:",
        "shared: &shared {use_remote_address: true}\nstatic_resources:",
      ).replace("codec_type: AUTO", "<<: *shared"),
      says: /typed_config: fields come from a merge key/u,
    },
    {
      name: "a cluster of an upstream's name",
      text: FRONT.replaceAll(/(name: |cluster: |cluster_name: )shop\b(?!\n +domains)/gu, "$1local"),
      says: /clusters\[0\]: the gateway needs a cluster `local` of its own/u,
    },
    {
      name: "a setting that breaks a promise of the gateway",
      text: FRONT.replace("normalize_path: true", "normalize_path: false"),
      says: /typed_config\.normalize_path: false is set: .*Write `normalize_path: true`/u,
    },
    {
      name: "fields in braces that lack one",
      text: FRONT.replace("codec_type: AUTO", "common_http_protocol_options: {idle_timeout: 600s}"),
      says: /common_http_protocol_options: it is written on one line/u,
    },
    {
      name: "a field without a value",
      text: FRONT.replace("codec_type: AUTO", "local_reply_config:"),
      says: /local_reply_config: it is empty: remove it/u,
    },
    {
      name: "a dash on a line of its own",
      text: FRONT.replace(
        "-   name: envoy.filters.http.compressor",
        "-\n                        name: envoy.filters.http.compressor",
      ),
      says: /http_filters: it is written on one line/u,
    },
    {
      name: "the runtime flag switched off",
      text: `layered_runtime:\n  layers:\n    - name: base\n      static_layer:\n        envoy.reloadable_features.ext_proc_graceful_grpc_close: false\n${FRONT}`,
      says: /ext_proc_graceful_grpc_close/u,
    },
  ])("$name", ({ text, options = {}, says }) => {
    expect(() => merge(text, options)).toThrow(says);
  });
});
