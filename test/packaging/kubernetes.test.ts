/** What is deployed, checked by a real API server: fields, values and, for restricted pods, the Pod Security Standard. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkTool, run } from "./find-tool.ts";
import { type ApiServer, findKubernetes, startApiServer } from "./kubernetes.ts";

const DEPLOY = fileURLToPath(new URL("../../deploy/", import.meta.url));
const HELM = process.env["HELM_BIN"] ?? "helm";
const kubernetes = findKubernetes();
const helm = checkTool(HELM, ["version"], "REQUIRE_KUBERNETES").missing;
const missing = kubernetes ?? helm;

describe.skipIf(missing !== null)("a Kubernetes API server", () => {
  let server: ApiServer;
  beforeAll(async () => {
    server = await startApiServer();
    await server.kubectl("create", "namespace", "inference-gateway");
    await server.kubectl("create", "namespace", "restricted");
    const label = "pod-security.kubernetes.io/warn=restricted";
    await server.kubectl("label", "namespace", "restricted", label);
  }, 240_000);
  afterAll(async () => await server?.stop(), 60_000);

  const dryRun = (...args: readonly string[]) => server.kubectl("apply", "--dry-run=server", ...args);

  async function renderChart(values: string, ...more: readonly string[]): Promise<string> {
    const chart = `${DEPLOY}helm`;
    const args = [
      "template",
      "gw",
      chart,
      "--namespace",
      "restricted",
      "-f",
      `${chart}/ci/${values}`,
      ...more,
    ];
    const { code, stdout, stderr } = await run(HELM, args);
    if (code !== 0) throw new Error(stderr);
    return stdout;
  }

  async function applyText(text: string, namespace: string) {
    const { mkdtempSync, rmSync, writeFileSync } = await import("node:fs");
    const { tmpdir } = await import("node:os");
    const dir = mkdtempSync(`${tmpdir()}/igw-apply-`);
    try {
      writeFileSync(`${dir}/all.yaml`, text);
      return await dryRun("--namespace", namespace, "--validate=strict", "-f", `${dir}/all.yaml`);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  }

  it.each([
    [
      "sidecar-values.yaml",
      ["statefulset.apps/gw", "service/gw-sidecar", "networkpolicy.networking.k8s.io/gw"],
    ],
    ["small-values.yaml", ["statefulset.apps/gw", "poddisruptionbudget.policy/gw"]],
    [
      "full-values.yaml",
      [
        "statefulset.apps/gw",
        "horizontalpodautoscaler.autoscaling/gw",
        "networkpolicy.networking.k8s.io/gw",
        "servicemonitor.monitoring.coreos.com/gw",
        "prometheusrule.monitoring.coreos.com/gw",
      ],
    ],
  ])("accepts the chart with %s, without a warning about restricted pods", async (values, expected) => {
    const { code, stdout, stderr } = await applyText(await renderChart(values), "restricted");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const name of expected) expect(stdout).toContain(`${name} created (server dry run)`);
  });

  it("accepts `helm install`, which asks it itself", async () => {
    const values = `${DEPLOY}helm/ci/full-values.yaml`;
    const args = [
      "install",
      "gw",
      `${DEPLOY}helm`,
      "--dry-run=server",
      "--namespace",
      "restricted",
      "-f",
      values,
    ];
    const { code, stderr } = await run(HELM, [...args, "--kubeconfig", server.kubeconfig]);
    expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  });

  it.each([
    ["istio", ["envoyfilter.networking.istio.io/inference-gateway", "statefulset.apps/inference-gateway"]],
    [
      "envoy-gateway",
      [
        "gateway.gateway.networking.k8s.io/inference-gateway",
        "envoyproxy.gateway.envoyproxy.io/inference-gateway",
        "envoypatchpolicy.gateway.envoyproxy.io/inference-gateway",
      ],
    ],
  ])("accepts the example for %s", async (name, expected) => {
    const { code, stdout, stderr } = await dryRun("--validate=strict", "-k", `${DEPLOY}examples/${name}`);
    expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
    for (const one of expected) expect(stdout).toMatch(new RegExp(`${one} \\w+ \\(server dry run\\)`));
  });

  it.each([
    ["a port that there is not", "containerPort: 10001", "containerPort: 99999", /99999/],
    ["a misspelled field", "readinessProbe:", "readynessProbe:", /readynessProbe/],
    ["a misspelled field of a ServiceMonitor", "interval: 15s", "intervall: 15s", /intervall/],
  ])("refuses %s, so that what it accepts means something", async (_name, find, write, message) => {
    const chart = await renderChart("full-values.yaml");
    expect(chart).toContain(find);
    const { code, stderr } = await applyText(chart.replace(find, write), "restricted");
    expect(code).not.toBe(0);
    expect(stderr).toMatch(message);
  });
});
