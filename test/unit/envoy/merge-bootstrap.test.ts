/** `envoy render --into`, without the file: what is put into real-looking bootstraps, and what is refused. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { describe, expect, it } from "vitest";
import { formatUnifiedDiff } from "../../../src/operation/cli/envoy-into.ts";
import { parseConfig } from "../../../src/shared/config/load.ts";
import { checkBootstrap } from "../../../src/envoy/check-bootstrap/check-bootstrap.ts";
import { MARK } from "../../../src/envoy/merge-bootstrap/bootstrap-file.ts";
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

/** Lines of the operator's that are not in the result any more. */
function lostLines(before: string, after: string): string[] {
  const lines = formatUnifiedDiff(before, after, "file").split("\n").slice(2);
  return lines.filter((line) => line.startsWith("-")).map((line) => line.slice(1).trim());
}

interface Row {
  readonly name: string;
  readonly before: string;
  readonly after: string;
  readonly options: Partial<MergeOptions>;
  readonly lost: readonly string[];
}

const OF_DOMAIN = { domains: ["api.example.com"] };
const ROWS: readonly Row[] = [
  {
    name: "front-proxy",
    before: FRONT,
    after: FRONT_MERGED,
    options: {},
    lost: [
      "normalize_path: false   # since the migration",
      'typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}',
    ],
  },
  { name: "quick-start", before: QUICK, after: merge(QUICK, OF_DOMAIN), options: OF_DOMAIN, lost: [] },
  {
    name: "two-listeners",
    before: TWO,
    after: TWO_MERGED,
    options: { listener: "public" },
    lost: ["commonHttpProtocolOptions: {idleTimeout: 600s}", "clusters: []"],
  },
];

describe.each(ROWS)("$name, with the gateway in it", ({ before, after, options, lost }) => {
  it("breaks no promise of the gateway", () => {
    expect(checkBootstrap(after, CONFIG)).toEqual([]);
  });

  it("has every other line as it was, comments and blanks included", () => {
    expect(lostLines(before, after)).toEqual(lost);
  });

  it("is the same when it is merged once more, without the options too", () => {
    expect(merge(after, options)).toBe(after);
    expect(merge(after, { listener: options.listener ?? null })).toBe(after);
  });
});

it.each(firstOnPush(ROWS))(
  "$name follows a changed gateway.yaml, in the parts that are the gateway's alone",
  ({ before, after, options, lost }) => {
    const changed = createConfig("https://models.example.com", ", credential: {env: KEY}");
    const next = merge(after, options, changed);
    expect(checkBootstrap(next, changed)).toEqual([]);
    expect(lostLines(before, next)).toEqual(lost);
    expect(next).toContain("models.example.com");
    expect(next).not.toContain("port_value: 8000");
  },
);

describe("what is an operator's own", () => {
  interface Manager {
    request_timeout: string;
    normalize_path: boolean;
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

  it("is one cluster for both filters no longer", () => {
    const earlier = FRONT_MERGED.replace("cluster_name: sidecar-checks}", "cluster_name: sidecar}");
    expect(checkBootstrap(earlier, CONFIG)).toMatchObject([{ check: "checks_cluster" }]);
    const operators = earlier.replaceAll(MARK, "ours");
    for (const text of [earlier, operators]) expect(parse(merge(text))).toEqual(parse(FRONT_MERGED));
  });

  it("stays where it keeps what is promised, and changes where it does not", () => {
    const { request_timeout, normalize_path, access_log } = manager(FRONT_MERGED);
    expect([request_timeout, normalize_path]).toEqual(["30s", true]);
    // Theirs, and what the sidecar is told.
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

describe("a virtual host of the operator", () => {
  it("may have no routes", () => {
    const empty = FRONT.replace(/routes:\n[\s\S]*?timeout: 15s\n/u, "routes: []\n");
    expect(empty).not.toBe(FRONT);
    const merged = merge(empty);
    expect(checkBootstrap(merged, CONFIG)).toEqual([]);
    expect(merged).toContain("\n                            routes: []\n");
  });
});

it("leaves numbers as they were written", () => {
  const own = FRONT.replace("port_value: 0}}", "port_value: 0}, mode: 0600, share: 1.50, mask: 0x1F}");
  expect(own).not.toBe(FRONT);
  expect(lostLines(own, merge(own))).toEqual(lostLines(FRONT, FRONT_MERGED));
});

describe("a layout that isn't regular", () => {
  it("is reformatted, with every field and comment", () => {
    const odd = FRONT.replace(
      "codec_type: AUTO",
      "codec_type: # Here.\n                        AUTO",
    ).replace(
      "-   name: envoy.filters.http.compressor",
      "-\n                        name: envoy.filters.http.compressor",
    );
    const merged = merge(odd);
    expect(checkBootstrap(merged, CONFIG)).toEqual([]);
    expect(parse(merged)).toEqual(parse(FRONT_MERGED));
    const comments = (text: string) => text.match(/# .*/gu)?.toSorted();
    expect(comments(merged)).toEqual([...(comments(FRONT_MERGED) ?? []), "# Here."].toSorted());
    expect(merge(merged)).toBe(merged);
  });
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
const FIRST_OF = (name: string) =>
  new RegExp(`(?: *#.*\\n)* *- +name: envoy\\.filters\\.http\\.${name}\\n`, "u");

describe("a guardrail's ext_proc", () => {
  it("stays between the gateway's ext_authz and its ext_proc when the gateway is merged again", () => {
    const guarded = FRONT_MERGED.replace(FIRST_OF("ext_proc"), (own) => GUARDRAIL + own);
    expect(guarded).not.toBe(FRONT_MERGED);
    expect(merge(guarded)).toBe(guarded);
  });

  it.each([
    ["before ext_authz", FRONT_MERGED.replace(FIRST_OF("ext_authz"), (own) => GUARDRAIL + own)],
    [
      "before the gateway is there",
      FRONT.replace("                    # The router stays last.\n", GUARDRAIL),
    ],
  ])("is refused %s", (_where, text) => {
    expect(() => merge(text)).toThrow(/this ext_proc filter calls another service than the gateway/u);
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
      says: /http_filters\[1\]: this ext_authz filter calls another service than the gateway/u,
    },
    {
      name: "a list on one line",
      text: FRONT.replace(
        / {20}http_filters:\n[\s\S]*?\n {4}clusters:/u,
        '                    http_filters: [{name: r, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}]\n    clusters:',
      ),
      says: /http_filters: it is written on one line in brackets/u,
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
      name: "a cluster of an upstream's name that is not as the gateway needs it",
      text: FRONT.replaceAll(/(name: |cluster: |cluster_name: )shop\b(?!\n +domains)/gu, "$1local"),
      says: /clusters\[0\]: your own cluster `local` differs from the one that the gateway needs/u,
    },
    {
      name: "the runtime flag switched off",
      text: `layered_runtime:\n  layers:\n    - name: base\n      static_layer:\n        envoy.reloadable_features.ext_proc_graceful_grpc_close: false\n${FRONT}`,
      says: /layered_runtime\.layers\[0\]\.static_layer: .* is false, but the gateway needs true/u,
    },
  ])("$name", ({ text, options = {}, says }) => {
    expect(() => merge(text, options)).toThrow(says);
  });
});

it("marks what is the gateway's alone", () => {
  expect(FRONT_MERGED.split(MARK).length - 1).toBeGreaterThanOrEqual(7);
});
