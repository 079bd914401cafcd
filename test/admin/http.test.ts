import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { IncomingHttpHeaders } from "node:http";
import { get } from "node:https";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConnectionOptions } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ReportTurns } from "../../src/management/admin/report-turns.ts";
import { startAdminServer } from "../../src/management/admin/server.ts";
import { createTestAuthority } from "../support/tls.ts";
import { type AdminUnderTest, createOrganization, OPERATOR_TOKEN, startAdmin } from "./admin-fixture.ts";

let admin: AdminUnderTest;
let organization = "";
beforeAll(async () => {
  admin = await startAdmin();
  organization = await createOrganization(admin);
});
afterAll(() => admin.stop());

/** Sends bytes as they stand; everything that comes back until the server closes. */
function sendRaw(text: string): Promise<string> {
  const { hostname, port } = new URL(admin.url);
  return new Promise((resolve, reject) => {
    const socket = createConnection({ host: hostname, port: Number(port), timeout: 10_000 });
    let answer = "";
    socket.setEncoding("utf8").on("data", (part: string) => {
      answer += part;
    });
    socket.once("end", () => resolve(answer));
    socket.once("close", () => resolve(answer));
    socket.once("timeout", () => socket.destroy(new Error(`no end of the answer: ${answer}`)));
    socket.once("error", reject);
    socket.write(text);
  });
}

function getOverTls(
  port: number,
  ca: string,
  options: Pick<ConnectionOptions, "maxVersion">,
): Promise<{ status: number | undefined; headers: IncomingHttpHeaders }> {
  return new Promise((resolve, reject) => {
    const request = get(
      { ...options, host: "127.0.0.1", port, path: "/healthz", ca, agent: false, timeout: 10_000 },
      (response) => {
        response.resume();
        resolve({ status: response.statusCode, headers: response.headers });
      },
    );
    request.once("timeout", () => request.destroy(new Error("no answer over TLS")));
    request.once("error", reject);
  });
}

const BEARER = `authorization: Bearer ${OPERATOR_TOKEN}`;

describe("every answer", () => {
  it.each([
    { name: "a success", method: "GET", path: "/api/organizations", status: 200 },
    { name: "health", method: "GET", path: "/healthz", status: 200 },
    { name: "readiness", method: "GET", path: "/readyz", status: 200 },
    { name: "the API's description", method: "GET", path: "/api/openapi.json", status: 200 },
    { name: "HEAD", method: "HEAD", path: "/api/organizations", status: 200 },
    { name: "an unknown page", method: "GET", path: "/nothing", status: 404 },
    { name: "an unknown endpoint", method: "GET", path: "/api/nothing", status: 404 },
    { name: "a slash too many", method: "GET", path: "/api/organizations/", status: 404 },
    { name: "a wrong method", method: "DELETE", path: "/api/organizations", status: 405 },
    { name: "OPTIONS", method: "OPTIONS", path: "/api/organizations", status: 405 },
  ])("has the security headers and a request id: $name", async ({ method, path, status }) => {
    const { headers, ...answer } = await admin.call(method, path);
    expect(answer.status).toBe(status);
    expect(headers["content-security-policy"]).toContain("default-src 'self'");
    expect(headers["content-security-policy"]).not.toContain("unsafe-inline");
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(headers["x-frame-options"]).toBe("DENY");
    expect(headers["cache-control"]).toBe("no-store");
    expect(headers["x-request-id"]).toMatch(/^req_[0-9a-f-]{36}$/);
    expect(headers).not.toHaveProperty("x-powered-by");
    expect(headers).not.toHaveProperty("access-control-allow-origin");
  });

  it("names its request id in an error's body, and never takes the caller's", async () => {
    const answer = await admin.call("GET", "/api/nothing", { headers: { "x-request-id": "mine" } });
    const { error } = answer.json() as { error: { request_id: string } };
    expect(error.request_id).toBe(answer.headers["x-request-id"]);
    expect(error.request_id).not.toBe("mine");
  });

  it("says with 405 which methods there are", async () => {
    const answer = await admin.call("PUT", `/api/organizations/${organization}/keys`);
    expect(answer.headers["allow"]).toBe("POST, GET, HEAD");
  });
});

