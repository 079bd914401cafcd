/** `docker compose up` on a real container engine: the image, and a gateway that works. */
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { GenericContainer, type StartedTestContainer } from "testcontainers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRedisClient, waitUntilReady } from "../../src/data-path/store/redis/client.ts";
import { createStore } from "../../src/data-path/store/redis-store.ts";
import { findFreePort } from "../support/free-port.ts";
import { send } from "../support/http.ts";
import { createTestKey } from "../support/test-key.ts";
import { waitFor } from "../support/wait.ts";
import { checkImage, checkTool, run } from "./find-tool.ts";

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
const BUILD_TIMEOUT_MS = 600_000;
const NODE_IMAGE = process.env["IGW_NODE_IMAGE"] ?? "node:26-slim";
const ENVOY_IMAGE = process.env["IGW_ENVOY_IMAGE"] ?? "envoyproxy/envoy:v1.40.0";
const REDIS_IMAGE = process.env["IGW_REDIS_IMAGE"] ?? "redis:7-alpine";
const missing = [
  checkTool("docker", ["version"], "REQUIRE_CONTAINERS").missing,
  checkTool("docker", ["compose", "version"], "REQUIRE_CONTAINERS").missing,
  ...[NODE_IMAGE, ENVOY_IMAGE, REDIS_IMAGE].map((image) => checkImage(image, "REQUIRE_CONTAINERS").missing),
].find((one) => one !== null);
const project = `igw-${randomBytes(4).toString("hex")}`;

describe.skipIf(missing !== undefined)("docker compose up", () => {
  let env: NodeJS.ProcessEnv;
  let baseUrl: string;
  let adminUrl: string;

  const compose = (args: readonly string[], timeoutMs = 60_000) =>
    run("docker", ["compose", "-p", project, ...args], { cwd: REPOSITORY, env, timeoutMs });
  const inGateway = async (...command: string[]) => compose(["exec", "-T", "gateway", ...command]);
  const readFile = async (path: string) =>
    (await inGateway("node", "-p", `require("fs").readFileSync("${path}", "utf8")`)).stdout.trim();

  /** Envoy's image has nothing to ask its own port with: `--wait` ends when it has been started. */
  const waitUntilServed = () => {
    const isReady = () =>
      send(baseUrl, { path: "/readyz", timeoutMs: 2_000 }).then(
        ({ status }) => status === 200,
        () => false,
      );
    return waitFor("the gateway to be ready", isReady, { timeoutMs: 60_000, intervalMs: 100 });
  };

  beforeAll(async () => {
    const [port, adminPort] = [await findFreePort(), await findFreePort()];
    env = { ...process.env, IGW_PORT: String(port), IGW_ADMIN_PORT: String(adminPort), IGW_VERSION: project };
    baseUrl = `http://127.0.0.1:${port}`;
    adminUrl = `http://127.0.0.1:${adminPort}`;
    const build = await compose(["build"], BUILD_TIMEOUT_MS);
    if (build.code !== 0) throw new Error(build.stderr.slice(-4_000));
    // `--wait` counts the bootstrap, which is meant to end, as a failure in some versions: readiness is asked below.
    await compose(["up", "-d", "--wait"], 180_000);
    await waitUntilServed();
  }, BUILD_TIMEOUT_MS + 200_000);
  afterAll(async () => {
    if (env === undefined) return;
    await compose(["down", "-v", "--timeout", "10"], 120_000);
    await run("docker", ["image", "rm", `inference-gateway:${project}`]);
  }, 150_000);

  it("serves: ready, and a request with the demo key is answered", async () => {
    expect((await send(baseUrl, { path: "/readyz" })).status).toBe(200);
    const key = await readFile("/var/lib/inference-gateway/demo-key");
    const body = { model: "demo/echo", messages: [{ role: "user", content: "hello" }] };
    const headers = { authorization: `Bearer ${key}` };
    const answer = await send(baseUrl, { path: "/v1/chat/completions", headers, body });
    expect(answer.status).toBe(200);
    expect(answer.text).toContain("hello");
    expect((await send(baseUrl, { path: "/v1/chat/completions", body })).status).toBe(401);
  });

  it("counts tokens: the tokenizer is in the image", async () => {
    const key = await readFile("/var/lib/inference-gateway/demo-key");
    const body = { model: "demo/echo", messages: [{ role: "user", content: "hello big world" }] };
    const headers = { "x-api-key": key, "anthropic-version": "2023-06-01" };
    const count = async () =>
      (await send(baseUrl, { path: "/v1/messages/count_tokens", headers, body })).json()["input_tokens"];
    // It loads with the first text; until it has, the bytes say four.
    const counted = await waitFor("a count that is not by bytes", async () => {
      const tokens = await count();
      return tokens !== 4 && tokens;
    });
    expect(counted).toBe(3);
  });

  it("stays small: all that the image adds to Node is below 40 MB", async () => {
    const size = async (image: string) =>
      Number((await run("docker", ["image", "inspect", "--format", "{{.Size}}", image])).stdout);
    expect((await size(`inference-gateway:${project}`)) - (await size(NODE_IMAGE))).toBeLessThan(40_000_000);
  });

  it("has the admin server, for the operator's token only", async () => {
    expect((await send(adminUrl, { path: "/healthz" })).status).toBe(200);
    const token = await readFile("/var/lib/inference-gateway/operator-token");
    const ask = (headers: Record<string, string>) => send(adminUrl, { path: "/api/organizations", headers });
    expect((await ask({ authorization: `Bearer ${token}` })).status).toBe(200);
    expect((await ask({})).status).toBe(401);
  });

  it("runs as a user without rights on a root file system that nobody can write", async () => {
    const script = `
      const caps = /CapEff:\\s*(\\w+)/.exec(require("fs").readFileSync("/proc/self/status", "utf8"))[1];
      let write = "written";
      try { require("fs").writeFileSync("/app/x", ""); } catch (error) { write = error.code; }
      console.log(JSON.stringify({ uid: process.getuid(), caps: Number.parseInt(caps, 16), write }));`;
    const { stdout } = await inGateway("node", "-e", script);
    expect(JSON.parse(stdout)).toEqual({ uid: 1000, caps: 0, write: "EROFS" });
  });

  it("carries production packages only, and nothing of the repository but what runs", async () => {
    const script = `console.log(JSON.stringify([require("fs").readdirSync("/app"), require("fs").readdirSync("/app/node_modules")]))`;
    const [app, packages] = JSON.parse((await inGateway("node", "-e", script)).stdout) as [
      string[],
      string[],
    ];
    expect(app.sort()).toEqual(["LICENSE", "dist", "node_modules", "package.json", "proto"]);
    expect(packages).toContain("ioredis");
    expect(
      packages.filter((name) => ["typescript", "vitest", "testcontainers", "oxlint"].includes(name)),
    ).toEqual([]);
  });

  it("keeps keys and spend over a restart of everything", async () => {
    const key = await readFile("/var/lib/inference-gateway/demo-key");
    await compose(["restart", "redis", "gateway", "envoy"], 120_000);
    await compose(["up", "-d", "--wait"], 120_000);
    await waitUntilServed();
    const answer = await send(baseUrl, { path: "/v1/key", headers: { authorization: `Bearer ${key}` } });
    expect(answer.status).toBe(200);
  });

  it("ends in order: the gateway settles and exits with 0", async () => {
    await compose(["stop", "gateway"], 60_000);
    const { stdout } = await compose(["ps", "-a", "--format", "json", "gateway"]);
    expect(stdout).toContain('"ExitCode":0');
  });
});

