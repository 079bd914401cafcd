import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { parseConfig } from "../../../src/shared/config/load.ts";
import { checkBootstrap } from "../../../src/envoy/check-bootstrap/check-bootstrap.ts";
import { renderBootstrap } from "../../../src/envoy/bootstrap/render-bootstrap.ts";
import { writeUpstreamSecrets } from "../../../src/envoy/bootstrap/upstream-secrets.ts";

const BASE = `
upstreams: [{name: local, url: "http://127.0.0.1:8000"}]
catalog:
  - {id: a/b, upstream: local, context_window: 1000, max_output_tokens: 10, prices: {USD: {input: "1", output: "1"}}}
`;
const PROVIDER = "name: corp, issuer: 'https://login.example.com', audiences: [gateway], organization: org_1";
const JWT = `
jwt:
  providers:
    - {${PROVIDER}, jwks: {url: "https://login.example.com/keys", refresh_minutes: 2, ca_file: ca.pem, token_file: token}}
    - {${PROVIDER.replace("corp", "local")}, jwks: {file: keys.json}}
`;

const configOf = (text: string) => parseConfig(text, { baseDir: "/etc/igw", env: {} });
const render = (text: string) => renderBootstrap(configOf(text), { systemCaFile: "/ca.pem" });
const CONFIG = configOf(BASE + JWT);
const RENDERED = render(BASE + JWT);

interface Filter {
  readonly name: string;
  readonly typed_config: Record<string, unknown>;
}
interface Bootstrap {
  readonly static_resources: {
    listeners: [{ filter_chains: [{ filters: [{ typed_config: { http_filters: Filter[] } }] }] }];
    clusters: { name: string; [field: string]: unknown }[];
  };
}

const filtersOf = (bootstrap: Bootstrap) =>
  bootstrap.static_resources.listeners[0].filter_chains[0].filters[0].typed_config.http_filters;

