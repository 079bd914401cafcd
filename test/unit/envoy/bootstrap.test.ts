import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { parseConfig } from "../../../src/shared/config/load.ts";
import { renderBootstrap } from "../../../src/envoy/bootstrap/render-bootstrap.ts";
import type { RenderOptions } from "../../../src/envoy/bootstrap/render-options.ts";

const BASE = `
upstreams:
  - {name: local, url: "http://127.0.0.1:8000", credential: {env: LOCAL_KEY}}
  - {name: free, url: "http://[::1]:8001"}
  - {name: hosted, url: "https://models.example.com"}
  - {name: replicas, urls: ["https://a.example:8443", "https://b.example:8443"], tls: {ca_file: /ca.pem}}
  - {name: byaddress, url: "https://192.0.2.1", tls: {server_name: models.internal}}
catalog:
  - id: acme/echo
    upstream: local
    upstream_model: echo
    context_window: 128000
    max_output_tokens: 8192
    prices: {USD: {input: "1", output: "1"}}
`;
const SIDECAR = "sidecar: {workers: 2, sockets: /run/igw}\n";

interface Filter {
  readonly name: string;
  readonly typed_config: Record<string, unknown>;
}
interface Policy {
  readonly retry_policy?: { readonly retry_on: string; readonly num_retries: number };
}
interface Cluster {
  readonly name: string;
  readonly type: string;
  readonly transport_socket?: { typed_config: Record<string, unknown> };
  readonly load_assignment: { endpoints: { lb_endpoints: { endpoint: Record<string, unknown> }[] }[] };
  readonly [field: string]: unknown;
}

function render(extra = SIDECAR, options: RenderOptions = {}): string {
  const config = parseConfig(BASE + extra, { baseDir: "/etc/igw", env: { LOCAL_KEY: "never-rendered" } });
  return renderBootstrap(config, { systemCaFile: "/system-ca.pem", ...options });
}

/** The parts of a bootstrap that the tests look at. */
function read(text: string) {
  const bootstrap = parse(text) as {
    static_resources: {
      listeners: { per_connection_buffer_limit_bytes: number; filter_chains: unknown }[];
      clusters: Cluster[];
    };
  } & Record<string, unknown>;
  const [listener] = bootstrap.static_resources.listeners;
  const [chain] = listener!.filter_chains as [{ filters: [Filter] }];
  const manager = chain.filters[0].typed_config as {
    http_filters: Filter[];
    route_config: { virtual_hosts: [{ routes: Record<string, unknown>[] }] };
  } & Record<string, unknown>;
  const clusters = new Map(bootstrap.static_resources.clusters.map((cluster) => [cluster.name, cluster]));
  return { bootstrap, listener, manager, clusters };
}

const endpointsOf = (cluster: Cluster | undefined) =>
  cluster?.load_assignment.endpoints.flatMap((group) => group.lb_endpoints.map((one) => one.endpoint));

/** Most tests look at the same bootstrap. */
const PLAIN = read(render());

