/** `docker-compose.yml` and what it mounts, as they stand: what needs no engine. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { parseConfig } from "../../src/shared/config/load.ts";

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
const read = (path: string): string => readFileSync(`${REPOSITORY}${path}`, "utf8");

interface Service {
  readonly command?: readonly string[];
  readonly volumes?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly entrypoint?: readonly string[];
  readonly networks?: readonly string[];
  readonly logging?: unknown;
}
const { services, networks } = parse(read("docker-compose.yml"), { merge: true }) as {
  services: Readonly<Record<string, Service>>;
  networks: Readonly<Record<string, { internal?: boolean }>>;
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

  it("has Redis on a network with the gateway only, which leads nowhere else", () => {
    const onStore = Object.entries(services).filter(([, { networks: of = ["default"] }]) =>
      of.includes("store"),
    );
    expect(onStore.map(([name]) => name).sort()).toEqual(["gateway", "redis"]);
    expect(services["redis"]?.networks).toEqual(["store"]);
    expect(networks["store"]).toEqual({ internal: true });
  });

  it("makes Redis a password once, which Redis wants and the gateway's configuration names", () => {
    const folder = mkdtempSync(join(tmpdir(), "igw-compose-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [command = "", ...options] = services["redis-password"]?.entrypoint ?? [];
    expect(command).toBe("node");
    // Compose reads $$ as $.
    const args = options.map((option) =>
      option.replaceAll("$$", "$").replace("/run/inference-gateway", folder),
    );
    const make = (): string[] => {
      execFileSync(process.execPath, args);
      return ["password", "redis.conf"].map((name) => readFileSync(join(folder, name), "utf8"));
    };
    const [password = "", conf] = make();
    expect(password).toMatch(/^[0-9a-f]{64}$/);
    expect(conf).toBe(`requirepass ${password}\n`);
    expect(make()).toEqual([password, conf]);
    expect(statSync(join(folder, "password")).mode & 0o007).toBe(0);
    expect(services["redis"]?.command?.slice(0, 2)).toEqual([
      "redis-server",
      "/run/redis-password/redis.conf",
    ]);
    const { redis } = parse(configuration) as { redis: { password: unknown } };
    expect(redis.password).toEqual({ file: "/run/redis-password/password" });
    const readers = Object.entries(services).filter(([, { volumes = [] }]) =>
      volumes.some((volume) => volume.startsWith("redis-password:")),
    );
    expect(readers.map(([name]) => name).sort()).toEqual(["gateway", "redis", "redis-password"]);
  });

  it("bounds what each service logs", () => {
    for (const { logging } of Object.values(services)) {
      expect(logging).toEqual({ driver: "json-file", options: { "max-size": "32m", "max-file": "2" } });
    }
  });

  it("asks the gateway for its health where the configuration has it", () => {
    const { admin } = parsed(configuration);
    expect(services["gateway"]?.environment?.["IGW_HEALTH_URL"]).toBe(
      `http://127.0.0.1:${admin.healthPort}/readyz`,
    );
  });
});
