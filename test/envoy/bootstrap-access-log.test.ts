/** The access log and the CORS filter of the bootstrap that is shipped. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startEdge } from "./edge/edge.ts";
import type { Edge } from "./edge/edge.ts";
import { waitFor } from "./edge/envoy-process.ts";
import { send } from "./edge/raw-client.ts";
import { passOn, REQUEST_ID } from "./edge/sidecar-stand-in.ts";

const CHAT = "/v1/chat/completions";
const AUTHORIZED = { authorization: "Bearer good" };

let edge: Edge;

beforeAll(async () => {
  edge = await startEdge();
});
afterEach(() => {
  edge.sidecar.reset();
  edge.upstream.reset();
});
afterAll(() => edge.stop());

describe("the access log", () => {
  it("has what ext_proc says of a request, and neither key, query, body nor credential", async () => {
    const fields = {
      key_id: { stringValue: "key_1" },
      organization_id: { stringValue: "org_1" },
      model: { stringValue: "acme/echo" },
      input_tokens: { numberValue: 12 },
      cost_microcents: { stringValue: "345" },
    };
    const dynamic_metadata = { fields: { inference_gateway: { structValue: { fields } } } };
    edge.sidecar.onProcess = (message) => {
      const reply = passOn(message);
      return message.response_headers ? { ...reply, dynamic_metadata } : reply;
    };
    const headers = { ...AUTHORIZED, "user-agent": "test/1", "x-api-key": "good-too" };
    await send(edge.port, "POST", "/v1/messages?token=in-query", headers, '{"in":"body"}');
    const line = await findLogLine(
      (entry) => entry["path"] === "/v1/messages" && entry["key_id"] === "key_1",
    );
    expect(line).toMatchObject({
      method: "POST",
      status: 200,
      code_details: "via_upstream",
      request_id: REQUEST_ID,
      user_agent: "test/1",
      upstream: "main",
      attempts: 1,
      upstream_bytes_sent: expect.any(Number),
      organization_id: "org_1",
      model: "acme/echo",
      input_tokens: 12,
      cost_microcents: "345",
      error_code: null,
    });
    expect(JSON.stringify(line)).not.toMatch(/good|in-query|"in"|upstream-secret/);
  });

  it("has the error code of a refusal from ext_authz's own metadata", async () => {
    await send(edge.port, "POST", "/v1/refused", {}, "{}");
    const line = await findLogLine((entry) => entry["path"] === "/v1/refused");
    expect(line).toMatchObject({ status: 401, error_code: "invalid_api_key", key_id: null });
  });

  it.each([
    ["/cut/sk-igw-Secret1/and/sk-igw-Secret2", "/cut//and/"],
    ["/twice/SK-IGW-Secret1sk-igw-Secret2/sk-proj-Secret0123456789abc", "/twice//"],
    ["/kinds/whsec_Secret1/igw_operator_Secret2/risk-igloo?key=sk-igw-Secret3", "/kinds///risk-igloo"],
    ["/coded/%73k-igw-Secret1", "/coded/"],
  ])("has none of the keys in %s", async (path, logged) => {
    await send(edge.port, "POST", path, AUTHORIZED, "{}");
    const line = await findLogLine((entry) => String(entry["path"]).startsWith(logged.slice(0, 5)));
    expect(line["path"]).toBe(logged);
    expect(JSON.stringify(line)).not.toContain("Secret");
  });

  it.each([
    ["curl/8 sk-igw-Secret1 (sk-proj-Secret0123456789abc; x)", "curl/8  ( x)"],
    ["whsec_Secret1", ""],
    ["a/1 igw_operator_Secret2 b/2", "a/1  b/2"],
  ])("has none of the keys in the user-agent %s", async (agent, logged) => {
    await send(edge.port, "POST", "/agent", { ...AUTHORIZED, "user-agent": agent }, "{}");
    const line = await findLogLine(
      (entry) => entry["path"] === "/agent" && (entry["user_agent"] ?? "") === logged,
    );
    expect(JSON.stringify(line)).not.toContain("Secret");
  });

  it("leaves out a user-agent with a key of a request that no filter has seen", async () => {
    const headers = { connection: "upgrade", upgrade: "websocket", "user-agent": "x/1 sk-igw-Secret1" };
    await send(edge.port, "GET", "/agent-unseen", headers);
    const line = await findLogLine((entry) => entry["path"] === "/agent-unseen");
    // Null in Envoy 1.39.
    expect(line["user_agent"] ?? "").toBe("");
  });

  it("leaves out a path with a key of a request that no filter has seen", async () => {
    const headers = { connection: "upgrade", upgrade: "websocket", "user-agent": "unseen" };
    await send(edge.port, "GET", "/unseen/sk-igw-Secret1", headers);
    const line = await findLogLine((entry) => entry["user_agent"] === "unseen");
    expect(JSON.stringify(line)).not.toMatch(/Secret|sk-igw/u);
  });

  it("has no query of a request that no filter has seen", async () => {
    await send(edge.port, "GET", "/early?token=in-query", { connection: "upgrade", upgrade: "websocket" });
    const line = await findLogLine((entry) => entry["path"] === "/early");
    expect(JSON.stringify(line)).not.toContain("in-query");
  });
});

describe("CORS, turned on", () => {
  it("answers a preflight without a key, and still refuses the request itself without one", async () => {
    const cors = await startEdge({ corsAllowOrigins: ["https://app.example"] });
    try {
      const origin = "https://app.example";
      const preflight = {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization",
      };
      const allowed = await send(cors.port, "OPTIONS", CHAT, preflight);
      expect(allowed).toMatchObject({ status: 200, headers: { "access-control-allow-origin": origin } });
      expect(cors.sidecar.checks).toEqual([]);
      const refused = await send(cors.port, "POST", CHAT, { origin }, "{}");
      expect(refused).toMatchObject({ status: 401, headers: { "access-control-allow-origin": origin } });
      const foreign = await send(cors.port, "OPTIONS", CHAT, {
        ...preflight,
        origin: "https://evil.example",
      });
      expect(foreign.headers["access-control-allow-origin"]).toBeUndefined();
    } finally {
      await cors.stop();
    }
  });
});

async function findLogLine(
  matches: (entry: Record<string, unknown>) => boolean,
): Promise<Record<string, unknown>> {
  await waitFor("the line is in the access log", () => edge.accessLog().some(matches));
  return edge.accessLog().find(matches) ?? {};
}
