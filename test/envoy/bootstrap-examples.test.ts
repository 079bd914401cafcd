/** The bootstraps in `envoy/`: renders of the configurations beside them, accepted by the real Envoy. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { parseConfig } from "../../src/shared/config/load.ts";
import { renderBootstrap } from "../../src/envoy/bootstrap/render-bootstrap.ts";
import { renderEnvoyFilter, renderEnvoyPatchPolicy } from "../../src/envoy/bootstrap/render-kubernetes.ts";
import { createTestAuthority } from "../support/tls.ts";
import { findEnvoy } from "./edge/envoy-binary.ts";

describe("envoy/*.yaml", () => {
  const folder = join(import.meta.dirname, "../../envoy");
  const examples = readdirSync(join(folder, "examples")).map((file) => file.replace(".gateway.yaml", ""));

  it.each(examples)("%s.yaml is the render of its example", async (name) => {
    await expect(renderExample(folder, name)).toMatchFileSnapshot(join(folder, `${name}.yaml`));
  });

  it.each(examples)("%s.yaml is accepted by Envoy", async (name) => {
    const scratch = mkdtempSync(join(tmpdir(), "igw-validate-"));
    try {
      const text = await prepareForValidation(scratch, renderExample(folder, name));
      const file = join(scratch, "envoy.yaml");
      writeFileSync(file, text);
      const { stdout, stderr } = await promisify(execFile)(findEnvoy(), ["--mode", "validate", "-c", file]);
      expect(stdout + stderr).toContain("OK");
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  });
});

describe("deploy/examples", () => {
  const examples = join(import.meta.dirname, "../../deploy/examples");

  it.each([
    ["istio/envoy-filter.yaml", renderEnvoyFilter],
    ["envoy-gateway/envoy-patch-policy.yaml", renderEnvoyPatchPolicy],
  ])("%s is the render of the gateway.yaml beside it", async (name, render) => {
    const path = join(examples, name);
    const source = join(dirname(path), "gateway.yaml");
    const config = parseConfig(readFileSync(source, "utf8"), { baseDir: "/etc", source, secrets: "none" });
    await expect(render(config)).toMatchFileSnapshot(path);
  });
});

function renderExample(folder: string, name: string): string {
  const file = join(folder, "examples", `${name}.gateway.yaml`);
  const config = parseConfig(readFileSync(file, "utf8"), { baseDir: folder, source: file, secrets: "none" });
  return renderBootstrap(config, { systemCaFile: "/etc/ssl/certs/ca-certificates.crt" });
}

/** Validation looks for the files that a configuration names: they are put into a scratch folder. */
async function prepareForValidation(scratch: string, text: string): Promise<string> {
  const authority = await createTestAuthority();
  await authority.close();
  const bundle = join(scratch, "ca.pem");
  writeFileSync(bundle, authority.ca);
  const secrets = join(scratch, "secrets");
  mkdirSync(secrets);
  for (const name of [
    "hosted",
    "replicas",
    "_sidecar_client_certificate",
    "_sidecar_authorities",
    "_upstream_authorities_replicas",
  ]) {
    writeFileSync(join(secrets, `${name}.yaml`), "resources: []\n");
  }
  return text
    .replaceAll("/run/inference-gateway/secrets", secrets)
    .replaceAll(/filename: [^}]*\.(?:pem|crt)/g, `filename: ${bundle}`);
}
