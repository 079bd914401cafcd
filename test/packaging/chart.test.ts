/** The Helm chart: what it renders, that its gateway.yaml is valid, and what its schema refuses. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { parseConfig } from "../../src/shared/config/load.ts";
import { renderBootstrap } from "../../src/envoy/bootstrap/render-bootstrap.ts";
import { checkBootstrap } from "../../src/envoy/check-bootstrap/check-bootstrap.ts";
import { readRules } from "../monitoring/alarm-rules.ts";
import { PROMETHEUS } from "../monitoring/find-prometheus.ts";
import { type Relabeling, startPrometheus } from "../monitoring/prometheus-server.ts";
import { waitFor } from "../support/wait.ts";
import { checkTool, run } from "./find-tool.ts";

const CHART = fileURLToPath(new URL("../../deploy/helm/", import.meta.url));
const SMALL = "ci/small-values.yaml";
const FULL = "ci/full-values.yaml";
const SIDECAR = "ci/sidecar-values.yaml";
const HELM = process.env["HELM_BIN"] ?? "helm";
const { missing } = checkTool(HELM, ["version"], "REQUIRE_HELM");

interface Container {
  readonly name: string;
  readonly args?: readonly string[];
  readonly ports?: readonly object[];
  readonly volumeMounts: readonly { readonly mountPath: string }[];
  readonly restartPolicy?: string;
  readonly securityContext: Record<string, unknown>;
  readonly livenessProbe?: { httpGet: { path: string; port: string } };
  readonly readinessProbe?: { httpGet: { path: string; scheme?: string } };
}
interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data: Record<string, string>;
  readonly spec: {
    readonly replicas?: number;
    readonly template: {
      readonly metadata: { readonly annotations: Record<string, string> };
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly securityContext: Record<string, unknown>;
        readonly containers: Container[];
        readonly initContainers: Container[];
        readonly volumes: { name: string; emptyDir?: object }[];
      };
    };
    readonly volumeClaimTemplates: { metadata: { name: string } }[];
  };
}

interface Monitor {
  readonly spec: { readonly endpoints: readonly { readonly relabelings: readonly Relabeling[] }[] };
}

interface Policy {
  readonly spec: {
    readonly ingress: readonly {
      readonly ports: readonly { port: number }[];
      readonly from?: readonly object[];
    }[];
    readonly egress: readonly { readonly ports: readonly { port: number }[] }[];
  };
}

function helm(command: string, values: string, ...more: string[]) {
  return run(HELM, [command, ...(command === "template" ? ["gw"] : []), ".", "-f", values, ...more], {
    cwd: CHART,
  });
}

async function template(values: string, ...more: string[]): Promise<Map<string, Manifest>> {
  const { code, stdout, stderr } = await helm("template", values, ...more);
  if (code !== 0) throw new Error(stderr);
  const manifests = parseAllDocuments(stdout).map((document) => document.toJS() as Manifest | null);
  return new Map(
    manifests.filter((one) => one !== null).map((one) => [`${one.kind}/${one.metadata.name}`, one]),
  );
}

/** Paths of the switches that are off in `values` with `changed` laid over them. */
function listOff(values: unknown, changed: unknown, path = ""): string[] {
  if (typeof values === "boolean") return (changed ?? values) === true ? [] : [path];
  if (typeof values !== "object" || values === null || Array.isArray(values)) return [];
  const own = (changed ?? {}) as Readonly<Record<string, unknown>>;
  return Object.entries(values).flatMap(([key, value]) =>
    listOff(value, own[key], path === "" ? key : `${path}.${key}`),
  );
}

/** The alert rules, in a file and in a PrometheusRule. */
interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { expr: string; annotations: Record<string, string> }[];
  }[];
}

