/**
 * Every reply that Envoy makes by itself, a row each, on a chat route and on a messages route: status, headers, body.
 * The requests reach the real Envoy with the bootstrap that is shipped, only its waits are shorter.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ERRORS, GatewayError } from "../../src/shared/contract/errors.ts";
import type { ErrorCode } from "../../src/shared/contract/errors.ts";
import { LOST_CONNECTION_HEADER } from "../../src/envoy/names.ts";
import { LOCAL_REPLIES } from "../../src/envoy/bootstrap/local-replies.ts";
import { startEdge } from "./edge/edge.ts";
import type { Edge } from "./edge/edge.ts";
import { waitFor } from "./edge/envoy-process.ts";
import { head, LOCAL_REPLY_CASES, LOST, post } from "./edge/local-reply-cases.ts";
import type { LocalReplyCase } from "./edge/local-reply-cases.ts";
import { send, sendRaw, startUpload } from "./edge/raw-client.ts";
import type { RawResponse } from "./edge/raw-client.ts";
import { deny, immediate, passOn, REMAINING, REQUEST_ID } from "./edge/sidecar-stand-in.ts";

const ROUTES = [
  { path: "/v1/chat/completions", protocol: "chat" },
  { path: "/v1/messages?beta=true", protocol: "messages" },
] as const;
type Route = (typeof ROUTES)[number];

let edge: Edge;

beforeAll(async () => {
  edge = await startEdge({
    upstreams: [
      '{name: nameless, url: "http://nowhere.invalid:80"}',
      '{name: keyless, url: "http://127.0.0.1:9", credential: {env: OTHER_KEY}}',
    ],
    env: { OTHER_KEY: "removed below" },
    timeouts: {
      requestHeadersSeconds: 1,
      requestSeconds: 2,
      streamIdleSeconds: 3,
      admissionSeconds: 1,
      processingSeconds: 1,
      hangSeconds: 10,
    },
    beforeStart: (folder) => {
      writeFileSync(join(folder, "run/secrets/keyless.yaml"), "resources: []\n");
    },
  });
});
afterEach(() => {
  edge.sidecar.reset();
  edge.upstream.reset();
});
afterAll(() => edge.stop());

describe.each(ROUTES)("a reply of Envoy's own on $path", (target) => {
  it.each(LOCAL_REPLY_CASES)("tells the client of $name as $code", async (row) => {
    expect(summarize(await row.act(edge, target.path))).toEqual(expectedReply(row, target));
  });

  it("tells the client that the sidecar is gone as gateway_unavailable", async () => {
    edge.sidecar.stop();
    try {
      await edge.waitForSidecar("gone");
      const expected = expectedReply({ code: "gateway_unavailable", seen: "headers" }, target);
      expect(summarize(await post(edge, target.path))).toEqual(expected);
    } finally {
      await edge.sidecar.start();
      await edge.waitForSidecar("healthy");
    }
  });

  it.each([
    {
      name: "between admission and body",
      act: async () => {
        const upload = startUpload(edge.port, `${head(target.path, "content-length: 2")}\r\n{}`);
        await waitFor("the admission", () => edge.sidecar.checks.length === 1);
        edge.sidecar.stop();
        await edge.waitForSidecar("gone");
        return upload.finish();
      },
    },
    {
      name: "with the headers in hand",
      act: () => {
        edge.sidecar.onProcess = () => {
          edge.sidecar.stop();
          return null;
        };
        return post(edge, target.path);
      },
    },
    {
      name: "with the body in hand",
      act: () => {
        edge.sidecar.onProcess = (message) => {
          if (message.request_headers) return passOn(message);
          edge.sidecar.stop();
          return null;
        };
        return post(edge, target.path);
      },
    },
    {
      name: "while the upstream thinks",
      act: async () => {
        edge.upstream.onRequest = () => undefined;
        const answer = post(edge, target.path);
        await waitFor("the upstream has the request", () => edge.upstream.requests.length === 1);
        edge.sidecar.stop();
        return answer;
      },
    },
  ])("tells the client of a sidecar that dies $name as gateway_unavailable", async ({ act }) => {
    try {
      const expected = expectedReply(
        { code: "gateway_unavailable", message: LOST, seen: "admitted" },
        target,
      );
      expect(summarize(await act())).toEqual(expected);
    } finally {
      await edge.sidecar.start();
      await edge.waitForSidecar("healthy");
    }
  });

  it("leaves a refusal of ext_authz as the sidecar has written it", async () => {
    const headers = { "content-type": "application/json", "x-request-id": "req_own", "retry-after": "7" };
    edge.sidecar.onCheck = () => deny(429, '{"mine":true}', headers);
    const response = await post(edge, target.path);
    expect(response).toMatchObject({ status: 429, body: '{"mine":true}', headers });
    expect(response.headers["x-should-retry"]).toBeUndefined();
    expect(edge.sidecar.messages).toEqual([]);
  });

  it.each([404, 500, 503])("leaves a %i of ext_proc as the sidecar has written it", async (status) => {
    edge.sidecar.onProcess = () => immediate(status, '{"mine":true}', "gateway");
    const response = await post(edge, target.path);
    expect(response).toMatchObject({ status, body: '{"mine":true}' });
    expect(response.headers).toMatchObject({
      "content-type": "application/json",
      "x-service-ratelimit-remaining": REMAINING,
      "x-request-id": REQUEST_ID,
    });
    expect(response.headers["x-should-retry"]).toBeUndefined();
  });

  it("leaves an upstream's own error as the upstream has written it", async () => {
    edge.upstream.onRequest = (_request, response) => void response.writeHead(503).end("busy");
    expect(await post(edge, target.path)).toMatchObject({ status: 503, body: "busy" });
  });
});

describe("a reply of Envoy's own without a route", () => {
  it.each([
    {
      name: "CONNECT",
      request: "CONNECT a:443 HTTP/1.1\r\nhost: a:443\r\n\r\n",
      code: "upgrade_not_supported",
    },
    { name: "OPTIONS *", request: "OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n", code: "unknown_endpoint" },
  ] as const)("answers $name with $code and asks the sidecar nothing", async ({ request, code }) => {
    const response = await sendRaw(edge.port, request);
    expect(response.status).toBe(ERRORS[code].status);
    const id = response.headers["x-request-id"];
    expect(JSON.parse(response.body)).toMatchObject({
      error: { code, message: ERRORS[code].message, request_id: id },
    });
    expect(response.headers).toMatchObject({
      "x-service-ratelimit-remaining": "0",
      "x-request-id": expect.stringMatching(/^req_/) as string,
      "request-id": id,
    });
    expect([edge.sidecar.checks, edge.sidecar.messages]).toEqual([[], []]);
  });
});

describe("a preflight with --cors-origin", () => {
  it("carries what every response carries, and asks the sidecar nothing", async () => {
    const open = await startEdge({ corsAllowOrigins: ["https://app.example.com"] });
    try {
      const response = await send(open.port, "OPTIONS", "/v1/chat/completions", {
        origin: "https://app.example.com",
        "access-control-request-method": "POST",
      });
      expect(response.status).toBe(200);
      expect(response.headers).toMatchObject({
        "access-control-allow-origin": "https://app.example.com",
        "x-service-ratelimit-remaining": "0",
        "x-request-id": expect.stringMatching(/^req_/) as string,
        "request-id": response.headers["x-request-id"],
      });
      expect(open.sidecar.checks).toEqual([]);
    } finally {
      await open.stop();
    }
  });

  it("leaves the headers of an admitted request as the admission has set them", async () => {
    const open = await startEdge({ corsAllowOrigins: ["*"] });
    try {
      const response = await post(open, "/v1/chat/completions");
      expect(response.headers).toMatchObject({
        "x-service-ratelimit-remaining": REMAINING,
        "x-request-id": REQUEST_ID,
      });
    } finally {
      await open.stop();
    }
  });
});

describe("an Envoy whose memory is used up", () => {
  it.each(ROUTES)("answers gateway_overloaded on $path, before it asks the sidecar", async (target) => {
    const full = await startEdge({ maxHeapBytes: 1 });
    try {
      await waitFor("Envoy refuses", async () => (await post(full, target.path)).status === 503);
      full.sidecar.reset();
      const expected = expectedReply({ code: "gateway_overloaded", seen: "nothing" }, target);
      expect(summarize(await post(full, target.path))).toEqual(expected);
      expect(full.sidecar.checks).toEqual([]);
      expect((await send(full.port, "GET", "/healthz")).status).toBe(503);
    } finally {
      await full.stop();
    }
  });
});

describe("LOCAL_REPLIES", () => {
  it("has no row that is not tried here but those of Envoy's limits that nothing can reach from outside", () => {
    const tried = new Set<ErrorCode>([
      ...LOCAL_REPLY_CASES.map((row) => row.code),
      "gateway_overloaded",
      "unknown_endpoint",
      // By guardrail.test.ts.
      "guardrail_blocked",
    ]);
    const untried = LOCAL_REPLIES.map((row) => row.code).filter((code) => !tried.has(code));
    // A 413 is of a body that the sidecar has put in the place of a client's; it measures that first.
    expect(untried).toEqual(["request_too_large", "model_overloaded"]);
  });
});

/** A reply without what differs from one to the next: times, lengths, and the id, of which the kind is told. */
function summarize(response: RawResponse): object {
  const { date: _date, "content-length": _length, connection: _connection, ...rest } = response.headers;
  const headers: Record<string, string> = rest;
  // For the sidecar, whose reply takes this one's place: its stand-in here lets it through.
  delete headers[LOST_CONNECTION_HEADER];
  const requestId = headers["x-request-id"];
  const text = requestId === undefined ? response.body : response.body.replaceAll(requestId, "<id>");
  for (const name of ["x-request-id", "request-id"]) {
    if (headers[name] === requestId && requestId !== undefined) headers[name] = "<id>";
  }
  return { status: response.status, seen: whoMadeId(requestId), headers, body: JSON.parse(text) };
}

