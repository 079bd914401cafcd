/** What the documents show of YAML and name of its fields: pieces of gateway.yaml, values of the chart, services of compose. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { parse, parseAllDocuments, stringify } from "yaml";
import { parseConfig } from "../../src/shared/config/load.ts";
import { listCodeBlocks, listCodeSpans } from "../support/documents.ts";
import { listFields } from "../unit/config/field-reference.ts";
import { checkTool, run } from "./find-tool.ts";

type Fields = Readonly<Record<string, unknown>>;

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const HELM = process.env["HELM_BIN"] ?? "helm";
const { missing } = checkTool(HELM, ["version"], "REQUIRE_HELM");
const readYaml = (path: string): Fields => parse(readFileSync(`${ROOT}${path}`, "utf8")) as Fields;
const VALUES = readYaml("deploy/helm/values.yaml");
const COMPOSE_TEXT = readFileSync(`${ROOT}docker-compose.yml`, "utf8");
const COMPOSE = (parse(COMPOSE_TEXT, { merge: true }) as { services: Record<string, { command?: string[] }> })
  .services;
const FIELDS = listFields().map(({ path }) => path);
const SECTIONS = new Set(FIELDS.map((path) => path.split(/[.[]/)[0]));

/** Which file a block is a piece of, by the keys that it begins with. */
function kindOf(piece: Fields): string {
  const keys = Object.keys(piece);
  const isOf = (known: (key: string) => boolean): boolean => keys.every(known);
  if (isOf((key) => SECTIONS.has(key))) return "gateway.yaml";
  if (isOf((key) => key in VALUES)) return "values.yaml";
  if (isOf((key) => key === "services")) return "compose";
  if (isOf((key) => ["scrape_configs", "rule_files"].includes(key))) return "prometheus.yml";
  if (isOf((key) => key === "typed_per_filter_config")) return "envoy.yaml";
  if (isOf((key) => ["apiVersion", "kind", "metadata", "spec"].includes(key))) return "Kubernetes";
  return `nothing that is known: ${keys.join(", ")}`;
}

const BLOCKS = listCodeBlocks()
  .filter(({ language }) => language === "yaml")
  .map(({ page, text }) => {
    const piece = parse(text) as Fields;
    return { page, piece, kind: kindOf(piece), begins: text.trim().split("\n").slice(0, 2).join(" ") };
  });
const blocksOf = (wanted: string) => BLOCKS.filter(({ kind }) => kind === wanted);

interface Jwt {
  readonly providers: readonly { readonly audiences: readonly string[] }[];
}

interface RouteSpec {
  readonly rules: readonly {
    readonly http?: {
      readonly paths: readonly {
        readonly backend: {
          readonly service: { readonly name: string; readonly port: { readonly number: number } };
        };
      }[];
    };
    readonly backendRefs?: readonly { readonly name: string; readonly port: number }[];
  }[];
}

interface PodSpec {
  readonly containers: readonly { readonly volumeMounts: readonly { readonly name: string }[] }[];
  readonly volumes: readonly {
    readonly name: string;
    readonly projected: {
      readonly sources: readonly { readonly serviceAccountToken: { readonly audience: string } }[];
    };
  }[];
}

/** What the smallest file has, where a piece says nothing of it. */
const SMALLEST = {
  upstreams: [{ name: "smallest", url: "http://127.0.0.1:8000" }],
  catalog: [
    {
      id: "acme/smallest",
      upstream: "smallest",
      context_window: 1000,
      max_output_tokens: 100,
      prices: { USD: { input: "1", output: "1" } },
    },
  ],
};

function complete({ upstreams = [], catalog = SMALLEST.catalog, ...others }: Fields): object {
  const isWhole = catalog !== SMALLEST.catalog;
  const all = isWhole ? upstreams : [...SMALLEST.upstreams, ...(upstreams as object[])];
  return { ...others, upstreams: all, catalog };
}