describe("deploy/helm", () => {
  it("names the version of the program", () => {
    const chart = parse(readFileSync(`${CHART}Chart.yaml`, "utf8")) as { appVersion: string };
    const program = JSON.parse(readFileSync(`${CHART}../../package.json`, "utf8")) as { version: string };
    expect(chart.appVersion).toBe(program.version);
  });

  it("has every switch on in the values that docs/kubernetes.md says so of", () => {
    const read = (file: string) => parse(readFileSync(`${CHART}${file}`, "utf8")) as unknown;
    expect(listOff(read("values.yaml"), read(FULL))).toEqual([]);
    expect(listOff(read("values.yaml"), {})).toContain("serviceMonitor.enabled");
  });

  it("says of the program what package.json and the image's label say", () => {
    const sayings = [`${CHART}Chart.yaml`, `${CHART}../../Dockerfile`, `${CHART}../../package.json`].map(
      (file) =>
        /API keys, rate limits, spend caps and \w+ wire protocols/.exec(readFileSync(file, "utf8"))?.[0],
    );
    expect(new Set(sayings)).toEqual(new Set([sayings[2]]));
    expect(sayings[2]).toContain("three");
  });
});

describe.skipIf(missing !== null)("deploy/helm, rendered", () => {
  it.each([SMALL, FULL, SIDECAR])("passes helm lint --strict with %s", async (values) => {
    const { code, stdout, stderr } = await helm("lint", values, "--strict");
    expect({ code, output: code === 0 ? "" : stdout + stderr }).toEqual({ code: 0, output: "" });
  });

  it.each([SMALL, FULL, SIDECAR])(
    "holds a valid gateway.yaml with %s, whose bootstrap keeps every promise",
    async (values) => {
      const manifests = await template(values);
      const text = manifests.get("ConfigMap/gw")?.data["gateway.yaml"] ?? "";
      const config = parseConfig(text, {
        baseDir: "/etc/inference-gateway",
        source: "gateway.yaml",
        secrets: "none",
      });
      expect(config.sidecar.workers).toBe(2);
      expect(checkBootstrap(renderBootstrap(config), config)).toEqual([]);
    },
  );

  it("renders Envoy's bootstrap with the values' browser origins and trusted proxies", async () => {
    const argsOf = async (values: string) =>
      (await template(values)).get("StatefulSet/gw")!.spec.template.spec.initContainers[0]?.args ?? [];
    expect(await argsOf(SMALL)).toContain("--trusted-hops=0");
    const args = (await argsOf(FULL)).filter((arg) => /^--(?:cors|trusted)/u.test(arg));
    expect(args).toEqual([
      "--trusted-hops=1",
      "--cors-origin=https://app.example.com",
      "--cors-origin=https://admin.example.com",
    ]);
    const render = ["src/main.ts", "envoy", "render", "--config=envoy/examples/envoy.gateway.yaml", ...args];
    const { code, stdout } = await run(process.execPath, render, { cwd: `${CHART}../..` });
    expect({ code, hops: stdout.includes("xff_num_trusted_hops: 1") }).toEqual({ code: 0, hops: true });
    expect(stdout).toContain("https://admin.example.com");
  });

  it("runs Envoy and the gateway in one pod that the restricted Pod Security Standard admits", async () => {
    const { template: pod, volumeClaimTemplates } = (await template(FULL)).get("StatefulSet/gw")!.spec;
    expect(pod.spec.securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: "RuntimeDefault" },
    });
    const containers = [...pod.spec.initContainers, ...pod.spec.containers];
    expect(containers.map(({ name }) => name)).toEqual(["bootstrap", "credentials", "envoy", "gateway"]);
    for (const { securityContext } of containers) {
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        runAsNonRoot: true,
        capabilities: { drop: ["ALL"] },
      });
    }
    expect(pod.spec.volumes.find(({ name }) => name === "sockets")?.emptyDir).toBeDefined();
    expect(volumeClaimTemplates.map(({ metadata }) => metadata.name)).toEqual(["data"]);
  });

  it("stops Envoy after the gateway, and gives streams the time that they were promised", async () => {
    const { spec } = (await template(FULL, "--set", "drain.streamsSeconds=120,drain.preStopSeconds=5")).get(
      "StatefulSet/gw",
    )!.spec.template;
    expect(spec.initContainers.find(({ name }) => name === "envoy")?.restartPolicy).toBe("Always");
    expect(spec.containers[0]?.args).toContain("--drain-seconds=120");
    expect(spec.terminationGracePeriodSeconds).toBe(155);
  });

  it("asks for readiness the way that requests go, and for liveness never about Redis", async () => {
    const { spec } = (await template(FULL)).get("StatefulSet/gw")!.spec.template;
    const envoy = spec.initContainers.find(({ name }) => name === "envoy");
    expect(envoy?.readinessProbe?.httpGet.path).toBe("/readyz");
    expect([spec.containers[0], envoy].map((one) => one?.livenessProbe?.httpGet.path)).toEqual([
      "/healthz",
      "/healthz",
    ]);
    expect(spec.containers[0]?.livenessProbe?.httpGet.port).toBe("health");
  });

  it("restarts pods for everything but the catalog, which is read again by itself", async () => {
    const annotation = async (set: string) =>
      (await template(SMALL, "--set", set)).get("StatefulSet/gw")!.spec.template.metadata.annotations[
        "checksum/restart"
      ];
    const before = await annotation("service.port=80");
    expect(
      await annotation(
        "gateway.catalog[0].startup_seconds=20,gateway.catalog[0].id=a/b,gateway.catalog[0].upstream=local",
      ),
    ).toBe(before);
    expect(await annotation("gateway.extra.settlement.grace_seconds=5")).not.toBe(before);
  });

  it("bounds the request log below its volume, unless the values say otherwise", async () => {
    const boundOf = async (...more: string[]) => {
      const text = (await template(SMALL, ...more)).get("ConfigMap/gw")!.data["gateway.yaml"] ?? "";
      return (parse(text) as { retention: object }).retention;
    };
    expect(await boundOf()).toEqual({ request_log_max_bytes: 1024 ** 3 });
    const set =
      "gateway.extra.retention.request_log_max_bytes=2097152,gateway.extra.retention.usage_months=3";
    expect(await boundOf("--set", set)).toEqual({ request_log_max_bytes: 2_097_152, usage_months: 3 });
  });

  it("gives an upstream's credential to Envoy's side only, and renews it there", async () => {
    const { spec } = (await template(FULL)).get("StatefulSet/gw")!.spec.template;
    const mounts = [...spec.initContainers, ...spec.containers].filter((one) =>
      one.volumeMounts.some(({ mountPath }) => mountPath === "/etc/gateway-secrets/partner"),
    );
    expect(mounts.map(({ name }) => name)).toEqual(["bootstrap", "credentials", "envoy"]);
    const small = (await template(SMALL)).get("StatefulSet/gw")!.spec.template.spec;
    expect(small.initContainers.map(({ name }) => name)).toEqual(["bootstrap", "envoy"]);
  });

  it("has the sidecar alone take calls by mutual TLS, on a port for each worker", async () => {
    const manifests = await template(SIDECAR);
    const { spec } = manifests.get("StatefulSet/gw")!.spec.template;
    expect(spec.initContainers).toBeUndefined();
    expect(spec.containers[0]?.ports).toEqual([
      { name: "admin", containerPort: 10001 },
      { name: "health", containerPort: 10002 },
      { name: "grpc-0", containerPort: 9000 },
      { name: "grpc-1", containerPort: 9001 },
    ]);
    expect(spec.containers[0]?.readinessProbe?.httpGet.path).toBe("/readyz");
    expect([...manifests.keys()]).toContain("Service/gw-sidecar");
    expect([...manifests.keys()]).not.toContain("Service/gw");
    const { sidecar } = parse(manifests.get("ConfigMap/gw")?.data["gateway.yaml"] ?? "") as {
      sidecar: { tls: object };
    };
    expect(sidecar.tls).toMatchObject({
      server_name: "gw-sidecar.default.svc",
      client_name: "envoy.edge.svc",
    });
  });

  it("leads each alert rule to the runbook of the published documentation, or nowhere", async () => {
    const rulesOf = async (...more: string[]) =>
      ((await template(FULL, ...more)).get("PrometheusRule/gw") as unknown as { spec: Rules }).spec;
    const expected = structuredClone(readRules()) as Rules;
    for (const { annotations } of expected.groups.flatMap(({ rules }) => rules)) {
      annotations["runbook_url"] = annotations["runbook_url"]!.replace(
        "docs/runbook.md",
        "https://docs.example.com/gateway/runbook.html",
      );
    }
    expect(await rulesOf()).toEqual(expected);
    const bare = (await rulesOf("--set", "gateway.documentationUrl=")).groups.flatMap(({ rules }) => rules);
    expect(bare.map(({ expr }) => expr)).toEqual(
      expected.groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)),
    );
    expect(bare.filter(({ annotations }) => "runbook_url" in annotations)).toEqual([]);
  });

  it.skipIf(PROMETHEUS === null)(
    "has a Prometheus that scrapes by its ServiceMonitor name the job that the alarms go by",
    async () => {
      const monitor = (await template(FULL)).get("ServiceMonitor/gw") as unknown as Monitor;
      const [endpoint] = monitor.spec.endpoints;
      expect(endpoint).toMatchObject({ port: "admin", path: "/metrics" });
      const target = createServer((_, response) => response.end("# none\n")).listen(0, "127.0.0.1");
      onTestFinished(() => void target.close());
      await once(target, "listening");
      const { port } = target.address() as AddressInfo;
      const pace = { every: "200ms", minuteMs: 333 };
      // Resolves once a target of the job is up.
      const prometheus = await startPrometheus(`http://127.0.0.1:${port}`, "x", pace, endpoint?.relabelings);
      onTestFinished(() => prometheus.stop());
      const jobs = readRules().groups.flatMap(({ rules }) =>
        rules.flatMap(({ expr }) => Array.from(expr.matchAll(/job="([^"]+)"/g), ([, job]) => job)),
      );
      expect(new Set(jobs)).toEqual(new Set(["inference-gateway"]));
      target.closeAllConnections();
      target.close();
      await waitFor("GatewayDown", async () => (await prometheus.stateOf("GatewayDown")) === "firing");
    },
    60_000,
  );

  it("lets Prometheus's namespace in, and its own values reach all that they name", async () => {
    const { spec } = (await template(FULL)).get("NetworkPolicy/gw") as unknown as Policy;
    const ports = spec.egress.flatMap((rule) => rule.ports.map(({ port }) => port));
    const values = readFileSync(`${CHART}${FULL}`, "utf8");
    const named = Array.from(
      values.matchAll(/(rediss?|https?):\/\/[^:/"]+(?::(\d+))?/g),
      ([, scheme, port]) => Number(port ?? (scheme === "https" ? 443 : 80)),
    );
    expect(ports).toEqual(expect.arrayContaining(named));
    const admin = spec.ingress.find((rule) => rule.ports.some(({ port }) => port === 10001));
    expect(admin?.from).toContainEqual({
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } },
    });
  });

  it("leaves the number of pods to the autoscaler where there is one", async () => {
    expect((await template(SMALL)).get("StatefulSet/gw")?.spec.replicas).toBe(2);
    const full = await template(FULL);
    expect(full.get("StatefulSet/gw")?.spec.replicas).toBeUndefined();
    for (const kind of [
      "HorizontalPodAutoscaler",
      "PodDisruptionBudget",
      "NetworkPolicy",
      "ServiceMonitor",
      "PrometheusRule",
    ]) {
      expect([...full.keys()]).toContain(`${kind}/gw`);
    }
  });

  it.each([
    ["a misspelled value", "repliccas=3", /repliccas/],
    ["no pods", "replicas=0", /replicas/],
    ["a part that the chart decides", "gateway.extra.listen.port=1", /extra/],
    ["a secret for nobody", "secretEnv[0].name=A,secretEnv[0].secret=s,secretEnv[0].key=k", /for/],
    ["no upstream", "gateway.upstreams=null", /upstreams/],
    ["a sidecar elsewhere without certificates", "envoy.enabled=false", /sidecar\.tlsSecret/],
    [
      "a sidecar elsewhere that anybody with a certificate could call",
      "envoy.enabled=false,sidecar.tlsSecret=x",
      /sidecar\.clientName/,
    ],
    ["no operator token", "operatorTokenSecret.name=", /operatorTokenSecret/],
    ["two kinds of Redis", "redis.cluster[0]=redis://a:1", /exactly one/],
    ["sentinels without a name", "redis.url=,redis.sentinels[0]=redis://a:1", /redis\.name/],
  ])("refuses %s", async (_name, set, message) => {
    const { code, stderr } = await helm("template", SMALL, "--set", set);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(message);
  });
});
