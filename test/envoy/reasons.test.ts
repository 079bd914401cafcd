/** Why requests fail at their upstreams, as people read it: from the real Envoy's words to the page, the API and commands. */
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FLAGS } from "../../src/shared/envoy-reasons/response-flags.ts";
import { callCli } from "../cli/call-cli.ts";
import { CHAT_PATH, chatBody } from "../support/chat-stack.ts";
import { findFreePort } from "../support/free-port.ts";
import { catalogEntry, type UpstreamEntry } from "../support/gateway-config.ts";
import { send } from "../support/http.ts";
import type { SideEnvoy } from "../support/side-envoy.ts";
import { createTestAuthority, type TestAuthority } from "../support/tls.ts";
import { type ScriptedUpstream, startUpstream } from "../support/upstream.ts";
import { waitFor } from "../support/wait.ts";
import { withStack } from "../support/with-stack.ts";
import { findEnvoy } from "./edge/envoy-binary.ts";
import { startImpatientEnvoy } from "./edge/impatient-envoy.ts";

interface Failure {
  /** Of the upstream, and of its one model. */
  readonly name: string;
  /** What people read, behind "the upstream …". */
  readonly says: string;
  /** What Envoy said. */
  readonly envoy: RegExp;
  /** Whether a look from outside finds the same; what is only seen in a request is not. */
  readonly isSeenByDoctor: boolean;
}