describe("YAML in the documents", () => {
  it("is of a file that a test knows", () => {
    expect([...new Set(BLOCKS.map(({ kind }) => kind))].sort()).toEqual([
      "Kubernetes",
      "compose",
      "envoy.yaml",
      "gateway.yaml",
      "prometheus.yml",
      "values.yaml",
    ]);
  });

  it.each(blocksOf("gateway.yaml"))("is a piece of a valid gateway.yaml: $page, $begins", ({ piece }) => {
    const parsed = () =>
      parseConfig(stringify(complete(piece)), { baseDir: "/etc/gateway", env: {}, secrets: "none" });
    expect(parsed).not.toThrow();
  });

  const isPod = ({ piece }: { readonly piece: Fields }): boolean => piece["kind"] === "Pod";

  it.each(blocksOf("Kubernetes").filter((block) => !isPod(block)))(
    "leads to the Service of the chart: $page, $begins",
    ({ piece }) => {
      const { kind, spec } = piece as { kind: string; spec: RouteSpec };
      const targets = spec.rules.flatMap(({ http, backendRefs = [] }) => [
        ...(http?.paths ?? []).map(({ backend }) => ({
          name: backend.service.name,
          port: backend.service.port.number,
        })),
        ...backendRefs,
      ]);
      expect(["Ingress", "HTTPRoute"]).toContain(kind);
      // The page installs the release `gateway`, whose name is the Service's.
      expect(targets).toEqual([{ name: "gateway", port: (VALUES["service"] as { port: number }).port }]);
    },
  );

  it.each(blocksOf("Kubernetes").filter(isPod))(
    "is a pod with a token that the page's gateway takes: $page",
    ({ page, piece }) => {
      const { spec } = piece as { spec: PodSpec };
      const volumes = spec.volumes.map(({ name }) => name);
      expect(spec.containers.flatMap(({ volumeMounts }) => volumeMounts.map(({ name }) => name))).toEqual(
        volumes,
      );
      const asked = spec.volumes.flatMap(({ projected }) =>
        projected.sources.map((one) => one.serviceAccountToken),
      );
      const taken = blocksOf("gateway.yaml")
        .filter((block) => block.page === page)
        .flatMap((block) => (block.piece["jwt"] as Jwt | undefined)?.providers ?? [])
        .flatMap(({ audiences }) => audiences);
      expect(asked.map(({ audience }) => taken.includes(audience))).toEqual([true]);
    },
  );

  it.each(blocksOf("compose"))("changes services of docker-compose.yml: $page, $begins", ({ piece }) => {
    const services = Object.entries(piece["services"] as typeof COMPOSE);
    for (const [name, { command = [] }] of services) {
      expect(Object.keys(COMPOSE)).toContain(name);
      expect(command).toEqual((COMPOSE[name]?.command ?? []).filter((argument) => argument !== "--demo"));
    }
  });

  it.skipIf(missing !== null).each(blocksOf("values.yaml"))(
    "is taken by the chart, whose gateway.yaml is then valid: $page, $begins",
    async ({ piece }) => {
      const folder = mkdtempSync(join(tmpdir(), "igw-values-"));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const file = join(folder, "values.yaml");
      writeFileSync(file, stringify(piece));
      const args = ["template", "gw", ".", "-f", "ci/small-values.yaml", "-f", file];
      const rendered = await run(HELM, args, { cwd: `${ROOT}deploy/helm` });
      expect(rendered).toMatchObject({ code: 0, stderr: "" });
      const config = parseAllDocuments(rendered.stdout)
        .map((document) => document.toJS() as { kind?: string; data?: Record<string, string> } | null)
        .find((manifest) => manifest?.kind === "ConfigMap")?.data?.["gateway.yaml"];
      const parsed = () => parseConfig(config ?? "", { baseDir: "/etc/gateway", secrets: "none" });
      expect(parsed).not.toThrow();
    },
  );
});

describe("fields that a sentence of the documents names", () => {
  /** Names of the management API, of a finding of `doctor` and of a span, which begin in the same way. */
  const OTHERS =
    /^(?:notifications\.(?:dashboard|emails|forecast|sudden_spend_percent|summary|webhook(?:\.\w+)?)|envoy\.filters|gateway\.request_id)$/;
  const names = listCodeSpans().filter(
    ({ text }) => /^[a-z_]\w*(?:\.\w+)+$/i.test(text) && !/\.(?:yaml|log)$/.test(text) && !OTHERS.test(text),
  );

  /** `a.b` of an object, null for what is not there. */
  const valueAt = (path: string): unknown =>
    path
      .split(".")
      .reduce<unknown>(
        (value, key) => (typeof value === "object" && value !== null ? (value as Fields)[key] : undefined),
        VALUES,
      );
  const isField = (path: string): boolean =>
    FIELDS.some((field) => {
      const plain = field.replaceAll("[]", "");
      return plain === path || plain.startsWith(`${path}.`);
    });

  it("are values of the chart or fields of gateway.yaml, where they begin as these do", () => {
    const asked = names.filter(({ text }) => {
      const [section = ""] = text.split(".");
      return section in VALUES || SECTIONS.has(section);
    });
    const unknown = asked.filter(({ text }) => valueAt(text) === undefined && !isField(text));
    expect(unknown).toEqual([]);
    expect(asked.length).toBeGreaterThan(50);
  });

  it("are services and variables of docker-compose.yml, where they are compose's", () => {
    const spans = listCodeSpans().filter(({ page }) => page === "docs/compose.md");
    const services = spans.flatMap(({ text }) =>
      text.startsWith("docker compose up") ? text.split(" ").filter((word) => /^[a-z]+$/.test(word)) : [],
    );
    const named = services.filter((word) => !["docker", "compose", "up"].includes(word));
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((name) => !(name in COMPOSE))).toEqual([]);
    const variables = spans
      .map(({ text }) => text)
      .filter((text) => /^IGW_(?:\w+_)?(?:PORT|VERSION|IMAGE)$/.test(text));
    expect(variables.length).toBeGreaterThan(3);
    expect(variables.filter((name) => !COMPOSE_TEXT.includes(`\${${name}:-`))).toEqual([]);
  });
});
