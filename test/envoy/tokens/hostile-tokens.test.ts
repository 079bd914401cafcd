/** Tokens that are not good, in every way: none passes, and each answer is the gateway's own. */
import { createHmac } from "node:crypto";
import { exportSPKI, importJWK } from "jose";
import { describe, expect, it } from "vitest";
import type { HttpAnswer } from "../../support/http.ts";
import { createSigningKey } from "../../support/token-issuer.ts";
import { BOUND, withTokenStack } from "./token-stack.ts";

const tokens = withTokenStack();

const now = () => Math.floor(Date.now() / 1000);
const sign = (claims: object = {}, options: object = {}) =>
  tokens.corp.sign({ ...BOUND, ...claims }, options);
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
const payloadOf = (claims: object = {}) =>
  encode({
    iss: tokens.corp.issuer,
    aud: "inference-gateway",
    sub: "x",
    exp: now() + 60,
    ...BOUND,
    ...claims,
  });

async function hmacToken(): Promise<string> {
  const jwk = tokens.corp.keys[0]?.publicJwk ?? {};
  const pem = await exportSPKI((await importJWK(jwk, "RS256", { extractable: true })) as never);
  const head = encode({ alg: "HS256", kid: jwk.kid, typ: "JWT" });
  const body = payloadOf();
  const signature = createHmac("sha256", pem).update(`${head}.${body}`).digest("base64url");
  return `${head}.${body}.${signature}`;
}

function expectOurs(answer: HttpAnswer, status = 401, code = "invalid_api_key"): string {
  expect(answer.status).toBe(status);
  const { error } = answer.json() as { error: Record<string, string> };
  expect(error["code"]).toBe(code);
  expect(answer.headers["x-service-ratelimit-remaining"]).toBe("0");
  expect(answer.headers["x-request-id"]).toMatch(/^req_/);
  expect(answer.headers["content-type"]).toMatch(/^application\/json/);
  expect(tokens.chat.upstream.requests).toEqual([]);
  return String(error["message"]);
}

interface Row {
  readonly name: string;
  readonly token: () => string | Promise<string>;
  readonly says: RegExp;
}

const ROWS: readonly Row[] = [
  { name: "alg none", token: () => `${encode({ alg: "none" })}.${payloadOf()}.`, says: /well-formed JWT/ },
  { name: "HS256 with the public key", token: hmacToken, says: /`kid`, `alg`/ },
  { name: "another kid", token: () => sign({}, { header: { kid: "unknown" } }), says: /`kid`, `alg`/ },
  {
    name: "the keys of another provider",
    token: () => sign({}, { key: tokens.other.keys[0] }),
    says: /`kid`, `alg`|signature/,
  },
  {
    name: "the keys of another provider under its kid",
    token: () => sign({}, { key: tokens.other.keys[0], header: { kid: tokens.corp.keys[0]?.kid } }),
    says: /signature/,
  },
  {
    name: "the other provider's issuer with its keys",
    token: () => sign({ iss: tokens.other.issuer }),
    says: /`kid`, `alg`|signature/,
  },
  {
    name: "a key that nobody has published",
    token: async () => sign({}, { key: await createSigningKey(tokens.corp.keys[0]?.kid ?? "") }),
    says: /signature/,
  },
  { name: "an issuer that is not known", token: () => sign({ iss: "https://evil.example" }), says: /`iss`/ },
  { name: "the issuer with a slash", token: () => sign({ iss: `${tokens.corp.issuer}/` }), says: /`iss`/ },
  { name: "no issuer", token: () => sign({ iss: undefined }), says: /`iss`/ },
  { name: "another audience", token: () => sign({ aud: "another" }), says: /`aud`/ },
  { name: "a list of other audiences", token: () => sign({ aud: ["a", "b"] }), says: /`aud`/ },
  { name: "the other provider's audience", token: () => sign({ aud: "second" }), says: /`aud`/ },
  { name: "no audience", token: () => sign({ aud: undefined }), says: /`aud`/ },
  { name: "one second too late", token: () => sign({ exp: now() - 6 }), says: /has expired/ },
  { name: "long expired", token: () => sign({ exp: 1 }), says: /has expired/ },
  { name: "not yet valid", token: () => sign({ nbf: now() + 60 }), says: /not valid yet/ },
  { name: "no end", token: () => sign({ exp: undefined }), says: /`exp`/ },
  { name: "a text as its end", token: () => sign({ exp: "9999999999" }), says: /JWT/ },
  { name: "a number as its subject", token: () => sign({ sub: 42 }), says: /JWT/ },
  {
    name: "a payload that was swapped",
    token: async () => {
      const [head, , signature] = (await sign()).split(".");
      return `${head}.${payloadOf({ sub: "admin" })}.${signature}`;
    },
    says: /signature/,
  },
  {
    name: "extensions that must be understood",
    token: () => sign({}, { header: { crit: ["b64"], b64: true } }),
    says: /`crit`/,
  },
  {
    name: "more than 16 KiB",
    token: () => sign({ filler: "x".repeat(13_000) }),
    says: /not longer than 16 KiB/,
  },
  { name: "junk behind it", token: async () => `${await sign()}x`, says: /signature|JWT/ },
  { name: "a part of it", token: async () => (await sign()).slice(0, 40), says: /JWT/ },
  { name: "nothing but its beginning", token: () => "eyJ", says: /JWT/ },
];