function whoMadeId(requestId: string | undefined): string {
  if (requestId === undefined) return "nobody";
  if (/^req_\d{19}$/.test(requestId)) return "nothing";
  if (requestId === REQUEST_ID) return "admitted";
  return /^req_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(requestId) ? "headers" : requestId;
}

function expectedReply(row: Omit<LocalReplyCase, "name" | "act">, target: Route): object {
  const protocol = row.hasRoute === false ? "chat" : target.protocol;
  const definition: { status: number; message: string; retryAfterSeconds?: number } = ERRORS[row.code];
  const { status, retryAfterSeconds } = definition;
  const { type, shouldRetry } = new GatewayError(row.code);
  const id = "<id>";
  const error = {
    message: row.message ?? definition.message,
    type,
    code: row.code,
    param: null,
    request_id: id,
    doc_url: expect.stringMatching(new RegExp(`/errors#${row.code}$`)),
  };
  return {
    status,
    seen: row.seen,
    headers: {
      server: "inference-gateway",
      "content-type": "application/json",
      "x-service-ratelimit-remaining": row.seen === "admitted" ? REMAINING : "0",
      "x-should-retry": String(shouldRetry),
      "x-request-id": id,
      "request-id": id,
      ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
    },
    body:
      protocol === "chat"
        ? { error }
        : { type: "error", error: { ...error, details: { error_code: row.code } }, request_id: id },
  };
}