describe("renderBootstrap", () => {
  it("gives the same text for the same configuration", () => {
    expect(render()).toBe(render());
  });

  it("has no secret in it", () => {
    expect(render()).not.toContain("never-rendered");
  });

  it("has one retry policy: in the clusters that may have several servers, and nowhere else", () => {
    const { manager, clusters } = PLAIN;
    expect(JSON.stringify(manager)).not.toMatch(/retry_policy|retry_on/);
    const policies = [...clusters].map(([name, cluster]) => {
      const [options] = Object.values(cluster["typed_extension_protocol_options"] as Record<string, Policy>);
      return [name, options?.retry_policy?.retry_on ?? null, options?.retry_policy?.num_retries ?? 0];
    });
    const once = ["connect-failure,reset-before-request", 1];
    expect(policies).toEqual([
      ["sidecar", ...once],
      ["sidecar-checks", ...once],
      ["local", null, 0],
      ["free", null, 0],
      ["hosted", ...once],
      ["replicas", ...once],
      ["byaddress", null, 0],
    ]);
  });

  it("lets the headers of messages pass to an upstream that speaks them, before it has a model", () => {
    const extra = '  - {name: later, url: "http://10.0.0.1", protocols: [messages]}\ncatalog:';
    const config = parseConfig((BASE + SIDECAR).replace("catalog:", extra), {
      baseDir: "/",
      secrets: "none",
    });
    const { clusters } = read(renderBootstrap(config));
    expect(JSON.stringify(clusters.get("later"))).not.toContain('"prefix":"anthropic-"');
    expect(JSON.stringify(clusters.get("free"))).toContain('"prefix":"anthropic-"');
  });

  it("puts endpoints into groups by priority, with their weights, checks and slow start", () => {
    const extra =
      '  - {name: mixed, slow_start_seconds: 30, health_check: {path: /health}, endpoints: [{url: "http://10.0.0.1", ' +
      'weight: 3}, {url: "http://10.0.0.2:8000"}, {url: "http://10.0.1.1", priority: 1}]}\ncatalog:';
    const config = parseConfig((BASE + SIDECAR).replace("catalog:", extra), {
      baseDir: "/",
      secrets: "none",
    });
    const cluster = read(renderBootstrap(config)).clusters.get("mixed");
    expect(cluster).toMatchObject({
      least_request_lb_config: { slow_start_config: { slow_start_window: "30s" } },
      common_lb_config: { healthy_panic_threshold: { value: 0 } },
      health_checks: [{ interval: "5s", timeout: "5s", http_health_check: { path: "/health" } }],
      load_assignment: {
        endpoints: [
          {
            priority: 0,
            lb_endpoints: [
              {
                endpoint: { hostname: "10.0.0.1", health_check_config: { hostname: "10.0.0.1" } },
                load_balancing_weight: 3,
              },
              { endpoint: { hostname: "10.0.0.2:8000" } },
            ],
          },
          { priority: 1, lb_endpoints: [{ endpoint: { hostname: "10.0.1.1" } }] },
        ],
      },
    });
  });

  it.each([
    { affinity: "", policy: "session" },
    { affinity: "affinity: off, ", policy: "off" },
  ])(
    "keeps sessions on a server of several unless every model has `affinity: off`: $policy",
    ({ affinity, policy }) => {
      const model = (id: string) =>
        `  - {id: acme/${id}, upstream: replicas, ${affinity}context_window: 9, max_output_tokens: 9, prices: {USD: {input: "1", output: "1"}}}\n`;
      const cluster = read(render(model("one") + model("two") + SIDECAR)).clusters.get("replicas");
      const hashing = {
        hash_balance_factor: 200,
        hash_policy: [{ header: { header_name: "x-igw-session" } }],
      };
      const maglev = {
        name: "envoy.load_balancing_policies.maglev",
        typed_config: expect.objectContaining({ consistent_hashing_lb_config: hashing }),
      };
      expect([cluster?.["lb_policy"], cluster?.["load_balancing_policy"]]).toEqual(
        policy === "off"
          ? ["LEAST_REQUEST", undefined]
          : [undefined, { policies: [{ typed_extension_config: maglev }] }],
      );
    },
  );

  it("passes requests through ext_authz, ext_proc, content_length and router, in this order", () => {
    const names = PLAIN.manager.http_filters.map((filter) => filter.name.split(".").at(-1));
    expect(names).toEqual([
      "grpc_reply",
      "header_to_metadata",
      "ext_authz",
      "ext_proc",
      "content_length",
      "router",
    ]);
  });

  it("fails closed in both filters that ask the sidecar", () => {
    const asking = PLAIN.manager.http_filters.filter((filter) => filter.name.includes("ext_"));
    expect(asking.map((filter) => filter.typed_config["failure_mode_allow"])).toEqual([false, false]);
  });

  it("ends its routes with one for every path, and passes over ext_authz only where it answers by itself: two Hosts, exact paths, CONNECT", () => {
    const { routes } = PLAIN.manager.route_config.virtual_hosts[0];
    expect(routes.at(-1)).toMatchObject({
      match: { prefix: "/" },
      route: { cluster_header: "x-igw-upstream" },
    });
    const open = routes.filter((route) =>
      JSON.stringify(route["typed_per_filter_config"] ?? "").includes("ExtAuthz"),
    );
    expect(open.filter((route) => route["direct_response"] === undefined)).toEqual([]);
    expect(open.map(({ match }) => match)).toEqual([
      { prefix: "/", headers: [{ name: ":authority", string_match: { contains: "," } }] },
      expect.objectContaining({ path: "/healthz" }),
      // For browsers, then for programs.
      expect.objectContaining({ path: "/" }),
      expect.objectContaining({ path: "/" }),
      expect.objectContaining({ path: "/api/hello" }),
      { connect_matcher: {} },
    ]);
  });

  it("puts the CORS filter before ext_authz, and only when origins are given", () => {
    const names = read(render(SIDECAR, { corsAllowOrigins: ["*"] })).manager.http_filters.map(
      ({ name }) => name,
    );
    expect(names.indexOf("envoy.filters.http.cors")).toBeLessThan(
      names.indexOf("envoy.filters.http.ext_authz"),
    );
    expect(render()).not.toContain("filters.http.cors");
  });

  it("has ext_authz and ext_proc call the same workers in clusters, thus connections, of their own", () => {
    const called = ["ext_authz", "ext_proc"].map((filter) => {
      const { typed_config } = PLAIN.manager.http_filters.find(({ name }) => name.endsWith(filter))!;
      return (typed_config["grpc_service"] as { envoy_grpc: { cluster_name: string } }).envoy_grpc
        .cluster_name;
    });
    expect(called).toEqual(["sidecar-checks", "sidecar"]);
    const alike = called.map((name) => {
      const { type, health_checks, transport_socket, typed_extension_protocol_options } =
        PLAIN.clusters.get(name)!;
      const endpoints = endpointsOf(PLAIN.clusters.get(name));
      return { type, health_checks, transport_socket, typed_extension_protocol_options, endpoints };
    });
    expect(alike[0]).toEqual(alike[1]);
  });

  it.each([...PLAIN.clusters.keys()].filter((name) => name.startsWith("sidecar")))(
    "leaves no upstream the name of its own cluster %s",
    (name) => {
      const text = (BASE + SIDECAR).replace("name: free", `name: ${name}`);
      expect(() => parseConfig(text, { baseDir: "/", secrets: "none" })).toThrow(/cluster of the gateway/u);
    },
  );

  it("gives the sidecar one endpoint per worker", () => {
    expect(endpointsOf(PLAIN.clusters.get("sidecar"))).toEqual([
      { address: { pipe: { path: "/run/igw/gateway-0.sock" } } },
      { address: { pipe: { path: "/run/igw/gateway-1.sock" } } },
    ]);
  });

  it("finds workers on TCP by their ports, under another name where one is given", () => {
    const text = render(
      "sidecar: {workers: 2, sockets: /run/igw, tcp: {host: 0.0.0.0, port: 9000, allow_plaintext: true}}\n",
      {
        sidecarHost: "gateway",
      },
    );
    const cluster = read(text).clusters.get("sidecar");
    expect(cluster?.type).toBe("STRICT_DNS");
    expect(endpointsOf(cluster)).toEqual([
      { address: { socket_address: { address: "gateway", port_value: 9000 } } },
      { address: { socket_address: { address: "gateway", port_value: 9001 } } },
    ]);
  });

  it("names the folder to shorten when a socket's path is too long", () => {
    const folder = `/${"x".repeat(110)}`;
    expect(() => render(`sidecar: {workers: 1, sockets: ${folder}}\n`)).toThrow(/sockets/);
  });

  it.each([
    ["local", "STATIC", [["127.0.0.1", 8000, "127.0.0.1:8000"]]],
    ["free", "STATIC", [["::1", 8001, "[::1]:8001"]]],
    ["hosted", "STRICT_DNS", [["models.example.com", 443, "models.example.com"]]],
    [
      "replicas",
      "STRICT_DNS",
      [
        ["a.example", 8443, "a.example:8443"],
        ["b.example", 8443, "b.example:8443"],
      ],
    ],
  ])("resolves the upstream %s by %s", (name, type, expected) => {
    const cluster = PLAIN.clusters.get(name);
    expect(cluster?.type).toBe(type);
    expect(endpointsOf(cluster)).toEqual(
      expected.map(([address, port_value, hostname]) => ({
        address: { socket_address: { address, port_value } },
        hostname,
      })),
    );
  });

  it.each([
    ["hosted", { sni: "models.example.com" }, "/system-ca.pem", [["DNS", "models.example.com"]]],
    ["byaddress", { sni: "models.internal" }, "/system-ca.pem", [["DNS", "models.internal"]]],
  ])("verifies the certificate of %s", (name, serverName, filename, names) => {
    const tls = PLAIN.clusters.get(name)?.transport_socket?.typed_config;
    expect(tls).toMatchObject({
      ...serverName,
      common_tls_context: {
        validation_context: {
          trusted_ca: { filename },
          match_typed_subject_alt_names: names.map(([san_type, exact]) => ({ san_type, matcher: { exact } })),
        },
      },
    });
  });

  it("has authorities of an upstream's own read from a file that Envoy watches", () => {
    const tls = PLAIN.clusters.get("replicas")?.transport_socket?.typed_config;
    expect(tls).toMatchObject({
      auto_host_sni: true,
      common_tls_context: {
        combined_validation_context: {
          default_validation_context: {
            match_typed_subject_alt_names: ["a.example", "b.example"].map((exact) => ({
              san_type: "DNS",
              matcher: { exact },
            })),
          },
          validation_context_sds_secret_config: {
            sds_config: {
              path_config_source: { path: "/run/igw/secrets/_upstream_authorities_replicas.yaml" },
            },
          },
        },
      },
    });
  });

  it("has a credential filter for upstreams with a credential only, and takes the client's headers off all", () => {
    const { clusters } = read(render(SIDECAR, { secretsDirectory: "/secrets" }));
    expect(JSON.stringify(clusters.get("local"))).toContain('"path":"/secrets/local.yaml"');
    for (const name of ["free", "hosted", "replicas"]) {
      expect(JSON.stringify(clusters.get(name))).not.toContain("credential_injector");
      expect(JSON.stringify(clusters.get(name))).toContain('"remove":"authorization"');
    }
  });

  it.each([
    { max: 1024, filter: 525_312, connection: 65_664, window: 65_664 },
    { max: 1_048_576, filter: 1_572_864, connection: 196_608, window: 196_608 },
    { max: 33_554_432, filter: 34_078_720, connection: 1_048_576, window: 1_048_576 },
  ])(
    "takes back what a body of $max bytes may become, and reads little of it before its key is admitted",
    ({ max, filter, connection, window }) => {
      const { listener, manager } = read(render(`${SIDECAR}limits: {max_body_bytes: ${max}}\n`));
      const buffer = manager.http_filters.find(({ name }) => name === "inference_gateway.content_length");
      expect(buffer?.typed_config["max_request_bytes"]).toBe(filter);
      expect(listener?.per_connection_buffer_limit_bytes).toBe(connection);
      expect(manager["http2_protocol_options"]).toMatchObject({ initial_stream_window_size: window });
    },
  );
});