describe.skipIf(missing !== undefined)("a Redis in a container", () => {
  let container: StartedTestContainer;
  beforeAll(async () => {
    // No second container that tidies up: the engine may not be able to pull it, and afterAll stops this one.
    process.env["TESTCONTAINERS_RYUK_DISABLED"] ??= "true";
    container = await new GenericContainer(REDIS_IMAGE).withExposedPorts(6379).start();
  }, 120_000);
  afterAll(() => container?.stop());

  it("takes the store's scripts: keys are admitted until the bucket is empty", async () => {
    const url = `redis://${container.getHost()}:${container.getMappedPort(6379)}`;
    const client = createRedisClient({ url, commandTimeoutMs: 5_000, onError: () => undefined });
    try {
      await waitUntilReady(client, 10_000);
      const store = createStore({ client, usageMonths: 13 });
      const { id, organizationId, key } = await createTestKey(store, { requestsPerMinute: 3 });
      const { hashKey } = await import("../../src/data-path/auth/key-format.ts");
      const ask = (request: number) =>
        store.admit({
          organizationId,
          keyId: id,
          presentedHash: hashKey(key),
          requestId: `req_${request}`,
          route: "POST /v1/chat/completions",
          bucket: "requests",
          metered: true,
          promptTokens: 0,
        });
      const decisions: string[] = [];
      for (let request = 0; request < 50; request += 1) decisions.push((await ask(request)).decision);
      expect(decisions[0]).toBe("admitted");
      expect(decisions.at(-1)).toBe("rate_limited");
    } finally {
      client.disconnect();
    }
  });
});
