/**
 * `deploy/examples`: Istio and Envoy Gateway. Envoy takes the configuration in them, and it keeps every promise. That it
 * is rendered is held by `test/envoy/bootstrap-examples.test.ts`.
 */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { parseConfig } from "../../src/shared/config/load.ts";
import type { Config } from "../../src/shared/config/schema.ts";
import { checkBootstrap } from "../../src/envoy/check-bootstrap/check-bootstrap.ts";
import { findEnvoy } from "../envoy/edge/envoy-binary.ts";

const EXAMPLES = fileURLToPath(new URL("../../deploy/examples/", import.meta.url));
type Node = Record<string, unknown>;

interface EnvoyFilter {
  readonly spec: { readonly configPatches: { applyTo: string; patch: { operation: string; value: Node } }[] };
}
interface EnvoyPatchPolicy {
  readonly spec: {
    readonly jsonPatches: {
      type: string;
      name: string;
      operation: { op: string; path: string; value: unknown };
    }[];
  };
}

function readConfig(example: string): Config {
  const file = join(EXAMPLES, example, "gateway.yaml");
  return parseConfig(readFileSync(file, "utf8"), { baseDir: "/etc", source: file, secrets: "none" });
}

function readExample(path: string): unknown {
  return parse(readFileSync(join(EXAMPLES, path), "utf8"));
}

/** A proxy that has nothing but what the EnvoyFilter gives it. */
function assembleIstio(): Node {
  const { configPatches } = (readExample("istio/envoy-filter.yaml") as EnvoyFilter).spec;
  const valuesOf = (applyTo: string) =>
    configPatches.filter((one) => one.applyTo === applyTo).map(({ patch }) => patch.value);
  return {
    node: { id: "proxy", cluster: "proxy" },
    ...Object.assign({}, ...valuesOf("BOOTSTRAP")),
    static_resources: { listeners: valuesOf("LISTENER"), clusters: valuesOf("CLUSTER") },
  };
}

/** The listener as Envoy Gateway makes it for `protocol: HTTP`, as far as it matters here, with the patches applied. */
function assembleEnvoyGateway(): Node {
  const { jsonPatches } = (readExample("envoy-gateway/envoy-patch-policy.yaml") as EnvoyPatchPolicy).spec;
  const clusters = jsonPatches
    .filter(({ operation }) => operation.op === "add" && operation.path === "")
    .map(({ operation }) => operation.value);
  const valueAt = (path: string) =>
    jsonPatches.find(({ operation }) => operation.path === path)?.operation.value;
  const documents = readFileSync(join(EXAMPLES, "envoy-gateway/gateway-resources.yaml"), "utf8").split(
    "---\n",
  );
  const proxy = documents
    .map(
      (text) =>
        parse(text) as {
          kind?: string;
          spec: { bootstrap: { jsonPatches: { path: string; value: unknown }[] } };
        },
    )
    .find(({ kind }) => kind === "EnvoyProxy");
  const staticLayer: Node = {};
  const topLevel: Node = {};
  for (const { path, value } of proxy?.spec.bootstrap.jsonPatches ?? []) {
    const steps = path.split("/").slice(1);
    const target = steps[0] === "layered_runtime" ? staticLayer : topLevel;
    target[steps.at(-1) ?? ""] = value;
  }
  return {
    node: { id: "proxy", cluster: "proxy" },
    layered_runtime: { layers: [{ name: "global_config", static_layer: staticLayer }] },
    ...topLevel,
    static_resources: {
      listeners: [
        {
          name: "http",
          address: { socket_address: { address: "127.0.0.1", port_value: 10080 } },
          per_connection_buffer_limit_bytes: valueAt("/per_connection_buffer_limit_bytes"),
          default_filter_chain: { name: "http", filters: valueAt("/default_filter_chain/filters") },
        },
      ],
      clusters,
    },
  };
}

describe("deploy/examples", () => {
  it.each([
    ["istio", assembleIstio],
    ["envoy-gateway", assembleEnvoyGateway],
  ])(
    "%s: the configuration that Envoy gets is accepted by Envoy and keeps every promise",
    async (name, assemble) => {
      const scratch = mkdtempSync(join(tmpdir(), "igw-examples-"));
      try {
        const secrets = join(scratch, "secrets");
        mkdirSync(secrets);
        writeFileSync(join(secrets, "local.yaml"), "resources: []\n");
        const text = stringify(assemble()).replaceAll("/run/inference-gateway/secrets", secrets);
        expect(checkBootstrap(text, readConfig(name))).toEqual([]);
        const file = join(scratch, "envoy.yaml");
        writeFileSync(file, text);
        const { stdout, stderr } = await promisify(execFile)(findEnvoy(), ["--mode", "validate", "-c", file]);
        expect(stdout + stderr).toContain("OK");
      } finally {
        rmSync(scratch, { recursive: true, force: true });
      }
    },
  );

  it.each(["istio", "envoy-gateway"])("%s says that it was not run in a cluster", (name) => {
    expect(readFileSync(join(EXAMPLES, name, "kustomization.yaml"), "utf8")).toContain(
      "NOT run in a cluster",
    );
  });
});
