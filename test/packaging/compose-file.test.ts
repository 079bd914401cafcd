/** `docker-compose.yml` and what it mounts, as they stand: what needs no engine. */
import { readFileSync, statSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { parseConfig } from "../../src/config/load.ts";

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
const read = (path: string): string => readFileSync(`${REPOSITORY}${path}`, "utf8");

interface Service {
  readonly command?: readonly string[];
  readonly volumes?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}
const { services } = parse(read("docker-compose.yml"), { merge: true }) as {
  services: Readonly<Record<string, Service>>;
};
const mounts = Object.entries(services).flatMap(([service, { volumes = [] }]) =>
  volumes
    .filter((volume) => volume.startsWith("./"))
    .map((volume) => {
      const [source = "", target = "", mode = ""] = volume.split(":");
      return { service, source, target, mode };
    }),
);
const configuration = read("deploy/compose/gateway.yaml");
const parsed = (text: string) => parseConfig(text, { baseDir: "/etc/inference-gateway", secrets: "none" });

describe("docker-compose.yml", () => {
  it("mounts folders alone, read-only: a file would stay the one that an editor has replaced", () => {
    expect(mounts.map(({ service, source, target }) => `${service}: ${source} ${target}`).sort()).toEqual([
      "bootstrap: ./deploy/compose /etc/inference-gateway",
      "bootstrap: ./deploy/credentials /etc/gateway-secrets",
      "gateway: ./deploy/compose /etc/inference-gateway",
    ]);
    expect(mounts.filter(({ mode }) => mode !== "ro")).toEqual([]);
    expect(mounts.filter(({ source }) => !statSync(`${REPOSITORY}${source}`).isDirectory())).toEqual([]);
  });

  it("names the configuration that lies in the folder that it mounts", () => {
    for (const name of ["bootstrap", "gateway"]) {
      const option = services[name]?.command?.find((word) => word.startsWith("--config="));
      expect(option).toBe("--config=/etc/inference-gateway/gateway.yaml");
    }
    expect(parsed(configuration).catalog.map(({ id }) => id)).toEqual(["demo/echo"]);
  });

  it("has a place for credentials, in which the example's lies and from which Git takes nothing", () => {
    const example = configuration.replace(/^( +)# (- \{ name: local)/m, "$1$2");
    expect(parsed(example).upstreams.map(({ name }) => name)).toEqual(["local", "demo"]);
    const { upstreams } = parse(example) as { upstreams: { credential?: { file: string } }[] };
    const place = mounts.find(({ source }) => source === "./deploy/credentials");
    expect(upstreams[0]?.credential).toEqual({ file: posix.join(place?.target ?? "", "local") });
    expect(read("deploy/credentials/.gitignore").split("\n")).toEqual(
      expect.arrayContaining(["*", "!.gitignore"]),
    );
  });

  it("asks the gateway for its health where the configuration has it", () => {
    const { admin } = parsed(configuration);
    expect(services["gateway"]?.environment?.["IGW_HEALTH_URL"]).toBe(
      `http://127.0.0.1:${admin.healthPort}/readyz`,
    );
  });
});
