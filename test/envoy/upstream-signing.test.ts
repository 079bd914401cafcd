/** Upstreams whose requests are signed by AWS Signature Version 4: what is signed is what arrives. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { computeSignature, readSignature, sha256 } from "../support/aws-signature.ts";
import { startEdge } from "./edge/edge.ts";
import type { Edge, UpstreamRequest } from "./edge/edge.ts";
import { waitFor } from "./edge/envoy-process.ts";
import { send } from "./edge/raw-client.ts";
import { passOn, route } from "./edge/sidecar-stand-in.ts";

const PATH = "/openai/v1/chat/completions";
/** Of AWS's documentation; opens nothing. */
const SECRET_KEY = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const SESSION_TOKEN = "session-token-of-the-pod";

const SCOPE = "20150830/us-east-1/service/aws4_request";
const DATED = { host: "example.amazonaws.com", "x-amz-date": "20150830T123600Z" };
const VECTORS = [
  {
    name: "get-vanilla",
    request: { method: "GET", path: "/", headers: DATED, body: "" },
    signedHeaders: ["host", "x-amz-date"],
    signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
  },
  {
    name: "get-vanilla-query-order-key-case",
    request: { method: "GET", path: "/?Param2=value2&Param1=value1", headers: DATED, body: "" },
    signedHeaders: ["host", "x-amz-date"],
    signature: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
  },
  {
    name: "post-x-www-form-urlencoded",
    request: {
      method: "POST",
      path: "/",
      headers: { ...DATED, "content-type": "application/x-www-form-urlencoded" },
      body: "Param1=value1",
    },
    signedHeaders: ["content-type", "host", "x-amz-date"],
    signature: "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
  },
];

/** The pod's identity, as EKS Pod Identity and ECS hand it out. */
const identity = createServer((_request, response) => {
  const credentials = {
    AccessKeyId: "AKIDOFTHEPOD",
    SecretAccessKey: SECRET_KEY,
    Token: SESSION_TOKEN,
    Expiration: new Date(Date.now() + 3_600_000).toISOString(),
  };
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(credentials));
});
const folder = mkdtempSync(join(tmpdir(), "igw-aws-"));
const file = join(folder, "credentials");
let edge: Edge;

function writeCredentials(accessKeyId: string): void {
  const text = `[gateway]\naws_access_key_id=${accessKeyId}\naws_secret_access_key=${SECRET_KEY}\n`;
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

beforeAll(async () => {
  await new Promise<void>((resolve) => identity.listen(0, "127.0.0.1", resolve));
  const { port } = identity.address() as AddressInfo;
  writeCredentials("AKIDEXAMPLE");
  const url = "http://localhost:UPSTREAM_PORT";
  edge = await startEdge({
    maxBodyBytes: 8_388_608,
    upstreams: [
      `{name: signed, url: "${url}", aws_signing: {region: us-west-2, service: bedrock, credentials_file: ${file}, profile: gateway}}`,
      `{name: by-identity, url: "${url}", aws_signing: {region: us-west-2, service: bedrock}}`,
    ],
    envoyEnv: {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `http://127.0.0.1:${port}/credentials`,
      AWS_EC2_METADATA_DISABLED: "true",
    },
  });
}, 60_000);
afterAll(async () => {
  await edge.stop();
  identity.close();
  rmSync(folder, { recursive: true, force: true });
});

/** What arrives at the upstream of a request whose body the sidecar has rewritten. */
async function arriveAt(upstream: string, body: string): Promise<UpstreamRequest> {
  edge.sidecar.onProcess = (message) =>
    message.request_body ? route(message, upstream, PATH, body) : passOn(message);
  const theirs = {
    authorization: "Bearer good",
    "content-type": "application/json",
    "x-amz-date": "20200101T000000Z",
    "x-amz-security-token": "of the client",
  };
  const answer = await send(
    edge.port,
    "POST",
    "/v1/chat/completions?of=client",
    theirs,
    '{"model":"acme/echo"}',
  );
  expect(answer.status).toBe(200);
  return edge.upstream.requests.at(-1)!;
}

function expectSigned(request: UpstreamRequest, accessKeyId: string): void {
  const signature = readSignature(String(request.headers.authorization));
  expect(signature).toMatchObject({ accessKeyId });
  expect(signature?.scope).toMatch(/^\d{8}\/us-west-2\/bedrock\/aws4_request$/);
  expect(signature?.signedHeaders).toEqual(expect.arrayContaining(["content-type", "host", "x-amz-date"]));
  expect(computeSignature(request, signature!, SECRET_KEY)).toBe(signature?.signature);
  expect(request.headers["x-amz-content-sha256"]).toBe(sha256(request.body));
}

describe("the signature that tests compute", () => {
  it.each(VECTORS)("is the published one of $name", ({ request, signedHeaders, signature }) => {
    expect(computeSignature(request, { scope: SCOPE, signedHeaders }, SECRET_KEY)).toBe(signature);
  });
});

describe("a signed upstream", () => {
  it.each([
    { name: "a small body", body: '{"model":"openai.gpt-oss-120b","messages":[]}' },
    { name: "a body of 3 MB", body: JSON.stringify({ text: "ä".repeat(1_500_000) }) },
  ])("gets $name as the sidecar wrote it, signed with its path and its own Host", async ({ body }) => {
    const request = await arriveAt("signed", body);
    expect(request).toMatchObject({ method: "POST", path: PATH });
    expect(request.body === body).toBe(true);
    expect(request.headers.host).toMatch(/^localhost:\d+$/);
    expect(JSON.stringify(request.headers)).not.toMatch(/of the client|Bearer|20200101/);
    expectSigned(request, "AKIDEXAMPLE");
  });

  it("is signed with a renewed access key without a restart", async () => {
    writeCredentials("AKIDRENEWED");
    const keyInUse = async (): Promise<string | undefined> => {
      const { headers } = await arriveAt("signed", "{}");
      return readSignature(String(headers.authorization))?.accessKeyId;
    };
    await waitFor("the renewed key", async () => (await keyInUse()) === "AKIDRENEWED");
    const request = await arriveAt("signed", "{}");
    expectSigned(request, "AKIDRENEWED");
    expect(request.body).toBe("{}");
  });

  it("is signed as the pod where no file is named", async () => {
    await waitFor("the pod's identity", async () => {
      const { headers } = await arriveAt("by-identity", "{}");
      return readSignature(String(headers.authorization)) !== null;
    });
    const request = await arriveAt("by-identity", '{"as":"pod"}');
    expectSigned(request, "AKIDOFTHEPOD");
    expect(request.headers["x-amz-security-token"]).toBe(SESSION_TOKEN);
  });
});