describe("a token that is not good", () => {
  it.each(ROWS)("is refused with what is wrong: $name", async ({ token, says }) => {
    const made = await token();
    for (const headers of [{ authorization: `Bearer ${made}` }, { "x-api-key": made }]) {
      expect(expectOurs(await tokens.call(headers))).toMatch(says);
    }
  });

  it.each(["/v1/models", "/v1/key", "/v1/messages", "/v1/responses", "/v1/embeddings", "/v1/nothing"])(
    "is refused in the gateway's envelope at %s too",
    async (path) => {
      const answer = await tokens.call({ authorization: `Bearer ${await sign({ exp: 1 })}` }, path);
      const body = answer.json();
      const error = (body["error"] ?? body) as Record<string, unknown>;
      expect(answer.status).toBe(401);
      expect(error["message"]).toMatch(/has expired/);
    },
  );

  it("does not keep probes from their answers", async () => {
    for (const path of ["/healthz", "/readyz", "/"]) {
      expect((await tokens.call({ authorization: "Bearer eyJ.eyJ.x" }, path)).status).toBe(200);
    }
  });

  it("is refused where Envoy has no verdict on what looks like one", async () => {
    const token = await sign();
    for (const headers of [
      { authorization: `BEARER ${token}` },
      { authorization: `Bearer\t${token}` },
      { authorization: token },
      { authorization: `Basic Bearer ${token}` },
      { "x-api-key": `Bearer ${token}` },
    ]) {
      expect(expectOurs(await tokens.call(headers))).toMatch(/was not verified/);
    }
  });

  it("is refused where another credential stands beside it, good or not", async () => {
    const [token, key] = [await sign(), tokens.chat.key.key];
    const bad = await sign({ exp: 1 });
    for (const headers of [
      { authorization: `Bearer ${token}`, "x-api-key": key },
      { authorization: `Bearer ${key}`, "x-api-key": token },
      { authorization: `Bearer ${bad}`, "x-api-key": key },
      { authorization: `Bearer ${token}`, "x-api-key": bad },
      { authorization: `Bearer ${token}`, "x-api-key": token },
    ]) {
      expect(expectOurs(await tokens.call(headers))).toMatch(/Two credentials/);
    }
    for (const authorization of [
      [`Bearer ${token}`, `Bearer ${key}`],
      [`Bearer ${key}`, `Bearer ${token}`],
      [`Bearer ${token}`, `Bearer ${token}`],
      [`Bearer ${token}`, `Bearer ${bad}`],
    ]) {
      expectOurs(await tokens.call({ authorization }));
    }
  });

  it("in the query is none at all", async () => {
    const token = await sign();
    const answer = await tokens.call({}, `/v1/models?access_token=${token}`);
    expect(expectOurs(answer, 401, "missing_api_key")).toMatch(/No API key/);
  });

  it("with forged headers of claims or metadata changes nothing", async () => {
    const answer = await tokens.call({
      "x-jwt-payload": payloadOf(),
      "x-envoy-metadata": "verified.corp",
      "x-igw-sub": "admin",
    });
    expect(expectOurs(answer, 401, "missing_api_key")).toMatch(/No API key/);
  });
});

describe("a token that is good, if unusual", () => {
  it.each([
    ["its audience in a list", { aud: ["x", "inference-gateway"] }],
    ["claims of 8 kB", { filler: "x".repeat(8_192) }],
    ["no word of when it was made", { iat: undefined }],
    ["claims by the names of an object's own", { constructor: { a: 1 }, toString: "x", "__proto__ ": 1 }],
    ["deeply nested claims", { deep: JSON.parse(`${"[".repeat(40)}${"]".repeat(40)}`) as unknown }],
  ])("passes with %s", async (_name, claims) => {
    expect((await tokens.bearer(await sign({ sub: "unusual", ...claims }))).status).toBe(200);
  });

  it("passes while its end is within the tolerated clock", async () => {
    expect((await tokens.bearer(await sign({ sub: "late", exp: now() }))).status).toBe(200);
  });

  it("passes with a claim called __proto__, which is nobody's prototype", async () => {
    const claims = JSON.parse('{"__proto__": {"tenant": "acme"}}') as object;
    expect((await tokens.bearer(await sign({ sub: "proto", ...claims }))).status).toBe(200);
    const without = Object.defineProperty({ sub: "proto" }, "__proto__", {
      value: { tenant: "acme" },
      enumerable: true,
    });
    expect((await tokens.bearer(await tokens.corp.sign(without))).status).toBe(403);
  });
});
