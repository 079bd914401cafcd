/**
 * The real stack for a test: Envoy, the gateway and Redis, as `inference-gateway up` starts them. What that launches them
 * with runs in the test's process: a process of its own would cost each stack half a second of a core.
 */
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import { resolveOperatorToken } from "../../src/operation/supervisor/secret-file.ts";
import { makePlan } from "../../src/operation/launcher/plan.ts";
import { Stack as LaunchedStack } from "../../src/operation/launcher/stack.ts";
import { prepareClone } from "../../src/operation/setup/prepare.js";
import {
  createRedisClient,
  type RedisClient,
  waitUntilReady,
} from "../../src/data-path/store/redis/client.ts";
import { createStore } from "../../src/data-path/store/redis-store.ts";
import type { Store } from "../../src/shared/stored/store.ts";
import type { KeySettings } from "../../src/shared/settings/key.ts";
import type { OrganizationSettings } from "../../src/shared/settings/organization.ts";
import { type Child, startChild } from "./child.ts";
import { findFreePort } from "./free-port.ts";
import {
  type CatalogEntry,
  catalogEntry,
  mergeConfig,
  sidecarUnderTest,
  type UpstreamEntry,
} from "./gateway-config.ts";
import { type CreatedKey, createTestKey } from "./test-key.ts";
import { type HttpAnswer, send, type SendOptions } from "./http.ts";

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
const ENTRY = join(REPOSITORY, "dist/main.js");
/** A first start installs and builds. */
export const START_TIMEOUT_MS = 180_000;
const KEPT_LOG_CHARACTERS = 6_000;

export interface StackOptions {
  readonly upstreams: readonly UpstreamEntry[];
  /** Default: `acme/echo-small` on the first upstream. */
  readonly catalog?: readonly CatalogEntry[];
  readonly workers?: number;
  /** Laid over the configuration, in the file's own words: `{limits: {max_body_bytes: 1000}}`. */
  readonly overrides?: object;
  /** Of the launcher, which is a process of its own then. */
  readonly env?: Readonly<Record<string, string>>;
  /** The launcher is a process of its own: for what it says, how it ends, and how it is ended. */
  readonly isLauncherOwnProcess?: boolean;
  /** The `dist/main.js` of another build, whose launcher is a process of its own; default: this checkout's, built first. */
  readonly program?: string;
}

export interface Stack {
  /** Envoy, without a slash at the end and without `/v1`. */
  readonly baseUrl: string;
  readonly adminUrl: string;
  readonly adminToken: string;
  readonly demoKey: string;
  readonly dir: string;
  readonly configFile: string;
  /** What the launcher wrote; only of one with a process of its own. */
  readonly stderr: string;
  /** The newest part of what gateway, Envoy and Redis logged. */
  readLogs(): string;
  /** The launcher's process; throws where it has none of its own. */
  readonly child: Child;
  /** One request through Envoy. `key`: sent as Bearer; the demo key when left out, none when null. */
  send(options: SendOptions & { readonly key?: string | null }): Promise<HttpAnswer>;
  /** One call of the management API with the operator's token; throws on a status of 400 or more. */
  admin(method: string, path: string, body?: object): Promise<Record<string, unknown>>;
  /** A new organization with one key of 1,000,000 requests a minute, without caps, unless the settings say otherwise. */
  createKey(key?: Partial<KeySettings>, organization?: Partial<OrganizationSettings>): Promise<CreatedKey>;
  /** What the gateway keeps in its private Redis, or in that of `overrides.redis.url`, for assertions on spend, usage and recent requests. */
  store(): Promise<Store>;
  /** Stops everything; the folder goes. */
  stop(): Promise<void>;
}

interface ReadyLine {
  readonly base_url: string;
  readonly admin_url: string;
  readonly admin_token: string;
  readonly demo_key: string;
}

/**
 * Starts a stack in a folder of its own, on free ports.
 * @throws Error with the stack's stderr when it does not come up.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  // Short: a Unix socket's path may have 107 bytes.
  const dir = await mkdtemp(join(tmpdir(), "igw-"));
  const configFile = join(dir, "gateway.yaml");
  await writeFile(configFile, stringify(await createConfig(options)));
  const files = { dir, configFile, redisUrl: readRedisUrl(options.overrides) ?? join(dir, "run/redis.sock") };
  const { env, program, isLauncherOwnProcess = false } = options;
  const isOwnProcess = isLauncherOwnProcess || env !== undefined || program !== undefined;
  try {
    const launched = isOwnProcess ? await startLauncher(files, options) : await launchHere(configFile);
    return createStack(launched, files);
  } catch (thrown) {
    await rm(dir, { recursive: true, force: true });
    throw thrown;
  }
}

/** Where a stack has its files. */
interface StackFiles {
  readonly dir: string;
  readonly configFile: string;
  readonly redisUrl: string;
}

interface Launched {
  readonly ready: ReadyLine;
  /** Null: the launcher is in this process. */
  readonly child: Child | null;
  readonly stop: () => Promise<unknown>;
}

