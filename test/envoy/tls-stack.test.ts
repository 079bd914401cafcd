/** `inference-gateway up` with TLS everywhere: clients with certificates, Redis, and renewals of all of it under way. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHAT_PATH, chatBody } from "../support/chat-stack.ts";
import { pingRedis, startTlsRedis, type TlsRedis } from "../support/redis-tls.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { createTestAuthority, type KeyPair, type TestAuthority } from "../support/tls.ts";
import { type ScriptedUpstream, startUpstream } from "../support/upstream.ts";
import { waitFor } from "../support/wait.ts";

let files: string;
let servers: TestAuthority;
let clients: TestAuthority;
let redisAuthority: TestAuthority;
let client: KeyPair;
let upstream: ScriptedUpstream;
let redis: TlsRedis;
let stack: Stack;

beforeAll(async () => {
  files = mkdtempSync(join(tmpdir(), "igw-pem-"));
  [servers, clients, redisAuthority] = [
    await createTestAuthority(),
    await createTestAuthority(),
    await createTestAuthority(),
  ];
  client = await clients.issue("client", ["client"]);
  put("clients.pem", clients.ca);
  put("upstream-key", "first-secret\n");
  await renewListener();
  await renewRedisClient(redisAuthority);
  upstream = await startUpstream();
  redis = await startTlsRedis(redisAuthority);
  stack = await startStack({
    isLauncherOwnProcess: true,
    upstreams: [
      {
        name: "local",
        url: upstream.url,
        path_prefix: "/v1",
        credential: { file: join(files, "upstream-key") },
      },
    ],
    overrides: {
      listen: {
        tls: {
          cert_file: join(files, "server.crt"),
          key_file: join(files, "server.key"),
          client_ca_file: join(files, "clients.pem"),
        },
      },
      redis: {
        url: redis.url,
        ca_file: join(files, "redis-ca.pem"),
        cert_file: join(files, "redis-client.crt"),
        key_file: join(files, "redis-client.key"),
      },
      // A 200 is then the word of Redis, not of the grace period.
      settlement: { grace_seconds: 0 },
    },
  });
}, 240_000);
afterAll(async () => {
  await stack?.stop();
  await redis?.stop();
  await upstream?.close();
  for (const authority of [servers, clients, redisAuthority]) await authority?.close();
  rmSync(files, { recursive: true, force: true });
}, 60_000);

/** As certificate managers do: beside, then moved into place. */
function put(name: string, text: string): void {
  writeFileSync(join(files, `${name}.new`), text, { mode: 0o600 });
  renameSync(join(files, `${name}.new`), join(files, name));
}

async function renewListener(): Promise<void> {
  const pair = await servers.issue("localhost", ["localhost", "IP:127.0.0.1"]);
  put("server.key", pair.key);
  put("server.crt", pair.cert);
}

async function renewRedisClient(authority: TestAuthority): Promise<void> {
  const pair = await authority.issue("gateway", ["gateway"]);
  put("redis-ca.pem", authority.ca);
  put("redis-client.key", pair.key);
  put("redis-client.crt", pair.cert);
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly serial: string;
}

/** A chat request on a new connection; status 0 where there is none. */
function chat(certificate: Partial<KeyPair> = client): Promise<Answer> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${stack.demoKey}`, "content-type": "application/json" };
    const options = {
      method: "POST",
      headers,
      ca: servers.ca,
      ...certificate,
      agent: false,
      timeout: 10_000,
    };
    const call = request(`${stack.baseUrl}${CHAT_PATH}`, options, (response) => {
      const serial = (response.socket as TLSSocket).getPeerCertificate().serialNumber;
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.once("end", () => resolve({ status: response.statusCode ?? 0, text, serial }));
    });
    call.once("timeout", () => call.destroy(new Error("timeout")));
    call.once("error", (error) => resolve({ status: 0, text: String(error), serial: "" }));
    call.end(JSON.stringify(chatBody()));
  });
}

const credentialSeen = (): string | undefined => upstream.requests.at(-1)?.headers["authorization"];

describe("up with TLS", () => {
  it("prints an https URL, and serves a client with a certificate", async () => {
    expect(stack.baseUrl).toMatch(/^https:/);
    expect(await chat()).toMatchObject({ status: 200 });
    expect(credentialSeen()).toBe("Bearer first-secret");
  });

  it("refuses clients without a certificate, and of another authority", async () => {
    expect((await chat({})).status).toBe(0);
    expect((await chat(await servers.issue("stranger", ["stranger"]))).status).toBe(0);
  });

  it("speaks to a Redis that answers nobody without TLS and a certificate", async () => {
    expect(await pingRedis(redis.port, redisAuthority.ca, {})).not.toBe("+PONG");
    expect(stack.readLogs()).not.toContain("redis connection failed");
  });

  it("takes a renewed certificate of the listener", async () => {
    const { serial } = await chat();
    await renewListener();
    await waitFor("the renewed certificate", async () => {
      const answer = await chat();
      return answer.status === 200 && answer.serial !== serial;
    });
    expect(stack.child.ended).toBeNull();
  });

  it("takes an upstream's renewed credential from its file", async () => {
    put("upstream-key", "second-secret\n");
    await waitFor("the renewed credential", async () => {
      await chat();
      return credentialSeen() === "Bearer second-secret";
    });
    expect(stack.stderr).toContain("renewed credential: local");
  });

  it("keeps the credential while its file is empty, and says so", async () => {
    put("upstream-key", "");
    await waitFor("the message", () => /can.t be read, the previous one stays/.test(stack.stderr));
    expect((await chat()).status).toBe(200);
    expect(credentialSeen()).toBe("Bearer second-secret");
  });

  it("follows Redis to another authority, with a new certificate of its own", async () => {
    const next = await createTestAuthority();
    await renewRedisClient(next);
    await redis.restartAs(next);
    await waitFor("requests after the change", async () => (await chat()).status === 200, {
      timeoutMs: 30_000,
    });
    await next.close();
    expect(stack.child.ended).toBeNull();
  });
});
