/** `listen.tls`: the public listener over TLS, with clients' certificates, renewed without a restart. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseConfig } from "../../src/shared/config/load.ts";
import { renderBootstrap } from "../../src/envoy/bootstrap/render-bootstrap.ts";
import { writeUpstreamSecrets } from "../../src/envoy/bootstrap/upstream-secrets.ts";
import { type Child, startChild } from "../support/child.ts";
import { findFreePort } from "../support/free-port.ts";
import { createTestAuthority, type KeyPair, type TestAuthority } from "../support/tls.ts";
import { waitFor } from "../support/wait.ts";
import { findEnvoy } from "./edge/envoy-binary.ts";

let dir: string;
let port: number;
let authority: TestAuthority;
let clients: TestAuthority;
let client: KeyPair;
let envoy: Child;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "igw-"));
  port = await findFreePort();
  authority = await createTestAuthority();
  clients = await createTestAuthority();
  client = await clients.issue("client", ["client"]);
  mkdirSync(join(dir, "tls"));
  writeFileSync(join(dir, "clients.pem"), clients.ca);
  await replaceServerCertificate();
  const config = parseConfig(gatewayYaml(port), { baseDir: dir, source: "gateway.yaml", secrets: "none" });
  mkdirSync(config.sidecar.sockets);
  await writeUpstreamSecrets(config, join(config.sidecar.sockets, "secrets"));
  writeFileSync(join(dir, "envoy.yaml"), renderBootstrap(config));
  envoy = startChild(findEnvoy(), [
    "-c",
    join(dir, "envoy.yaml"),
    "--disable-hot-restart",
    "--log-level",
    "warning",
  ]);
  await waitFor("Envoy", async () => (await ask({ ...client })).status === 200, { timeoutMs: 20_000 });
});
afterAll(async () => {
  await envoy?.stop(10_000);
  await authority?.close();
  await clients?.close();
  rmSync(dir, { recursive: true, force: true });
});

function gatewayYaml(listenPort: number): string {
  return `
listen:
  port: ${listenPort}
  tls: {cert_file: tls/server.crt, key_file: tls/server.key, client_ca_file: clients.pem}
sidecar: {workers: 1, sockets: run}
upstreams: [{name: local, url: "http://127.0.0.1:1"}]
catalog:
  - {id: acme/echo, upstream: local, context_window: 1000, max_output_tokens: 100, prices: {USD: {input: "1.00", output: "1.00"}}}
`;
}

/** As certificate managers do: the new files are beside, then moved into place. */
async function replaceServerCertificate(): Promise<void> {
  const pair = await authority.issue("localhost", ["localhost", "IP:127.0.0.1"]);
  for (const [name, text] of [
    ["server.key", pair.key],
    ["server.crt", pair.cert],
  ] as const) {
    writeFileSync(join(dir, `${name}.new`), text, { mode: 0o600 });
    renameSync(join(dir, `${name}.new`), join(dir, "tls", name));
  }
}

interface TlsAnswer {
  readonly status: number;
  readonly serial: string;
  readonly error: string;
}

/** `/healthz` on a new connection. */
function ask(certificate: Partial<KeyPair>, ca = authority.ca): Promise<TlsAnswer> {
  return new Promise((resolve) => {
    const options = {
      host: "127.0.0.1",
      port,
      path: "/healthz",
      ca,
      ...certificate,
      agent: false,
      timeout: 5_000,
    };
    const call = request(options, (response) => {
      const serial = (response.socket as TLSSocket).getPeerCertificate().serialNumber;
      response.resume();
      response.once("end", () => resolve({ status: response.statusCode ?? 0, serial, error: "" }));
    });
    call.once("timeout", () => call.destroy(new Error("timeout")));
    call.once("error", (error: NodeJS.ErrnoException) =>
      resolve({ status: 0, serial: "", error: error.code ?? error.message }),
    );
    call.end();
  });
}

describe("listen.tls", () => {
  it("answers over TLS with the configured certificate", async () => {
    expect(await ask(client)).toMatchObject({ status: 200, error: "" });
  });

  it("refuses a client without a certificate, and one of another authority", async () => {
    expect((await ask({})).status).toBe(0);
    expect((await ask(await authority.issue("stranger", ["stranger"]))).status).toBe(0);
  });

  it("takes a renewed certificate without a restart", async () => {
    const before = (await ask(client)).serial;
    await replaceServerCertificate();
    await waitFor("the new certificate", async () => {
      const { serial } = await ask(client);
      return serial !== "" && serial !== before;
    });
    expect(envoy.ended).toBeNull();
  });

  it("takes renewed client authorities without a restart", async () => {
    const others = await createTestAuthority();
    const other = await others.issue("other", ["other"]);
    expect((await ask(other)).status).toBe(0);
    writeFileSync(join(dir, "clients.new"), clients.ca + others.ca);
    renameSync(join(dir, "clients.new"), join(dir, "clients.pem"));
    await waitFor("the new authority", async () => (await ask(other)).status === 200);
    expect((await ask(client)).status).toBe(200);
    await others.close();
  });
});