async function startLauncher(
  { dir, configFile }: StackFiles,
  { env, program }: StackOptions,
): Promise<Launched> {
  // IGW_SKIP_BUILD: the build that is there, as it is.
  const existing = program ?? (process.env["IGW_SKIP_BUILD"] ? ENTRY : null);
  const args = existing === null ? [join(REPOSITORY, "src/operation/setup/start.js")] : [existing, "up"];
  const child = startChild(process.execPath, [...args, "--config", configFile, "--json"], {
    cwd: dir,
    env: { ...process.env, ...env },
  });
  try {
    const ready = await child.waitForLine("the stack's JSON line", parseReadyLine, START_TIMEOUT_MS);
    return { ready, child, stop: () => child.stop() };
  } catch (thrown) {
    await child.stop(10_000).catch(() => undefined);
    throw thrown;
  }
}

let built: Promise<void> | null = null;

async function launchHere(configFile: string): Promise<Launched> {
  if (!process.env["IGW_SKIP_BUILD"]) await (built ??= prepareClone());
  // Else `fork` gives Node's options of this process, vitest's, to `serve`.
  process.execArgv = [];
  const plan = await makePlan(configFile);
  const stack = new LaunchedStack(plan, ENTRY);
  try {
    const { adminUrl, demoKey } = await stack.start();
    const ready = {
      base_url: stack.baseUrl,
      admin_url: required(adminUrl),
      admin_token: resolveOperatorToken(plan.config),
      demo_key: required(demoKey),
    };
    return { ready, child: null, stop: () => stack.stop() };
  } catch (thrown) {
    // Until all have ended: what they wrote is read for the message, and then the folder goes.
    await stack.stop();
    throw thrown;
  }
}

function required(text: string | null): string {
  if (text === null) throw new Error("the gateway has no address of its API, or no demo key");
  return text;
}

async function createConfig(options: StackOptions): Promise<Record<string, unknown>> {
  const upstream = options.upstreams[0]?.name ?? "local";
  const base = {
    listen: { host: "127.0.0.1", port: await findFreePort() },
    admin: { host: "127.0.0.1", port: await findFreePort() },
    sidecar: { ...sidecarUnderTest(), workers: options.workers ?? 1, sockets: "run/" },
    upstreams: options.upstreams,
    catalog: options.catalog ?? [catalogEntry({ upstream })],
  };
  return mergeConfig(base, options.overrides ?? {});
}

/** Of a Redis that the test has started by itself. */
function readRedisUrl(overrides: { readonly redis?: { readonly url?: string } } = {}): string | undefined {
  return overrides.redis?.url;
}

function parseReadyLine(line: string): ReadyLine | null {
  if (!line.startsWith("{")) return null;
  const value = JSON.parse(line) as Partial<ReadyLine>;
  return typeof value.base_url === "string" ? (value as ReadyLine) : null;
}

function createStack({ ready, child, stop }: Launched, { dir, configFile, redisUrl }: StackFiles): Stack {
  const getChild = (): Child => {
    if (child !== null) return child;
    throw new Error("this stack's launcher has no process of its own: give `isLauncherOwnProcess`");
  };
  const connection = connectStore(redisUrl);
  const admin: Stack["admin"] = async (method, path, body) => {
    const answer = await send(ready.admin_url, {
      method,
      path,
      headers: { authorization: `Bearer ${ready.admin_token}` },
      ...(body === undefined ? {} : { body }),
    });
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.text === "" ? {} : answer.json();
  };
  return {
    baseUrl: ready.base_url,
    adminUrl: ready.admin_url,
    adminToken: ready.admin_token,
    demoKey: ready.demo_key,
    dir,
    configFile,
    get child() {
      return getChild();
    },
    get stderr() {
      return getChild().stderr;
    },
    readLogs: () => readLogs(join(dir, "data/logs")),
    send: ({ key = ready.demo_key, ...options }) =>
      send(ready.base_url, {
        ...options,
        headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...options.headers },
      }),
    admin,
    createKey: async (key, organization) => createTestKey(await connection.store(), key, organization),
    store: connection.store,
    stop: async () => {
      connection.close();
      await stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

function readLogs(dir: string): string {
  const files = ["gateway.log", "envoy.log", "access.log"].map((name) => join(dir, name));
  const texts = files.filter((file) => existsSync(file)).map((file) => readFileSync(file, "utf8"));
  return texts.map((text) => text.slice(-KEPT_LOG_CHARACTERS)).join("\n");
}

/** Connects when it is first used. */
function connectStore(url: string): { store: () => Promise<Store>; close: () => void } {
  let client: RedisClient | null = null;
  return {
    store: async () => {
      client ??= createRedisClient({ url, commandTimeoutMs: 5_000, onError: () => undefined });
      await waitUntilReady(client, 10_000);
      return createStore({ client, usageMonths: 13 });
    },
    close: () => client?.disconnect(),
  };
}
