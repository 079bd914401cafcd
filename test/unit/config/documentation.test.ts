import { readFileSync } from "node:fs";

import { parse } from "yaml";
import { describe, expect, it } from "vitest";

import { parseConfig } from "../../../src/shared/config/load.ts";
import { MODEL_SERVERS } from "../../../src/shared/model-servers/presets.ts";
import { listFields, renderReference } from "./field-reference.ts";

const page = new URL("../../../docs/gateway-yaml.md", import.meta.url);
const text = readFileSync(page, "utf8");
const tasks = readFileSync(new URL("../../../docs/configuration.md", import.meta.url), "utf8");

const complete = readFileSync(
  new URL("../../../deploy/examples/every-field/gateway.yaml", import.meta.url),
  "utf8",
);
const minimal = /<!-- example: minimal -->\n```yaml\n(.*?)```/s.exec(tasks)?.[1] ?? "";

/** Paths of all values, "catalog[].prices.<currency>.input". */
function pathsOf(value: unknown, path = ""): string[] {
  if (Array.isArray(value)) {
    const members = value.flatMap((item) => pathsOf(item, `${path}[]`));
    return members.every((member) => member === `${path}[]`) ? [path] : members;
  }
  if (typeof value !== "object" || value === null) return [path];
  return Object.entries(value).flatMap(([key, member]) => {
    const step = /^[A-Z]{3}$/.test(key) ? "<currency>" : key;
    // A credential's reference stands among fields of its own; elsewhere the field is the secret itself.
    return (step === "env" || step === "file") && !path.endsWith(".credential")
      ? [path]
      : pathsOf(member, path === "" ? step : `${path}.${step}`);
  });
}

/** Some fields are described as a whole: their members are in their description. */
function isWithin(path: string, field: string): boolean {
  return path.startsWith(`${field}.`) || path.startsWith(`${field}[`);
}

function renderServers(): string {
  const rows = Object.entries(MODEL_SERVERS).map(([name, { title, upstream, profile }]) => {
    const cells = [upstream, profile].map((fields) =>
      Object.entries(fields)
        .map(([field, value]) => `\`${field}: ${formatValue(value)}\``)
        .join(", "),
    );
    return `| \`${name}\` | ${title} | ${cells.join(" | ")} |`;
  });
  return [
    "| `server` | what it is | of the upstream | of its models' `profile` |",
    "|---|---|---|---|",
    ...rows,
  ].join("\n");
}

function formatValue(value: unknown): string {
  return Array.isArray(value) ? `[${value.join(", ")}]` : String(value);
}

describe("docs/gateway-yaml.md", () => {
  it("has a reference that equals the schema: every field, default and unit (vitest -u renews it)", async () => {
    const reference = renderReference(listFields());
    const renewed = text.replace(
      /(<!-- reference: begin -->\n).*(<!-- reference: end -->)/s,
      (_, begin: string, end: string) => `${begin}\n${reference}\n\n${end}`,
    );
    await expect(renewed).toMatchFileSnapshot(page.pathname);
  });

  it("lists what the names of model servers set (vitest -u renews it)", async () => {
    const renewed = text.replace(
      /(<!-- model servers: begin -->\n).*(<!-- model servers: end -->)/s,
      (_, begin: string, end: string) => `${begin}\n${renderServers()}\n\n${end}`,
    );
    await expect(renewed).toMatchFileSnapshot(page.pathname);
  });

  it("describes every field in a sentence", () => {
    const undescribed = listFields().filter((row) => row.meaning === "");
    expect(undescribed).toEqual([]);
  });

  it.each(Object.entries({ minimal, complete }))("has a valid %s example", (_name, yaml) => {
    const config = parseConfig(yaml, { baseDir: "/etc/gateway", env: {}, secrets: "none" });
    expect(config.catalog.length).toBeGreaterThan(0);
  });

  it("shows every field in the complete example, but for those that exclude each other", () => {
    // Prices are one block, or a list of them.
    const paths = pathsOf(parse(complete)).map((path) => path.replace("<currency>[]", "<currency>"));
    const missing = listFields()
      .map((row) => row.path)
      .filter((path) => !paths.some((one) => one === path || isWithin(one, path)));
    expect(missing).toEqual([
      "sidecar.tcp.host",
      "sidecar.tcp.port",
      "sidecar.tcp.allow_plaintext",
      "sidecar.tls.ca_file",
      "sidecar.tls.server_cert_file",
      "sidecar.tls.server_key_file",
      "sidecar.tls.server_name",
      "sidecar.tls.client_cert_file",
      "sidecar.tls.client_key_file",
      "sidecar.tls.client_name",
      "redis.url",
      "redis.cluster",
      "redis.sentinel_password",
      "redis.ca_file",
      "redis.cert_file",
      "redis.key_file",
      "upstreams[].urls",
      "upstreams[].credentials",
      "upstreams[].gcp_authn",
      "catalog[].profile.images",
      "catalog[].profile.files",
      "catalog[].profile.system_mid",
      "jwt.providers[].jwks.file",
      "jwt.providers[].organization",
    ]);
  });
});