describe("providers of tokens in the bootstrap", () => {
  it("are a filter directly before ext_authz, its metadata and clusters, and nothing else", () => {
    const plain = parse(render(BASE)) as Bootstrap;
    const bootstrap = parse(RENDERED) as Bootstrap;
    const filters = filtersOf(bootstrap);
    const place = filters.findIndex(({ name }) => name === "envoy.filters.http.jwt_authn");
    const admission = filters[place + 1];
    expect(admission?.name).toBe("envoy.filters.http.ext_authz");
    expect(admission?.typed_config["metadata_context_namespaces"]).toEqual(["envoy.filters.http.jwt_authn"]);
    expect(bootstrap.static_resources.clusters.map(({ name }) => name)).toContain("jwks.corp");
    delete admission?.typed_config["metadata_context_namespaces"];
    filters.splice(place, 1);
    bootstrap.static_resources.clusters = bootstrap.static_resources.clusters.filter(
      ({ name }) => !name.startsWith("jwks."),
    );
    expect(bootstrap).toEqual(plain);
  });

  it("meet only what looks like a token, by one provider of Envoy's for each header", () => {
    const filter = filtersOf(parse(RENDERED) as Bootstrap).find(({ name }) => name.endsWith("jwt_authn"));
    const { providers, rules } = (filter?.typed_config ?? {}) as unknown as {
      providers: Record<string, Record<string, unknown>>;
      rules: { match: { headers: unknown[] }; requires: unknown }[];
    };
    expect(Object.keys(providers)).toEqual(["corp", "local", "corp.x-api-key", "local.x-api-key"]);
    expect(providers["corp"]).toMatchObject({
      issuer: "https://login.example.com",
      audiences: ["gateway"],
      require_expiration: true,
      clock_skew_seconds: 30,
      payload_in_metadata: "verified.corp",
      failed_status_in_metadata: "failed.corp",
      remote_jwks: {
        http_uri: { uri: "https://login.example.com/keys", cluster: "jwks.corp" },
        cache_duration: "120s",
        async_fetch: { failed_refetch_duration: "1s" },
      },
    });
    expect(providers["corp"]).not.toHaveProperty("jwt_cache_config");
    expect(providers["local.x-api-key"]).toMatchObject({
      from_headers: [{ name: "x-api-key" }],
      local_jwks: { filename: "/etc/igw/keys.json" },
    });
    expect(rules.map(({ match }) => match.headers[0])).toEqual([
      { name: "authorization", string_match: { safe_regex: { regex: "[Bb][Ee][Aa][Rr][Ee][Rr] +eyJ.*" } } },
      { name: "x-api-key", string_match: { prefix: "eyJ" } },
    ]);
    for (const { match } of rules) expect(JSON.stringify(match.headers[1])).toContain("#text <= 16384");
    expect(JSON.stringify(rules)).toContain("allow_missing_or_failed");
  });

  it("fetch their keys over verified TLS, with a token that is read from its file and written nowhere", async () => {
    const folder = mkdtempSync(join(tmpdir(), "igw-secrets-"));
    await writeUpstreamSecrets(configOf(BASE + JWT), folder);
    const secret = parse(readFileSync(join(folder, "_jwks_token_corp.yaml"), "utf8")) as {
      resources: { generic_secret: unknown }[];
    };
    expect(secret.resources[0]?.generic_secret).toEqual({ secret: { filename: "/etc/igw/token" } });
    const { clusters } = (parse(RENDERED) as Bootstrap).static_resources;
    const cluster = JSON.stringify(clusters.find(({ name }) => name === "jwks.corp"));
    expect(cluster).toContain('"sni":"login.example.com"');
    expect(cluster).toContain("_upstream_authorities_jwks.corp.yaml");
    expect(cluster).toContain("credential_injector");
  });

  it("break no check of an Envoy configuration", () => {
    expect(checkBootstrap(RENDERED, CONFIG)).toEqual([]);
  });

  it.each([
    [
      "the filter missing",
      (text: string) => text.replace(/jwt_authn\.v3\.JwtAuthentication/, "cors.v3.Cors"),
    ],
    [
      "the filter behind ext_authz",
      (text: string) =>
        text.replace(
          /( +- name: envoy\.filters\.http\.jwt_authn\n[\s\S]*?)( +# Who calls[\s\S]*?metadata_context_namespaces: .*\n)/,
          "$2$1",
        ),
    ],
    ["another audience", (text: string) => text.replace("audiences: [gateway]", "audiences: [any]")],
    ["a hard requirement", (text: string) => text.replaceAll("allow_missing_or_failed", "allow_missing")],
    ["tokens of any length", (text: string) => text.replaceAll("#text <= 16384", "true")],
    ["no look at `crit`", (text: string) => text.replace(/header_in_metadata: .*/, "")],
    ["the verdict not passed on", (text: string) => text.replace(/metadata_context_namespaces: .*/, "")],
  ])("are checked in an Envoy configuration of one's own: %s", (_name, edit) => {
    expect(edit(RENDERED)).not.toBe(RENDERED);
    expect(checkBootstrap(edit(RENDERED), CONFIG)).not.toEqual([]);
  });
});

describe("filters that write into the namespace of verified tokens", () => {
  const METADATA = "type.googleapis.com/envoy.extensions.filters.http";
  const rule = `{metadata_namespace: envoy.filters.http.jwt_authn, key: verified.corp}`;

  it.each([
    [
      "a header's text",
      `{name: a, typed_config: {"@type": ${METADATA}.header_to_metadata.v3.Config, request_rules: [{header: x, on_header_present: ${rule}}]}}`,
    ],
    [
      "a value",
      `{name: a, typed_config: {"@type": ${METADATA}.set_metadata.v3.Config, metadata: [${rule}]}}`,
    ],
    [
      "Lua",
      `{name: a, typed_config: {"@type": ${METADATA}.lua.v3.Lua, default_source_code: {inline_string: "h:streamInfo():dynamicMetadata():set('envoy.filters.http.jwt_authn', 'verified.corp', {})"}}}`,
    ],
    [
      "another filter of tokens",
      `{name: a, typed_config: {"@type": ${METADATA}.jwt_authn.v3.JwtAuthentication, providers: {}}}`,
    ],
    [
      "a service whose filter has its name",
      `{name: envoy.filters.http.jwt_authn, typed_config: {"@type": ${METADATA}.ext_authz.v3.ExtAuthz}}`,
    ],
  ])("are named: %s", (_name, filter) => {
    const text = RENDERED.replace(/( +)- name: envoy\.filters\.http\.ext_proc\n/, `$1- ${filter}\n$&`);
    expect(text).not.toBe(RENDERED);
    const place = text.slice(0, text.indexOf(filter)).split("\n").length;
    const found = checkBootstrap(text, CONFIG).filter(({ check }) => check === "token_metadata");
    expect(found).toMatchObject([{ line: place, message: expect.stringContaining("jwt_authn") as string }]);
  });
});

describe("`jwt` in gateway.yaml", () => {
  const refusal = (fields: string): string => {
    try {
      configOf(`${BASE}\njwt: {providers: [{${fields}}]}`);
    } catch (error) {
      return String(error);
    }
    return "";
  };
  const rest = "jwks: {url: 'https://a/b'}";

  it.each([
    [`${PROVIDER}, jwks: {url: 'http://login.example.com/keys'}`, /expected `https`/],
    [`${PROVIDER}, jwks: {}`, /either `url` or `file`, found neither/],
    [`${PROVIDER}, jwks: {url: 'https://a/b', file: c}`, /found both/],
    [`${PROVIDER}, jwks: {file: c, token_file: d}`, /only used with `url`/],
    [`${PROVIDER}, organization_claim: a, organizations: {b: org_1}, ${rest}`, /found both/],
    [`${PROVIDER.replace(", organization: org_1", "")}, ${rest}`, /found neither/],
    [`${PROVIDER.replace("organization: org_1", "organization_claim: a")}, ${rest}`, /used together/],
    [`${PROVIDER}, groups: [{equals: a, group: group_1}], ${rest}`, /groups_claim/],
    [`${PROVIDER.replace(", issuer: 'https://login.example.com'", "")}, ${rest}`, /issuer/],
    [`${PROVIDER.replace("[gateway]", "[]")}, ${rest}`, /at least 1/],
    [`${PROVIDER}, ${rest}}, {${PROVIDER}, ${rest}`, /`corp` occurs twice/],
    [`${PROVIDER}, clock_skew_seconds: 0, ${rest}`, /from 1 to 300/],
  ])("is refused with what is wrong: {%s}", (fields, says) => {
    expect(refusal(fields)).toMatch(says);
  });

  it("keeps names of claims as they are written", () => {
    const text = `${BASE}\njwt: {providers: [{${PROVIDER}, bound_claims: {tenant_id: a_b}, ${rest}}]}`;
    expect(configOf(text).jwt.providers[0]?.boundClaims).toEqual([{ name: "tenant_id", wanted: "a_b" }]);
  });
});
