/**
 * Tokens of pods, as docs/jwt-callers.md sets them up: the keys come over TLS by an authority of the cluster's own, and are told
 * to those alone whom the server knows by a token, which is renewed in its file as the kubelet does it.
 */
import { once } from "node:events";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { CHAT_PATH, chatBody, withChatStack } from "../../support/chat-stack.ts";
import type { HttpAnswer } from "../../support/http.ts";
import { type PrivateRedis, startRedis } from "../../support/redis.ts";
import { createTestAuthority, type TestAuthority } from "../../support/tls.ts";
import { startTokenIssuer, type TokenIssuer } from "../../support/token-issuer.ts";
import { waitFor } from "../../support/wait.ts";
import { createTokenOrganization } from "./token-stack.ts";

const ISSUER = "https://kubernetes.default.svc.cluster.local";
const dir = mkdtempSync(join(tmpdir(), "igw-pod-"));
const tokenFile = join(dir, "token");

/** A projected volume: the file is a link into a folder that is swapped as a whole. */
function renewToken(version: string, token: string): void {
  mkdirSync(join(dir, version));
  writeFileSync(join(dir, version, "token"), token);
  symlinkSync(version, join(dir, "..data_tmp"));
  renameSync(join(dir, "..data_tmp"), join(dir, "..data"));
}

interface Own {
  authority: TestAuthority;
  keys: TokenIssuer;
  server: Server;
  redis: PrivateRedis;
}
const own: Partial<Own> = {};
/** What the server is asked with. */
const asked: (string | undefined)[] = [];
const KNOWN = "Bearer second";

const chat = withChatStack(async () => {
  own.authority = await createTestAuthority();
  own.keys = await startTokenIssuer(ISSUER);
  const caFile = join(dir, "ca.crt");
  writeFileSync(caFile, own.authority.ca);
  renewToken("..first", "first");
  symlinkSync("..data/token", tokenFile);
  const { publicJwk } = own.keys.keys[0] ?? {};
  own.server = createServer(
    await own.authority.issue("kube-apiserver", ["IP:127.0.0.1"]),
    (request, response) => {
      const { authorization } = request.headers;
      asked.push(authorization);
      response.statusCode = authorization === KNOWN ? 200 : 401;
      response.setHeader("content-type", "application/jwk-set+json");
      response.end(
        JSON.stringify(authorization === KNOWN ? { keys: [publicJwk] } : { kind: "Status", code: 401 }),
      );
    },
  );
  own.server.listen(0, "127.0.0.1");
  await once(own.server, "listening");
  own.redis = await startRedis();
  const { organization } = await createTokenOrganization(own.redis.url);
  const url = `https://127.0.0.1:${(own.server.address() as AddressInfo).port}/openid/v1/jwks`;
  const provider = {
    name: "cluster",
    issuer: ISSUER,
    audiences: ["inference-gateway"],
    jwks: { url, ca_file: caFile, token_file: tokenFile },
    bound_claims: { "kubernetes.io.namespace": "batch" },
    organization,
  };
  return { overrides: { redis: { url: own.redis.url }, jwt: { providers: [provider] } } };
});
afterAll(async () => {
  await own.keys?.close();
  own.server?.closeAllConnections();
  own.server?.close();
  await own.redis?.stop();
  await own.authority?.close();
  rmSync(dir, { recursive: true });
});

const tokenOf = async (namespace: string): Promise<string> => {
  const sub = `system:serviceaccount:${namespace}:worker`;
  return (await own.keys?.sign({ sub, "kubernetes.io": { namespace } })) ?? "";
};
const call = (token: string, more: object = { path: CHAT_PATH, body: chatBody() }): Promise<HttpAnswer> =>
  chat.send({ key: null, headers: { authorization: `Bearer ${token}` }, ...more });

it("is let in by keys that Envoy fetches with the renewed token, as its namespace and account", async () => {
  const token = await tokenOf("batch");
  // The server does not know the pod of the first token.
  await waitFor("the first token", () => asked.includes("Bearer first"));
  expect((await call(token)).status).toBe(503);
  renewToken("..second", "second");
  await waitFor("the renewed token", () => asked.includes("Bearer second"));
  await waitFor("the keys", async () => (await call(token)).status === 200);
  const status = (await call(token, { method: "GET", path: "/v1/key" })).json();
  expect(status).toMatchObject({ name: "jwt:cluster" });
  expect(JSON.stringify(status)).toContain("system:serviceaccount:batch:worker");
  expect((await call(await tokenOf("other"))).status).toBe(403);
});