describe("a request body", () => {
  const path = () => `/api/organizations/${organization}`;

  it.each([
    { name: "malformed JSON", body: '{"name": ', status: 400, code: "invalid_json" },
    { name: "an empty body", body: "", status: 400, code: "invalid_json" },
    { name: "a list", body: "[]", status: 400, code: "invalid_json" },
    { name: "a text", body: '"name"', status: 400, code: "invalid_json" },
    { name: "null", body: "null", status: 400, code: "invalid_json" },
    { name: "broken UTF-8", body: new Uint8Array([0x7b, 0xff, 0x7d]), status: 400, code: "invalid_json" },
    {
      name: "more than 1 MiB",
      body: `{"name":"${"a".repeat(1_048_576)}"}`,
      status: 413,
      code: "request_too_large",
    },
    { name: "very deep JSON", body: "[".repeat(500_000), status: 400, code: "invalid_parameter" },
  ])("of $name is $status", async ({ body, status, code }) => {
    expect(await admin.refused("PATCH", path(), { body })).toMatchObject({ status, code });
  });

  it("of just 1 MiB is read", async () => {
    const body = `{"name":"fits"${" ".repeat(1_048_576 - 15)}}`;
    expect(Buffer.byteLength(body)).toBe(1_048_576);
    expect(await admin.ok("PATCH", path(), { body })).toMatchObject({ name: "fits" });
  });

  it("without a length is cut off behind 1 MiB", async () => {
    const head = `PATCH ${path()} HTTP/1.1\r\nhost: x\r\n${BEARER}\r\ntransfer-encoding: chunked\r\n\r\n`;
    const chunk = `40000\r\n${"a".repeat(0x40000)}\r\n`;
    expect(await sendRaw(head + chunk.repeat(5))).toMatch(/^HTTP\/1\.1 413 /);
  });

  it("that is compressed is 415", async () => {
    const refusal = await admin.refused("PATCH", path(), {
      headers: { "content-encoding": "gzip" },
      body: "{}",
    });
    expect(refusal).toMatchObject({ status: 415, code: "unsupported_media_type" });
  });

  it("where none is taken is 400, but for an empty object", async () => {
    const revoke = `${path()}/keys/revoke-all`;
    expect(await admin.refused("POST", revoke, { body: { yes: true } })).toMatchObject({
      status: 400,
      param: "body",
    });
    await admin.ok("POST", revoke, { body: {} });
  });

  it("is not repeated in the error: it may hold a secret", async () => {
    const refusal = await admin.refused("PATCH", path(), { body: '{"webhook": s3cret' });
    expect(refusal.message).not.toContain("s3cret");
  });

  it("needs no content-type", async () => {
    const body = Buffer.from('{"name":"plain"}');
    expect(await admin.ok("PATCH", path(), { body })).toMatchObject({ name: "plain" });
  });
});

describe("what is no HTTP request", () => {
  it.each([
    { name: "garbage", text: "garbage\r\n\r\n", status: 400 },
    {
      name: "no Host",
      text: `GET /api/organizations HTTP/1.1\r\nconnection: close\r\n${BEARER}\r\n\r\n`,
      status: 400,
    },
    {
      name: "headers above 16 KiB",
      text: `GET / HTTP/1.1\r\nhost: x\r\nx-long: ${"a".repeat(20_000)}\r\n\r\n`,
      status: 431,
    },
    {
      name: "two lengths",
      text: "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
      status: 400,
    },
  ])(
    "$name is answered $status, in the shape of errors and with the security headers",
    async ({ text, status }) => {
      const answer = await sendRaw(text);
      expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(answer.toLowerCase()).toContain("content-security-policy: default-src 'self'");
      expect(answer).toContain('"error":{"message":');
    },
  );

  it("an expectation that nobody meets is passed over", async () => {
    const answer = await sendRaw(
      `GET /api/catalog HTTP/1.1\r\nhost: x\r\n${BEARER}\r\nexpect: everything\r\nconnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toContain("content-security-policy");
  });
});

describe("startAdminServer", () => {
  const options = {
    port: 0,
    tls: null,
    operatorToken: OPERATOR_TOKEN,
    reports: new ReportTurns(),
    catalog: () => {
      throw new Error("not asked");
    },
    readConfigState: () => ({
      catalogSince: new Date(0).toISOString(),
      refused: null,
      waitingForRestart: [],
    }),
    email: { mailer: null, maxPerHour: 1, allowedDomains: null },
    allowPrivateWebhooks: false,
    nowMs: () => 0,
    logger: { info: () => undefined, warn: () => undefined, error: () => undefined },
  };

  it("refuses to listen off loopback in the clear, and says what to set", async () => {
    const { store } = admin;
    const start = startAdminServer({ ...options, store, host: "0.0.0.0", allowPlainHttp: false });
    await expect(start).rejects.toThrow(/admin\.tls.*admin\.allow_plain_http/);
  });

  it("answers over TLS with the operator's certificate, and over nothing older than TLS 1.2", async () => {
    const authority = await createTestAuthority();
    const dir = await mkdtemp(join(tmpdir(), "igw-admin-tls-"));
    const pair = await authority.issue("localhost", ["localhost", "IP:127.0.0.1"]);
    const [certFile, keyFile] = [join(dir, "admin.crt"), join(dir, "admin.key")];
    await Promise.all([writeFile(certFile, pair.cert), writeFile(keyFile, pair.key)]);
    const tls = { certFile, keyFile };
    const { store } = admin;
    const server = await startAdminServer({ ...options, store, tls, host: "0.0.0.0", allowPlainHttp: false });
    try {
      expect(server.url).toMatch(/^https:/);
      const port = Number(new URL(server.url).port);
      const answer = await getOverTls(port, authority.ca, {});
      expect(answer).toMatchObject({ status: 200 });
      expect(answer.headers["content-security-policy"]).toContain("default-src 'self'");
      await expect(getOverTls(port, authority.ca, { maxVersion: "TLSv1.1" })).rejects.toThrow(
        /protocol|version/i,
      );
    } finally {
      await server.close();
      await authority.close();
      await rm(dir, { recursive: true, force: true });
    }
  });

  it("listens off loopback where that was allowed", async () => {
    const { store } = admin;
    const server = await startAdminServer({ ...options, store, host: "0.0.0.0", allowPlainHttp: true });
    expect(server.url).toMatch(/^http:\/\/0\.0\.0\.0:\d+$/);
    await server.close();
  });

  it("says so when the port is taken", async () => {
    const { store } = admin;
    const port = Number(new URL(admin.url).port);
    const start = startAdminServer({ ...options, store, host: "127.0.0.1", port, allowPlainHttp: false });
    await expect(start).rejects.toThrow(/EADDRINUSE/);
  });
});
