/** What most tests of the chat route want: one scripted upstream behind one stack, and a key with room. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { parse } from "yaml";
import { startDemoUpstream } from "../../src/operation/demo/upstream.ts";
import { findFreePort } from "./free-port.ts";
import { catalogEntry, type CatalogEntry, CHAT_MODEL, replaceConfigFile } from "./gateway-config.ts";
import { listProcesses } from "./gateway-processes.ts";
import { type HttpAnswer, send, type SendOptions } from "./http.ts";
import { type Stack, type StackOptions, startStack } from "./stack.ts";
import type { CreatedKey } from "./test-key.ts";
import { type ScriptedUpstream, startUpstream } from "./upstream.ts";
import { waitFor } from "./wait.ts";
import { endWithProcess, showingLogs, withStack } from "./with-stack.ts";

export const CHAT_PATH = "/v1/chat/completions";

export interface ChatStack {
  readonly stack: Stack;
  /** Scripts and records are forgotten before each test. */
  readonly upstream: ScriptedUpstream;
  /** A key of 1,000,000 requests a minute, without caps. */
  readonly key: CreatedKey;
  /** `POST /v1/chat/completions` with that key; path, key and the rest as given otherwise. */
  send(options: Partial<SendOptions> & { readonly key?: string | null }): Promise<HttpAnswer>;
}

/** Starts upstream, stack and key for all tests of a file. The fields are there from the first test on. */
export function withChatStack(
  createOptions: (
    upstream: ScriptedUpstream,
  ) => Partial<StackOptions> | Promise<Partial<StackOptions>> = () => ({}),
): ChatStack {
  let upstream: ScriptedUpstream | null = null;
  const getStack = withStack(async () => {
    upstream = await startUpstream();
    return { upstreams: listUpstreams(upstream), ...(await createOptions(upstream)) };
  });
  afterAll(async () => upstream?.close());
  return createChat(getStack, () => upstream);
}

interface Shared {
  readonly stack: Stack;
  readonly upstream: ScriptedUpstream;
  catalog: readonly CatalogEntry[];
}

const DEFAULT_CATALOG = [catalogEntry()];
/** This process's, for its files in turn. */
let shared: Shared | null = null;

/**
 * The same for files that need nothing but a catalog and leave the stack as they found it: they have one in turn, of two
 * workers, which saves each three seconds of a core. Each has a key of its own, and names its organizations as no other
 * does. Upstreams are `local`, `native` (the same, for messages and responses), `demo` (the demo model) and `absent`. What
 * a worker has learned of a model's tokens stays: a file that needs a model of which nothing is known gives it an id of its
 * own.
 */
export function withSharedChatStack(catalog: readonly CatalogEntry[] = DEFAULT_CATALOG): ChatStack {
  const getStack = showingLogs(async () => {
    shared ??= await startShared();
    if (shared.catalog !== catalog) await replaceCatalog(shared.stack, catalog);
    shared.catalog = catalog;
    return shared.stack;
  });
  return createChat(getStack, () => shared?.upstream ?? null);
}

async function startShared(): Promise<Shared> {
  const upstream = await startUpstream();
  const { url } = upstream;
  const demo = await startDemoUpstream({ host: "127.0.0.1", port: 0, wordDelayMs: 0 });
  const upstreams = [
    ...listUpstreams(upstream),
    {
      name: "native",
      url,
      protocols: ["messages", "responses"],
      forward_headers: ["x-claude-code-session-id"],
    },
    { name: "demo", url: demo.url, path_prefix: "/v1" },
    { name: "absent", url: `http://127.0.0.1:${await findFreePort()}` },
  ];
  const overrides = { notifications: { webhooks: { allow_private_networks: true } } };
  const stack = await startStack({ upstreams, catalog: DEFAULT_CATALOG, workers: 2, overrides });
  endWithProcess(stack);
  return { stack, upstream, catalog: DEFAULT_CATALOG };
}

/** Resolves when every process of the gateway has the catalog. */
async function replaceCatalog(stack: Stack, catalog: readonly CatalogEntry[]) {
  const { catalog_since: before } = await stack.admin("GET", "/api/configuration");
  const content = parse(readFileSync(stack.configFile, "utf8")) as object;
  replaceConfigFile(stack.configFile, { ...content, catalog });
  for (const pid of listProcesses(stack.configFile, "serve")) process.kill(pid, "SIGHUP");
  await waitFor("the catalog to be replaced", async () => {
    const { catalog_since: since } = await stack.admin("GET", "/api/configuration");
    return since !== before;
  });
  // Each process reports its metrics after what it was sent before.
  await send(stack.adminUrl, { path: "/metrics" });
}

function listUpstreams({ url }: ScriptedUpstream): StackOptions["upstreams"] {
  return [{ name: "local", url, path_prefix: "/v1" }];
}

function createChat(getStack: () => Stack, findUpstream: () => ScriptedUpstream | null): ChatStack {
  let key: CreatedKey | null = null;
  beforeAll(async () => {
    key = await getStack().createKey();
  });
  beforeEach(() => findUpstream()?.reset());
  const chat: ChatStack = {
    get stack() {
      return getStack();
    },
    get upstream() {
      return required(findUpstream());
    },
    get key() {
      return required(key);
    },
    send: (options) => getStack().send({ path: CHAT_PATH, key: chat.key.key, ...options }),
  };
  return chat;
}

/** A small chat request for the test catalog's model. */
export function chatBody(fields: object = {}, content = "hello big world"): Record<string, unknown> {
  return { model: CHAT_MODEL, messages: [{ role: "user", content }], ...fields };
}

function required<T>(value: T | null): T {
  if (value === null) throw new Error("used before the stack was started");
  return value;
}
