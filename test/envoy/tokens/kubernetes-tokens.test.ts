/**
 * Tokens that a real Kubernetes API server signs for its service accounts, checked by the keys that it tells: the gateway asks
 * for them as a service account of its own, which every cluster lets it do.
 */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type ApiServer, findKubernetes, ISSUER, startApiServer } from "../../packaging/kubernetes.ts";
import { summarizeError } from "../../support/answer-checks.ts";
import { CHAT_PATH, chatBody, withChatStack } from "../../support/chat-stack.ts";
import type { HttpAnswer } from "../../support/http.ts";
import { type PrivateRedis, startRedis } from "../../support/redis.ts";
import { waitFor } from "../../support/wait.ts";
import { createTokenOrganization } from "./token-stack.ts";

const missing = findKubernetes();
const AUDIENCE = "inference-gateway";

describe.skipIf(missing !== null)("a service account's token of a real cluster", () => {
  const own: { cluster?: ApiServer; redis?: PrivateRedis } = {};
  const dir = mkdtempSync(join(tmpdir(), "igw-pod-"));

  async function kubectl(...args: readonly string[]): Promise<string> {
    const ran = await own.cluster?.kubectl(...args);
    if (ran?.code !== 0) throw new Error(ran?.stderr);
    return ran.stdout.trim();
  }

  async function createAccount(namespace: string, name: string): Promise<void> {
    await kubectl("create", "namespace", namespace);
    await kubectl("create", "serviceaccount", name, "--namespace", namespace);
  }

  const createToken = (namespace: string, name: string, ...more: readonly string[]): Promise<string> =>
    kubectl("create", "token", name, "--namespace", namespace, ...more);

  const chat = withChatStack(async () => {
    own.cluster = await startApiServer();
    await createAccount("gateway", "gateway");
    await createAccount("batch", "worker");
    await createAccount("other", "worker");
    const tokenFile = join(dir, "token");
    writeFileSync(tokenFile, await createToken("gateway", "gateway"));
    chmodSync(tokenFile, 0o600);
    own.redis = await startRedis();
    const { organization } = await createTokenOrganization(own.redis.url);
    const provider = {
      name: "cluster",
      issuer: ISSUER,
      audiences: [AUDIENCE],
      jwks: {
        url: `${own.cluster.url}/openid/v1/jwks`,
        ca_file: own.cluster.caFile,
        token_file: tokenFile,
      },
      bound_claims: { "kubernetes.io.namespace": "batch" },
      organization,
    };
    return { overrides: { redis: { url: own.redis.url }, jwt: { providers: [provider] } } };
  });
  afterAll(async () => {
    await own.cluster?.stop();
    await own.redis?.stop();
    rmSync(dir, { recursive: true });
  }, 60_000);

  const call = (token: string, more: object = { path: CHAT_PATH, body: chatBody() }): Promise<HttpAnswer> =>
    chat.send({ key: null, headers: { authorization: `Bearer ${token}` }, ...more });

  it("is let in, and its requests are its account's", async () => {
    const token = await createToken("batch", "worker", "--audience", AUDIENCE);
    await waitFor("the cluster's keys", async () => (await call(token)).status === 200);
    const status = (await call(token, { method: "GET", path: "/v1/key" })).json();
    expect(status).toMatchObject({ name: "jwt:cluster" });
    expect(JSON.stringify(status)).toContain("system:serviceaccount:batch:worker");
  });

  it("is refused for another audience, of another namespace, and with another token's signature", async () => {
    const ofServer = await createToken("batch", "worker");
    const ofOther = await createToken("other", "worker", "--audience", AUDIENCE);
    const [head, claims] = (await createToken("batch", "worker", "--audience", AUDIENCE)).split(".");
    const forged = `${head}.${claims}.${ofOther.split(".")[2]}`;
    const refused = await Promise.all([ofServer, ofOther, forged].map(async (token) => await call(token)));
    expect(refused.map(({ status }) => status)).toEqual([401, 403, 401]);
    for (const answer of refused) expect(summarizeError(answer).breaches).toEqual([]);
  });
});
