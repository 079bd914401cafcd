/** `sidecar.tls`: workers on TCP that talk to nobody but Envoy, and certificates that are renewed under way. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { connect as connectPlain } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { connect, type TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHAT_PATH, chatBody } from "../support/chat-stack.ts";
import { findFreePort } from "../support/free-port.ts";
import { TRANSPORTS_UNDER_TEST } from "../support/gateway-config.ts";
import { findWorkerPid, waitForNewWorker } from "../support/gateway-processes.ts";
import { send } from "../support/http.ts";
import { createTestKey } from "../support/test-key.ts";
import { createTestAuthority, type KeyPair, type TestAuthority } from "../support/tls.ts";
import { type ScriptedUpstream, startUpstream } from "../support/upstream.ts";
import { waitFor } from "../support/wait.ts";
import { type ServeAlone, startServeAlone } from "./access/serve-alone.ts";

const SERVER_NAME = "sidecar.gateway.test";
const CLIENT_NAME = "envoy.gateway.test";
const HEALTH_PATH = "/grpc.health.v1.Health/Check";
/** A gRPC message of no bytes. */
const EMPTY_MESSAGE = Buffer.alloc(5);

/** The server has ended it in the handshake, or right behind it; no HTTP answer, and no wait for one. */
const CONNECTION_ENDED =
  /^(?:closed|ECONNRESET|ERR_HTTP2_STREAM_ERROR|ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED)$/;

