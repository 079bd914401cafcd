/** The bootstrap that is shipped, on the real Envoy: what becomes of requests on their way through it. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ADMISSION_HEADER } from "../../src/envoy/names.ts";
import { startEdge } from "./edge/edge.ts";
import type { Edge } from "./edge/edge.ts";
import { sendHttp2 } from "./edge/http2-client.ts";
import { send, sendRaw } from "./edge/raw-client.ts";
import {
  admit,
  deny,
  immediate,
  passOn,
  readHeader,
  REMAINING,
  REQUEST_ID,
  route,
} from "./edge/sidecar-stand-in.ts";

const CHAT = "/v1/chat/completions";
const AUTHORIZED = { authorization: "Bearer good" };
const REQUEST_ID_FORM = /^req_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

let edge: Edge;

beforeAll(async () => {
  edge = await startEdge({ upstreams: ['{name: free, url: "http://127.0.0.1:UPSTREAM_PORT"}'] });
});
afterEach(() => {
  edge.sidecar.reset();
  edge.upstream.reset();
});
afterAll(() => edge.stop());

describe("an admitted request", () => {
  it("reaches ext_proc by the path as Envoy has normalised it, whatever the client wrote", async () => {
    for (const path of ["//v1/chat/completions", "/v1//chat/completions", "/v1/x/../chat/completions"]) {
      edge.sidecar.reset();
      await send(edge.port, "POST", path, AUTHORIZED, "{}");
      expect(edge.sidecar.checks[0]?.path).toBe(CHAT);
      expect(readHeader(edge.sidecar.messages[0] ?? {}, ":path")).toBe(CHAT);
    }
  });

  it("keeps the escaped slash of a model's id", async () => {
    edge.sidecar.onProcess = () => immediate(200, "{}", "gateway");
    await send(edge.port, "GET", "/v1/models/acme%2Fecho", AUTHORIZED);
    expect(edge.sidecar.checks[0]?.path).toBe("/v1/models/acme%2Fecho");
  });

  it("loses every x-igw- and x-envoy- header that the client sent before ext_authz sees it", async () => {
    const forged = {
      "x-igw-admission": "forged",
      "x-igw-upstream": "refusing",
      "x-igw-worker": "forged",
      "x-igw-other": "forged",
      "x-envoy-retry-on": "5xx",
      "x-envoy-original-path": "/forged",
    };
    await send(edge.port, "POST", CHAT, { ...AUTHORIZED, ...forged }, "{}");
    expect(JSON.stringify([edge.sidecar.checks, edge.upstream.requests])).not.toMatch(/forged|refusing|5xx/);
    expect(readHeader(edge.sidecar.messages[0] ?? {}, ADMISSION_HEADER)).toBe("{}");
  });

  it("gets the id of its admission on the response, never the client's own", async () => {
    const response = await send(edge.port, "POST", CHAT, { ...AUTHORIZED, "x-request-id": "mine" }, "{}");
    expect(response.headers).toMatchObject({
      "x-request-id": REQUEST_ID,
      "request-id": REQUEST_ID,
      "x-service-ratelimit-remaining": REMAINING,
    });
    expect(edge.sidecar.checks[0]?.headers["x-request-id"]).toMatch(REQUEST_ID_FORM);
  });

  it("shows its key to ext_authz only", async () => {
    await send(edge.port, "POST", CHAT, { ...AUTHORIZED, "x-api-key": "good", cookie: "a=b" }, "{}");
    expect(edge.sidecar.checks[0]?.headers).toMatchObject({
      authorization: "Bearer good",
      "x-api-key": "good",
    });
    const [first] = edge.sidecar.messages;
    const shown = ["authorization", "x-api-key", "cookie"].map((name) => readHeader(first ?? {}, name));
    expect(shown).toEqual([undefined, undefined, undefined]);
  });

  it("reaches the upstream with the upstream's credential and nothing about client or gateway", async () => {
    const headers = {
      ...AUTHORIZED,
      "x-api-key": "good",
      cookie: "a=b",
      te: "trailers",
      "accept-encoding": "gzip",
      forwarded: "for=1.2.3.4",
      "x-forwarded-for": "1.2.3.4",
      "anthropic-version": "2023-06-01",
      "anthropic-workspace-id": "workspace of the client",
      "openai-organization": "org",
      "x-stainless-lang": "js",
      "content-type": "application/json",
    };
    await send(edge.port, "POST", CHAT, headers, "{}");
    const { host, ...received } = edge.upstream.requests[0]?.headers ?? {};
    expect(host).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(received).toEqual({
      "accept-encoding": "identity",
      authorization: "Bearer upstream-secret",
      "content-length": "2",
      "content-type": "application/json",
      "x-request-id": REQUEST_ID,
    });
  });

  it("reaches an upstream without a credential without any", async () => {
    edge.sidecar.onProcess = (message) =>
      message.request_body ? route(message, "free", CHAT) : passOn(message);
    await send(edge.port, "POST", CHAT, { ...AUTHORIZED, "x-api-key": "good" }, "{}");
    expect(edge.upstream.requests).toHaveLength(1);
    expect(edge.upstream.requests[0]?.headers).not.toHaveProperty("authorization");
    expect(edge.upstream.requests[0]?.headers).not.toHaveProperty("x-api-key");
  });

  it("is sent upstream once, whatever the upstream answers", async () => {
    edge.upstream.onRequest = (_request, response) => void response.writeHead(503).end();
    await send(edge.port, "POST", CHAT, AUTHORIZED, "{}");
    edge.upstream.onRequest = (_request, response) => void response.destroy();
    await send(edge.port, "POST", CHAT, { ...AUTHORIZED, "x-envoy-retry-on": "5xx,reset" }, "{}");
    expect(edge.upstream.requests).toHaveLength(2);
  });

  it.each(["length", "chunks"])("keeps a body of the largest size whole, sent by %s", async (framing) => {
    const body = "x".repeat(1_048_576);
    const length = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    const head = `POST ${CHAT} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer good\r\n`;
    edge.sidecar.onCheck = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return admit();
    };
    const response = await (framing === "length"
      ? send(edge.port, "POST", CHAT, AUTHORIZED, body)
      : sendRaw(edge.port, `${head}transfer-encoding: chunked\r\n\r\n${length}`));
    expect(response.status).toBe(200);
    expect(edge.upstream.requests[0]?.body.length).toBe(body.length);
  });

  it("goes on over HTTP/2 as over HTTP/1.1", async () => {
    expect(await sendHttp2(edge.port, { ":method": "POST", ":path": CHAT, ...AUTHORIZED }, "{}")).toBe("200");
    expect(edge.upstream.requests).toHaveLength(1);
  });

  it("does not reset its ext_proc stream when it is done", async () => {
    for (let count = 0; count < 20; count += 1) await send(edge.port, "POST", CHAT, AUTHORIZED, "{}");
    expect(await edge.envoy.stat("cluster.sidecar.upstream_rq_tx_reset")).toBe(0);
  });
});

describe("a public endpoint", () => {
  it.each([
    ["GET", "/healthz"],
    ["HEAD", "/healthz"],
    ["GET", "/"],
    ["HEAD", "/"],
    ["GET", "/?probe=1"],
    ["GET", "/api/hello"],
    ["HEAD", "/api/hello"],
  ])("answers %s %s without a key and without the sidecar", async (method, path) => {
    const response = await send(edge.port, method, path, { connection: "close", "x-request-id": "mine" });
    expect(response.status).toBe(200);
    expect(response.headers).toMatchObject({
      "content-type": "application/json",
      "x-service-ratelimit-remaining": "0",
      "x-request-id": expect.stringMatching(REQUEST_ID_FORM),
      "request-id": response.headers["x-request-id"],
    });
    expect(response.body.startsWith("{")).toBe(method === "GET");
    expect([edge.sidecar.checks, edge.sidecar.messages, edge.upstream.requests]).toEqual([[], [], []]);
  });

  it("names the service and its documentation on /", async () => {
    const response = await send(edge.port, "GET", "/");
    expect(JSON.parse(response.body)).toMatchObject({
      name: "inference-gateway",
      documentation: expect.stringMatching(/^http:\/\/.*\/errors$/),
    });
  });

  it("leaves other methods of its path to the sidecar", async () => {
    edge.sidecar.onProcess = () => immediate(405, "{}", "gateway");
    for (const path of ["/", "/healthz", "/api/hello"]) {
      expect((await send(edge.port, "DELETE", path, AUTHORIZED)).status).toBe(405);
    }
  });
});

describe("/readyz", () => {
  it.each([200, 503])("is the sidecar's own answer %i, given as a refusal of ext_authz", async (status) => {
    const headers = {
      "content-type": "application/json",
      "x-service-ratelimit-remaining": "0",
      "x-request-id": "req_r",
    };
    edge.sidecar.onCheck = () => deny(status, '{"checked":true}', headers);
    expect(await send(edge.port, "GET", "/readyz")).toMatchObject({
      status,
      body: '{"checked":true}',
      headers,
    });
    expect(edge.sidecar.messages).toEqual([]);
  });

  it("is not ready when the sidecar lets the request pass", async () => {
    expect((await send(edge.port, "GET", "/readyz", AUTHORIZED)).status).toBe(500);
  });

  it("is 503 when the sidecar is gone, and healthz still answers", async () => {
    edge.sidecar.stop();
    try {
      await edge.waitForSidecar("gone");
      expect(await send(edge.port, "GET", "/readyz")).toMatchObject({
        status: 503,
        headers: { "retry-after": "1" },
      });
      expect((await send(edge.port, "GET", "/healthz")).status).toBe(200);
    } finally {
      await edge.sidecar.start();
      await edge.waitForSidecar("healthy");
    }
  });
});

describe("Envoy's admin interface", () => {
  it("is a socket that only its owner can open", () => {
    expect(statSync(join(edge.config.sidecar.sockets, "envoy-admin.sock")).mode & 0o777).toBe(0o600);
  });
});
