/** `envoy render --snippets`: put into an Envoy that is already there, beside a service of the operator's own. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments, stringify } from "yaml";
import { callCli } from "../cli/call-cli.ts";
import { CHAT_PATH, chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import { type Child, startChild } from "../support/child.ts";
import { findFreePort } from "../support/free-port.ts";
import { send } from "../support/http.ts";
import { waitFor } from "../support/wait.ts";
import { findEnvoy } from "./edge/envoy-binary.ts";

type Node = Record<string, unknown>;

const chat = withSharedChatStack();
let envoy: Child;
let baseUrl: string;
let file: string;
let documents: Node[];

beforeAll(async () => {
  const stdout = await renderSnippets("--cors-origin", "https://app.example.com");
  documents = parseAllDocuments(stdout).map((document) => document.toJS() as Node);
  const port = await findFreePort();
  file = join(chat.stack.dir, "own.yaml");
  writeFileSync(file, stringify(assemble(documents, port)));
  envoy = startChild(findEnvoy(), ["-c", file, "--disable-hot-restart", "--log-level", "warning"]);
  baseUrl = `http://127.0.0.1:${port}`;
  const isReady = async (): Promise<boolean> => {
    if (envoy.ended !== null) throw new Error(envoy.stderr);
    return (await send(baseUrl, { path: "/readyz", timeoutMs: 2_000 })).status === 200;
  };
  await waitFor("the operator's Envoy", isReady, { timeoutMs: 20_000, intervalMs: 50 });
}, 120_000);
afterAll(() => envoy?.stop(10_000));

async function renderSnippets(...more: readonly string[]): Promise<string> {
  const args = ["envoy", "render", "--config", chat.stack.configFile, "--snippets", ...more];
  return (await callCli(args)).stdout;
}

const check = (...more: readonly string[]) =>
  callCli(["config", "check", "--config", chat.stack.configFile, ...more], {
    env: { ENVOY_BIN: findEnvoy() },
  });

const isOff = (filter: string, message: string): Node => ({
  [`envoy.filters.http.${filter}`]: {
    "@type": `type.googleapis.com/envoy.extensions.filters.http.${message}`,
    disabled: true,
  },
});

/** An operator's bootstrap with a service of his own, and the snippets where their comments say that they go. */
function assemble(parts: readonly Node[], port: number): Node {
  const [top, listener, ...rest] = parts;
  const clusters = rest.flatMap((part) => (part["clusters"] as Node[] | undefined) ?? []);
  const managerParts = rest.filter((part) => part["clusters"] === undefined);
  const manager: Node = Object.assign({ stat_prefix: "operator" }, ...managerParts);
  const compressor = {
    name: "operator.compressor",
    typed_config: {
      "@type": "type.googleapis.com/envoy.extensions.filters.http.compressor.v3.Compressor",
      compressor_library: {
        name: "gzip",
        typed_config: {
          "@type": "type.googleapis.com/envoy.extensions.compression.gzip.compressor.v3.Gzip",
        },
      },
    },
  };
  manager["http_filters"] = [compressor, ...(manager["http_filters"] as Node[])];
  const routes = manager["route_config"] as { virtual_hosts: Node[] };
  routes.virtual_hosts.push({
    name: "shop",
    domains: ["shop.example.com"],
    typed_per_filter_config: {
      ...isOff("ext_authz", "ext_authz.v3.ExtAuthzPerRoute"),
      ...isOff("ext_proc", "ext_proc.v3.ExtProcPerRoute"),
    },
    routes: [{ match: { prefix: "/" }, route: { cluster: "shop" } }],
  });
  const managerFilter = {
    name: "operator.http",
    typed_config: {
      "@type":
        "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
      ...manager,
    },
  };
  const socket = (portValue: number): Node => ({
    socket_address: { address: "127.0.0.1", port_value: portValue },
  });
  const shop = {
    name: "shop",
    type: "STATIC",
    load_assignment: {
      cluster_name: "shop",
      endpoints: [
        { lb_endpoints: [{ endpoint: { address: socket(Number(new URL(chat.upstream.url).port)) } }] },
      ],
    },
  };
  return {
    node: { id: "operator", cluster: "operator" },
    ...top,
    static_resources: {
      listeners: [
        {
          name: "operator",
          address: socket(port),
          ...listener,
          filter_chains: [{ filters: [managerFilter] }],
        },
      ],
      clusters: [shop, ...clusters],
    },
  };
}

describe("envoy render --snippets", () => {
  it("says above each part where it goes", async () => {
    const headings = (await renderSnippets()).split(/^---$/m).map((part) => part.trimStart().split("\n")[0]);
    expect(headings).toHaveLength(documents.length);
    for (const heading of headings) expect(heading).toMatch(/^# \d of \d\. \w/);
  });

  it("makes a bootstrap that Envoy and `config check --envoy` accept", async () => {
    const { code, stdout } = await check("--envoy", file);
    expect([code, stdout]).toEqual([0, expect.stringContaining("Envoy accepts it")]);
  });

  it("finds a route of the operator's that goes to a model past the sidecar", async () => {
    const wrong = `${file}.wrong.yaml`;
    writeFileSync(wrong, readFileSync(file, "utf8").replace("cluster: shop\n", "cluster: local\n"));
    const { stderr } = await check("--no-validate", "--envoy", wrong);
    expect(stderr).toMatch(/requests go to an upstream with envoy\.filters\.http\.ext_authz/);
  });

  it("serves requests with a key and refuses others", async () => {
    const ask = (headers: Record<string, string>) =>
      send(baseUrl, { path: CHAT_PATH, headers, body: chatBody() });
    expect((await ask({ authorization: `Bearer ${chat.key.key}` })).status).toBe(200);
    expect((await ask({})).status).toBe(401);
    expect((await send(baseUrl, { path: "/" })).json()).toMatchObject({
      documentation: expect.stringMatching(/^http:\/\/.*\/errors$/),
    });
  });

  it("answers browsers of the given origin only", async () => {
    const preflight = (origin: string) =>
      send(baseUrl, {
        method: "OPTIONS",
        path: CHAT_PATH,
        headers: { origin, "access-control-request-method": "POST" },
      });
    const allowed = await preflight("https://app.example.com");
    expect(allowed.headers["access-control-allow-origin"]).toBe("https://app.example.com");
    expect((await preflight("https://other.example.com")).headers).not.toHaveProperty(
      "access-control-allow-origin",
    );
  });

  it("leaves the operator's own service without keys", async () => {
    const answer = await send(baseUrl, {
      method: "POST",
      path: "/v1/chat/completions",
      headers: { host: "shop.example.com" },
      body: chatBody({ model: "echo" }),
    });
    expect(answer.status).toBe(200);
  });
});
