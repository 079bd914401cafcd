/** `serve`, Envoy and Redis as an operator runs them, each by itself: for tests that end one of them. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { stringify } from "yaml";
import { ensureEnvoy } from "../../../src/operation/setup/envoy.ts";
import { createToolContext } from "../../../src/operation/setup/tool-context.ts";
import { createRedisClient, waitUntilReady } from "../../../src/data-path/store/redis/client.ts";
import { createStore } from "../../../src/data-path/store/redis-store.ts";
import type { Store } from "../../../src/shared/stored/store.ts";
import { callCli } from "../../cli/call-cli.ts";
import { type Child, startChild } from "../../support/child.ts";
import { findFreePort } from "../../support/free-port.ts";
import { catalogEntry, mergeConfig, sidecarUnderTest } from "../../support/gateway-config.ts";
import { send } from "../../support/http.ts";
import { type PrivateRedis, startRedis } from "../../support/redis.ts";
import { waitFor } from "../../support/wait.ts";

const run = promisify(execFile);
const REPOSITORY = fileURLToPath(new URL("../../../", import.meta.url));
const MAIN = join(REPOSITORY, "dist/main.js");
const BUILD = join(REPOSITORY, "src/operation/setup/build-command.js");

export interface ServeAlone {
  readonly baseUrl: string;
  readonly adminUrl: string;
  readonly configFile: string;
  readonly sockets: string;
  readonly redis: PrivateRedis;
  readonly serve: Child;
  readonly store: Store;
  /** Ends what still runs. */
  stop(): Promise<void>;
}

export interface ServeAloneOptions {
  readonly upstreamUrl: string;
  readonly workers: number;
  readonly drainSeconds: number;
  readonly overrides?: object;
  /** The program that `serve` is, of another build; this checkout's when left out. */
  readonly main?: string;
  /** Redis is killed first: resolves when Envoy and the admin server answer, ready or not. */
  readonly isRedisAway?: boolean;
  /** What an operator has changed in the rendered bootstrap. */
  readonly editBootstrap?: (yaml: string) => string;
}

/** Starts Redis, `serve` and an Envoy of the rendered bootstrap; resolves when they serve. */
export async function startServeAlone(options: ServeAloneOptions): Promise<ServeAlone> {
  if (!process.env["IGW_SKIP_BUILD"]) await run(process.execPath, [BUILD]);
  const dir = await mkdtemp(join(tmpdir(), "igw-"));
  // Envoy may be the first that puts a socket there.
  await mkdir(join(dir, "run"), { mode: 0o700 });
  const configFile = join(dir, "gateway.yaml");
  const started: Child[] = [];
  const redis = await startRedis({ appendOnly: true });
  if (options.isRedisAway === true) redis.kill();
  const client = createRedisClient({ url: redis.url, commandTimeoutMs: 5_000, onError: () => undefined });
  const stop = async (): Promise<void> => {
    client.disconnect();
    for (const child of started.toReversed()) await child.stop(10_000);
    await redis.stop();
    await rm(dir, { recursive: true, force: true });
  };
  try {
    const port = await findFreePort();
    const adminPort = await findFreePort();
    await writeFile(configFile, stringify(createConfig(options, { port, adminPort, redisUrl: redis.url })));
    const seconds = String(options.drainSeconds);
    const args = [options.main ?? MAIN, "serve", "--config", configFile, "--drain-seconds", seconds];
    const serve = startChild(process.execPath, args, { cwd: dir });
    started.push(serve, await startEnvoy(configFile, dir, options.editBootstrap));
    const baseUrl = `http://127.0.0.1:${port}`;
    const adminUrl = `http://127.0.0.1:${adminPort}`;
    const isUp = async (): Promise<boolean> => {
      if (options.isRedisAway === true) return isAlive([baseUrl, adminUrl], started);
      // Workers answer a moment before `serve` is through with its start, and a start that is told to end drains nothing.
      return (await isAnswering(baseUrl, "/readyz", started)) && serve.stderr.includes('"msg":"ready"');
    };
    await waitFor("serve and Envoy", isUp, { timeoutMs: 40_000, intervalMs: 50 });
    if (options.isRedisAway !== true) await waitUntilReady(client, 10_000);
    const store = createStore({ client, usageMonths: 13 });
    return { baseUrl, adminUrl, configFile, sockets: join(dir, "run"), redis, serve, store, stop };
  } catch (thrown) {
    await stop();
    throw new Error(`${String(thrown)}\n${started.map((child) => child.stderr).join("\n")}`, {
      cause: thrown,
    });
  }
}

function createConfig(
  options: ServeAloneOptions,
  { port, adminPort, redisUrl }: { port: number; adminPort: number; redisUrl: string },
): object {
  const base = {
    listen: { host: "127.0.0.1", port },
    admin: { host: "127.0.0.1", port: adminPort },
    sidecar: { ...sidecarUnderTest(), workers: options.workers, sockets: "run" },
    redis: { url: redisUrl },
    upstreams: [{ name: "local", url: options.upstreamUrl, path_prefix: "/v1" }],
    catalog: [catalogEntry()],
  };
  return mergeConfig(base, options.overrides ?? {});
}

async function startEnvoy(
  configFile: string,
  dir: string,
  edit: (yaml: string) => string = (yaml) => yaml,
): Promise<Child> {
  const { stdout } = await callCli(["envoy", "render", "--write-secrets", "--config", configFile]);
  const bootstrap = join(dir, "envoy.yaml");
  await writeFile(bootstrap, edit(stdout));
  const { path } = await ensureEnvoy(createToolContext());
  return startChild(path, ["-c", bootstrap, "--disable-hot-restart", "--log-level", "warning"], { cwd: dir });
}

async function isAlive(urls: readonly string[], children: readonly Child[]): Promise<boolean> {
  for (const url of urls) {
    // Refused until it listens.
    if (!(await isAnswering(url, "/healthz", children).catch(() => false))) return false;
  }
  return true;
}

async function isAnswering(url: string, path: string, children: readonly Child[]): Promise<boolean> {
  const ended = children.find((child) => child.ended !== null);
  if (ended !== undefined) throw new Error(`ended (${ended.ended}): ${ended.stderr}`);
  return (await send(url, { path, timeoutMs: 5_000 })).status === 200;
}