const FAILURES: readonly Failure[] = [
  {
    name: "absent",
    says: "refused the connection: nothing listens at its address",
    envoy: /^upstream_reset_before_response_started\{remote_connection_failure\|delayed_connect_error:_/,
    isSeenByDoctor: true,
  },
  {
    name: "strange-authority",
    says: "has a certificate of an unknown authority",
    envoy: /CERTIFICATE_VERIFY_FAILED/,
    isSeenByDoctor: true,
  },
  {
    name: "other-name",
    says: "has a certificate for another name",
    envoy: /CERTIFICATE_VERIFY_FAILED/,
    isSeenByDoctor: true,
  },
  {
    name: "expired",
    says: "has an expired certificate",
    envoy: /CERTIFICATE_VERIFY_FAILED/,
    isSeenByDoctor: true,
  },
  {
    name: "no-tls",
    says: "doesn't speak TLS at this address",
    envoy: /WRONG_VERSION_NUMBER/,
    isSeenByDoctor: true,
  },
  {
    name: "no-address",
    says: "had no server that accepts requests: its name has no address, or all its servers are unhealthy",
    envoy: /^no_healthy_upstream$/,
    isSeenByDoctor: false,
  },
  {
    name: "garbled",
    says: "sent an invalid or incomplete HTTP response",
    envoy: /^upstream_reset_before_response_started\{protocol_error\}$/,
    isSeenByDoctor: false,
  },
  {
    name: "closing",
    says: "closed the connection before its response began",
    envoy: /^upstream_reset_before_response_started\{connection_termination\}$/,
    isSeenByDoctor: false,
  },
];

const closers: (() => Promise<unknown>)[] = [];
let impatient: SideEnvoy | undefined;
let key = "";
let organization = "";

const stack = withStack(async () => {
  const upstreams = await startFailures();
  return {
    upstreams,
    catalog: upstreams.map(({ name }) => catalogEntry({ id: `acme/${name}`, upstream: name })),
  };
});
beforeAll(async () => {
  const created = await stack().createKey();
  key = created.key;
  organization = created.organizationId;
  impatient = await startImpatientEnvoy(stack().dir);
});
afterAll(async () => {
  await impatient?.stop();
  for (const close of closers) await close();
});

async function startFailures(): Promise<UpstreamEntry[]> {
  const [own, other] = [await createAuthority(), await createAuthority()];
  const folder = await mkdtemp(join(tmpdir(), "igw-reasons-"));
  closers.push(() => rm(folder, { recursive: true, force: true }));
  const caFile = join(folder, "ca.pem");
  await writeFile(caFile, own.ca);
  const serve = async (authority: TestAuthority, name: string, isExpired = false): Promise<object> => {
    const server = await start({ tls: await authority.issue("upstream", [name], { isExpired }) });
    return { url: server.url, tls: { ca_file: caFile } };
  };
  const garbled = await start();
  garbled.answer({ kind: "reset" });
  const plain = await start();
  const places: Readonly<Record<string, object>> = {
    absent: { url: `http://127.0.0.1:${await findFreePort()}` },
    "strange-authority": await serve(other, "IP:127.0.0.1"),
    "other-name": await serve(own, "models.example"),
    expired: await serve(own, "IP:127.0.0.1", true),
    "no-tls": { url: plain.url.replace("http:", "https:"), tls: { ca_file: caFile } },
    "no-address": { url: "http://models.invalid:8000" },
    garbled: { url: garbled.url },
    closing: { url: await startClosing() },
    silent: { url: (await startSilent()).url },
  };
  return Object.entries(places).map(([name, place]) => ({ name, path_prefix: "/v1", ...place }));
}

async function createAuthority(): Promise<TestAuthority> {
  const authority = await createTestAuthority();
  closers.push(() => authority.close());
  return authority;
}

async function start(options: Parameters<typeof startUpstream>[0] = {}): Promise<ScriptedUpstream> {
  const server = await startUpstream(options);
  closers.push(() => server.close());
  return server;
}

/** Takes connections and closes them as soon as a request comes. */
async function startClosing(): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined).once("data", () => socket.end());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(async () => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function startSilent(): Promise<ScriptedUpstream> {
  const server = await start();
  server.answer({ kind: "hang" });
  return server;
}

interface RequestAsShown {
  readonly upstream: { readonly cause: string | null; readonly envoy_details: string | null };
  readonly explanation: {
    readonly sentence: string;
    readonly remedy: { readonly actor: string; readonly todo: string } | null;
  };
}

async function failAt(name: string, baseUrl = stack().baseUrl): Promise<string> {
  const headers = { authorization: `Bearer ${key}` };
  const body = chatBody({ model: `acme/${name}` });
  const answer = await send(baseUrl, { path: CHAT_PATH, body, headers });
  expect(answer.status).toBeGreaterThanOrEqual(500);
  return String(answer.headers["x-request-id"]);
}

const show = async (id: string): Promise<RequestAsShown> =>
  (await stack().admin(
    "GET",
    `/api/organizations/${organization}/requests/${id}`,
  )) as unknown as RequestAsShown;

describe("a request that fails at its upstream", () => {
  it.each(FAILURES)(
    "is told in words where it is $name, with Envoy's own below",
    async ({ name, says, envoy }) => {
      const id = await failAt(name);
      const { upstream, explanation } = await show(id);
      const told = `upstream ${name} ${says}`;
      expect(upstream).toMatchObject({
        cause: `the ${told}`,
        envoy_details: expect.stringMatching(envoy) as string,
      });
      expect(explanation.sentence).toContain(`The ${told}; the client received 50`);
      expect(explanation.sentence).not.toContain(upstream.envoy_details);

      const { stdout } = await callCli(["explain", id], { cwd: stack().dir });
      const [headline, todo, ...rest] = stdout.split("\n");
      expect(headline).toBe(explanation.sentence);
      expect(todo).toMatch(/^→ For [^:]+: \w/);
      expect(todo).toContain(explanation.remedy?.todo);
      expect(rest.join("\n")).toContain("Envoy's details");
      expect(rest.join("").replace(/\s/g, "")).toContain(upstream.envoy_details);
    },
  );

  it("is told in words in the request log, before Envoy's own", async () => {
    const id = await failAt("absent");
    const folder = join(stack().dir, "data/requests");
    const line = await waitFor("the line", async () => {
      const files = (await readdir(folder)).map((file) => readFile(join(folder, file), "utf8"));
      return (await Promise.all(files)).flatMap((text) => text.split("\n")).find((one) => one.includes(id));
    });
    const logged = JSON.parse(line) as Record<string, string | null>;
    expect(logged["upstream_reason"]).toBe(`the upstream absent ${FAILURES[0]!.says}`);
    expect(logged["upstream_cause"]).toMatch(FAILURES[0]!.envoy);
  });

  it("is told in words where no answer comes in time", async () => {
    const { upstream, explanation } = await show(await failAt("silent", impatient!.baseUrl));
    expect(explanation.sentence).toMatch(
      /^The upstream silent sent no response in time; the client received 504 upstream_timeout\./,
    );
    expect(upstream.envoy_details).toMatch(/timeout/);
    expect(explanation.sentence).not.toContain(upstream.envoy_details);
  });

  it("is told by doctor in the same words", async () => {
    const { stdout } = await callCli(["doctor", "--json"], { cwd: stack().dir });
    const { findings } = JSON.parse(stdout) as { findings: { check: string; what: string }[] };
    const seen = FAILURES.filter(({ isSeenByDoctor }) => isSeenByDoctor).map(({ name, says }) => ({
      name,
      says,
    }));
    const unnamed = { name: "no-address", says: FLAGS.DF.text.replace("{upstream} ", "") };
    for (const { name, says } of [...seen, unnamed]) {
      const { what } = findings.find(({ check }) => check === `upstream.${name}`)!;
      expect(what).toContain(`The upstream ${name} ${says} (`);
    }
  });
});

const FILTERED = (flag: string): string => `
static_resources:
  listeners:
  - address: { socket_address: { address: 127.0.0.1, port_value: 0 } }
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: flags
          route_config: {}
          access_log:
          - filter: { response_flag_filter: { flags: [${flag}] } }
            typed_config: { "@type": type.googleapis.com/envoy.extensions.access_loggers.stream.v3.StdoutAccessLog }
`;

describe("the tables of Envoy's words", () => {
  it("have all response flags that the real Envoy knows", async () => {
    const folder = await mkdtemp(join(tmpdir(), "igw-flags-"));
    try {
      const file = join(folder, "envoy.yaml");
      await writeFile(file, FILTERED("NONE"));
      const refused = await promisify(execFile)(findEnvoy(), ["--mode", "validate", "-c", file]).catch(
        (error: unknown) => error as { stderr: string },
      );
      const [, flags = ""] = /value must be in list \[([A-Z ]+)\]/.exec(refused.stderr) ?? [];
      expect(flags.split(" ").toSorted()).toEqual(Object.keys(FLAGS).toSorted());
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it("are tested with details that the real Envoy has among its texts", async () => {
    const list = new URL("../unit/envoy-reasons/envoy-1.40.json", import.meta.url);
    const known = JSON.parse(await readFile(list, "utf8")) as Record<string, { names: string[] }>;
    const program = await readFile(findEnvoy());
    const { core, codecs, filters } = known;
    // Shorter ones are part of its code, and have no place among its texts.
    const names = [core, codecs, filters]
      .flatMap((part) => part?.names ?? [])
      .filter((name) => name.length > 22);
    expect(names.length).toBeGreaterThan(50);
    expect(names.filter((name) => !program.includes(name))).toEqual([]);
  });
});
