/** A client that calls its request gRPC reads an error as one, not as a 200 with an empty body. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startEdge } from "./edge/edge.ts";
import type { Edge } from "./edge/edge.ts";
import { sendHttp2 } from "./edge/http2-client.ts";
import { type RawResponse, send } from "./edge/raw-client.ts";

const TYPES = ["application/grpc", "application/grpc+json", "application/grpc+proto"];
const MESSAGE = "Send the request body as JSON, with `content-type: application/json`: this API is not gRPC.";

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.stop());

describe.each(TYPES)("a request with content-type %s", (type) => {
  const post = (path: string, headers: Record<string, string> = {}): Promise<RawResponse> =>
    send(edge.port, "POST", path, { "content-type": type, ...headers }, "{}");

  it.each([
    ["a good key", { authorization: "Bearer good" }],
    ["no key", {}],
  ])("is a 415 that says what to send, with %s", async (_name, headers) => {
    const { status, headers: received, body } = await post("/v1/chat/completions", headers);
    const id = received["x-request-id"];
    expect(id).toMatch(/^req_/);
    expect({ status, ...received }).toMatchObject({
      status: 415,
      "content-type": "application/json",
      "x-service-ratelimit-remaining": "0",
      "request-id": id,
      "x-should-retry": "false",
    });
    expect(received).not.toHaveProperty("grpc-status");
    const error = { type: "invalid_request_error", code: "unsupported_media_type", message: MESSAGE };
    expect(JSON.parse(body)).toMatchObject({ error: { ...error, request_id: id } });
    expect(edge.upstream.requests).toHaveLength(0);
  });

  it("reads the envelope of messages on their routes", async () => {
    const { status, body } = await post("/v1/messages?beta=true");
    expect(status).toBe(415);
    expect(JSON.parse(body)).toMatchObject({ type: "error", error: { message: MESSAGE } });
  });

  it("reads it over HTTP/2 too", async () => {
    const headers = { ":method": "POST", ":path": "/v1/chat/completions", "content-type": type };
    expect(await sendHttp2(edge.port, headers, "{}")).toBe("415");
  });
});