describe.each(TRANSPORTS_UNDER_TEST)("sidecar.tls with the transport %s", (transport) => {
  let files: string;
  let authority: TestAuthority;
  let upstream: ScriptedUpstream;
  let stack: ServeAlone;
  let key: string;
  let port: number;
  let envoyPair: KeyPair;

  beforeAll(async () => {
    files = mkdtempSync(join(tmpdir(), "igw-mtls-"));
    authority = await createTestAuthority();
    put("ca.pem", authority.ca);
    await renewServer();
    envoyPair = await renewClient();
    upstream = await startUpstream();
    port = await findFreePort();
    stack = await startServeAlone({
      upstreamUrl: upstream.url,
      workers: 1,
      drainSeconds: 5,
      overrides: { sidecar: { transport, tcp: { host: "127.0.0.1", port }, tls: tlsSettings() } },
    });
    ({ key } = await createTestKey(stack.store));
  }, 120_000);
  afterAll(async () => {
    await stack?.stop();
    await upstream?.close();
    await authority?.close();
    rmSync(files, { recursive: true, force: true });
  });

  const tlsSettings = (): object => ({
    ca_file: join(files, "ca.pem"),
    server_cert_file: join(files, "server.crt"),
    server_key_file: join(files, "server.key"),
    server_name: SERVER_NAME,
    client_cert_file: join(files, "envoy.crt"),
    client_key_file: join(files, "envoy.key"),
    client_name: CLIENT_NAME,
  });

  /** As certificate managers do: beside, then moved into place. */
  function put(name: string, text: string): void {
    writeFileSync(join(files, `${name}.new`), text, { mode: 0o600 });
    renameSync(join(files, `${name}.new`), join(files, name));
  }

  async function renewServer(from: TestAuthority = authority): Promise<void> {
    const pair = await from.issue("sidecar", [SERVER_NAME]);
    put("server.key", pair.key);
    put("server.crt", pair.cert);
  }

  async function renewClient(from: TestAuthority = authority): Promise<KeyPair> {
    const pair = await from.issue("envoy", [CLIENT_NAME]);
    put("envoy.key", pair.key);
    put("envoy.crt", pair.cert);
    return pair;
  }

  const chat = () =>
    send(stack.baseUrl, { path: CHAT_PATH, headers: { authorization: `Bearer ${key}` }, body: chatBody() });

  /** One health check by whoever has this certificate: the HTTP status, or why there was none. */
  function callAs(pair: Partial<KeyPair>): Promise<number | string> {
    return new Promise((resolve) => {
      const options = { ca: authority.ca, servername: SERVER_NAME, ...pair };
      const session = connectHttp2(`https://127.0.0.1:${port}`, options);
      const settle = (outcome: number | string): void => {
        session.destroy();
        resolve(outcome);
      };
      session.setTimeout(5_000, () => settle("timeout"));
      session.once("error", (error: NodeJS.ErrnoException) => settle(error.code ?? error.message));
      session.once("close", () => settle("closed"));
      const headers = { "content-type": "application/grpc", te: "trailers" };
      const call = session.request({ ":method": "POST", ":path": HEALTH_PATH, ...headers });
      call.once("response", (response) => settle(Number(response[":status"])));
      call.once("error", (error: NodeJS.ErrnoException) => settle(error.code ?? error.message));
      call.end(EMPTY_MESSAGE);
    });
  }

  /** Serial number of the certificate that the workers show. */
  function readSerial(): Promise<string> {
    return new Promise((resolve, reject) => {
      const options = { host: "127.0.0.1", port, ca: authority.ca, servername: SERVER_NAME, ...envoyPair };
      const socket: TLSSocket = connect({ ...options, ALPNProtocols: ["h2"], timeout: 5_000 }, () => {
        resolve(socket.getPeerCertificate().serialNumber);
        socket.destroy();
      });
      socket.once("error", reject);
    });
  }

  it("serves requests through Envoy", async () => {
    expect((await chat()).status).toBe(200);
  });

  it("answers whoever has Envoy's certificate, so that the refusals below are about certificates", async () => {
    expect(await callAs(envoyPair)).toBe(200);
  });

  it("refuses a client without a certificate", async () => {
    expect(await callAs({})).toMatch(CONNECTION_ENDED);
  });

  it("refuses a certificate of another authority", async () => {
    const others = await createTestAuthority();
    const stranger = await others.issue("envoy", [CLIENT_NAME]);
    await others.close();
    expect(await callAs(stranger)).toMatch(CONNECTION_ENDED);
  });

  it("refuses a certificate of the same authority for another name", async () => {
    expect(await callAs(await authority.issue("neighbour", ["neighbour.gateway.test"]))).toMatch(
      CONNECTION_ENDED,
    );
  });

  it("says nothing to a client without TLS", async () => {
    const said = await new Promise<string>((resolve) => {
      let text = "";
      const socket = connectPlain({ host: "127.0.0.1", port, timeout: 5_000 }, () =>
        socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
      );
      socket.on("data", (part: Buffer) => (text += part.toString("latin1")));
      socket.once("timeout", () => socket.destroy());
      socket.once("error", () => undefined);
      socket.once("close", () => resolve(text));
    });
    // At most a TLS alert.
    expect(said.length).toBeLessThanOrEqual(7);
    expect((await chat()).status).toBe(200);
  });

  it("takes the workers' renewed certificate without a restart, and requests go on", async () => {
    const before = await readSerial();
    await renewServer();
    await waitFor("the renewed certificate", async () => (await readSerial()) !== before, {
      timeoutMs: 15_000,
    });
    expect((await chat()).status).toBe(200);
    expect(stack.serve.ended).toBeNull();
  });

  it("keeps the old certificate while the renewed files do not fit each other", async () => {
    const before = await readSerial();
    const pair = await authority.issue("sidecar", [SERVER_NAME]);
    put("server.key", pair.key);
    await waitFor("the warning", () => /renewed certificates unusable/.test(logs(stack)), {
      timeoutMs: 15_000,
    });
    expect(await readSerial()).toBe(before);
    put("server.crt", pair.cert);
    await waitFor("the renewed certificate", async () => (await readSerial()) !== before, {
      timeoutMs: 15_000,
    });
  });

  it("moves to another authority without a refused request: both in the bundle, new certificates, the old one out", async () => {
    const next = await createTestAuthority();
    const statuses = new Set<number>();
    const state = { isOver: false };
    const client = (async () => {
      while (!state.isOver) {
        statuses.add((await chat()).status);
        // Without a pause they would have a core for themselves.
        await wait(10);
      }
    })();
    put("ca.pem", authority.ca + next.ca);
    const nextClient = await next.issue("envoy", [CLIENT_NAME]);
    await waitFor("the workers to know both", async () => (await callAs(nextClient)) === 200, {
      timeoutMs: 15_000,
    });
    await renewClient(next);
    await renewServer(next);
    await waitFor("the workers' certificate of the next", async () => (await callAs(envoyPair)) !== 200, {
      timeoutMs: 15_000,
    });
    put("ca.pem", next.ca);
    authority = next;
    await waitFor("the former authority to be out", async () => (await callAs(envoyPair)) !== 200, {
      timeoutMs: 15_000,
    });
    envoyPair = nextClient;
    expect((await chat()).status).toBe(200);
    state.isOver = true;
    await client;
    expect([...statuses]).toEqual([200]);
    // Those may all have gone over connections of before: a new worker has only new ones.
    const killed = findWorkerPid(stack.configFile, 0);
    process.kill(killed, "SIGKILL");
    await waitForNewWorker(stack.configFile, killed, 1);
    await waitFor("an answer over a new connection", async () => (await chat()).status === 200, {
      timeoutMs: 20_000,
    });
  });
});

function logs({ serve }: ServeAlone): string {
  return `${serve.stderr}\n${serve.stdoutLines.join("\n")}`;
}
