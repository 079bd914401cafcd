/** Requests without a good credential, in every spelling: none reaches ext_proc or an upstream. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ADMISSION_HEADER } from "../../src/envoy/names.ts";
import { startEdge } from "./edge/edge.ts";
import type { Edge } from "./edge/edge.ts";
import { sendHttp2 } from "./edge/http2-client.ts";
import { send, sendRaw } from "./edge/raw-client.ts";
import { createTokenConfig } from "../support/with-and-without-tokens.ts";

const CHAT = "/v1/chat/completions";

let edge: Edge;

/** Of nobody's key, and long over. */
const BAD_TOKEN = `Bearer ${[{ alg: "RS256" }, { iss: "https://login.example.com", exp: 1 }, {}]
  .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
  .join(".")}`;
const VARIANTS = [
  ["where API keys alone are taken", { takesTokens: false, credential: null }],
  ["where tokens are taken, too", { takesTokens: true, credential: null }],
  ["where tokens are taken, with one that is not good", { takesTokens: true, credential: BAD_TOKEN }],
] as const;

describe.each(VARIANTS)("%s", (_name, { takesTokens, credential }) => {
  const AUTHORIZATION: Record<string, string> = credential === null ? {} : { authorization: credential };
  const LINE = credential === null ? "" : `authorization: ${credential}\r\n`;
  beforeAll(async () => {
    edge = await startEdge(takesTokens ? { jwt: await createTokenConfig() } : {});
  });
  afterEach(() => {
    edge.sidecar.reset();
    edge.upstream.reset();
  });
  afterAll(() => edge.stop());

  describe("a request without a good credential", () => {
    const paths = [
      CHAT,
      "//v1/chat/completions",
      "/v1//chat/completions",
      "/v1/./chat/completions",
      "/v1/../v1/chat/completions",
      "/v1/%2e%2e/v1/chat/completions",
      "/v1%2Fchat/completions",
      "/%76%31/chat/completions",
      "/healthz/../v1/chat/completions",
      "/healthz%2F..%2Fv1/chat/completions",
      "/V1/chat/completions",
      "/v1/chat/completions/",
      "/v1/chat/completions;x=1",
      "/v1/chat/completions#/healthz",
      "/v1/chat/completions?/healthz",
      "\\v1\\chat\\completions",
      "/",
      "/healthz",
      "/readyz",
      "/api/hello",
      "http://gateway.example/v1/chat/completions",
      "https://other.example//v1/chat/completions",
      "http://gateway.example",
      "*",
    ];

    it.each(paths)("never reaches an upstream or ext_proc by POST %s", async (path) => {
      const response = await sendRaw(
        edge.port,
        `POST ${path} HTTP/1.1\r\nhost: a\r\n${LINE}content-length: 2\r\n\r\n{}`,
      );
      expect([400, 401, 404]).toContain(response.status);
      expectNothingPassed();
    });

    it.each(["other.example", "127.0.0.1:1", "[::1]", "GATEWAY.EXAMPLE:443"])(
      "never reaches an upstream with the Host %s",
      async (host) => {
        expect((await send(edge.port, "POST", CHAT, { host, ...AUTHORIZATION }, "{}")).status).toBe(401);
        expectNothingPassed();
      },
    );

    it.each(["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "FOO"])(
      "never reaches an upstream by %s",
      async (method) => {
        const target = method === "CONNECT" ? "a:443" : CHAT;
        const response = await sendRaw(edge.port, `${method} ${target} HTTP/1.1\r\nhost: a\r\n${LINE}\r\n`);
        expect([400, 401, 403]).toContain(response.status);
        expectNothingPassed();
      },
    );

    it.each<[string, Record<string, string>]>([
      ["the usual way", { ":method": "POST", ":path": CHAT }],
      ["with two slashes", { ":method": "POST", ":path": "//v1/chat/completions" }],
      ["with a dot segment", { ":method": "POST", ":path": "/healthz/../v1/chat/completions" }],
      ["with a path that is none", { ":method": "POST", ":path": "v1/chat/completions" }],
      ["by CONNECT", { ":method": "CONNECT", ":authority": "a:443" }],
      ["with a forged admission", { ":method": "POST", ":path": CHAT, [ADMISSION_HEADER]: "{}" }],
    ])("never reaches an upstream over HTTP/2 %s", async (_name, headers) => {
      const status = await sendHttp2(edge.port, { ...headers, ...AUTHORIZATION });
      expect(["400", "401", "403", "404", "reset"]).toContain(status);
      expectNothingPassed();
    });

    it("never reaches an upstream by forged headers of the gateway's own", async () => {
      const forged = {
        [ADMISSION_HEADER]: "{}",
        "x-igw-upstream": "main",
        "X-IGW-Upstream": "main",
        ...AUTHORIZATION,
      };
      expect((await send(edge.port, "POST", CHAT, forged, "{}")).status).toBe(401);
      expectNothingPassed();
    });
  });
});

/** Nothing was let through to ext_proc, and so nothing to an upstream. */
function expectNothingPassed(): void {
  expect(edge.upstream.requests).toEqual([]);
  expect(edge.sidecar.messages).toEqual([]);
}
