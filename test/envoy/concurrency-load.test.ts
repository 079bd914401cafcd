/** The limit of concurrent requests, counted by the upstream, while clients end their requests in every way there is. */
import { createServer, request as startRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inflightKey } from "../../src/data-path/store/redis/keys.ts";
import { CHAT_PATH, chatBody } from "../support/chat-stack.ts";
import { byExtent } from "../support/extent.ts";
import { readError, type SendOptions } from "../support/http.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { waitFor } from "../support/wait.ts";
import { withStack } from "../support/with-stack.ts";
import { RunningRequests } from "../support/running-requests.ts";

const LIMIT = 5;
const CLIENTS = 24;
/** Requests of each client. */
const REQUESTS = byExtent({ push: 8, nightly: 100 });
const MAX_BODY_BYTES = 100_000;
const upstream = new RunningRequests();
let server: Server;

/** Streams for a while, one event in 5 ms, and counts what runs at a time. */
async function startUpstream(): Promise<string> {
  server = createServer((incoming, response) => {
    upstream.add(incoming, response);
    let left = 1 + (upstream.begun % 7);
    const timer = setInterval(() => {
      if (!response.headersSent) response.writeHead(200, { "content-type": "text/event-stream" });
      left -= 1;
      if (left > 0) response.write('data: {"choices":[{"index":0,"delta":{"content":"hi"}}]}\n\n');
      else {
        response.end('data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
      }
    }, 5);
    response.on("close", () => clearInterval(timer));
    incoming.resume();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const getStack = withStack(async () => ({
  workers: byExtent({ push: 2, nightly: 4 }),
  upstreams: [{ name: "local", url: await startUpstream(), path_prefix: "/v1" }],
  overrides: { limits: { max_body_bytes: MAX_BODY_BYTES } },
}));
let redis: Redis;
beforeAll(() => {
  redis = new Redis(join(getStack().dir, "run/redis.sock"));
});
afterAll(() => {
  redis.disconnect();
  server.closeAllConnections();
  server.close();
});

const body = chatBody({ stream: true, max_tokens: 50 });

/** Ways to send a request and to end it; each tells what came of it. */
const WAYS: readonly ((key: CreatedKey) => Promise<string>)[] = [
  (key) => send(key, { body }),
  (key) => send(key, { path: "/v1/messages", body }),
  (key) => send(key, { body, onData: () => "abort" }),
  (key) => send(key, { path: "/v1/messages", body, onData: () => "abort" }),
  (key) => send(key, { body: "{" }),
  (key) => send(key, { body: Buffer.alloc(MAX_BODY_BYTES + 1, 32) }),
  (key) => leave(key, JSON.stringify(body), 0),
  (key) => leave(key, "{", 100),
];

async function send({ key }: CreatedKey, options: Partial<SendOptions>): Promise<string> {
  const answer = await getStack().send({ path: CHAT_PATH, key, ...options });
  return answer.status === 200 ? "200" : `${answer.status} ${String(readError(answer).code)}`;
}

/** Goes away a moment after the last byte, or in the middle of the body. */
function leave({ key }: CreatedKey, text: string, missingBytes: number): Promise<string> {
  const { hostname, port } = new URL(getStack().baseUrl);
  const length = String(Buffer.byteLength(text) + missingBytes);
  const headers = { authorization: `Bearer ${key}`, "content-length": length };
  const request = startRequest({ hostname, port, path: CHAT_PATH, method: "POST", headers });
  request.write(text);
  return new Promise((resolve) => {
    request.on("error", () => undefined);
    request.on("response", (response) => void response.resume());
    request.on("close", () => resolve("left"));
    setTimeout(() => request.destroy(), 8);
  });
}

describe("a limit of 5 under 24 clients that finish, leave, upload too much or stop half-way", () => {
  it("is never passed at the upstream, and every slot is free in the end", async () => {
    const key = await getStack().createKey({ maxConcurrentRequests: LIMIT });
    const outcomes = new Map<string, number>();
    const client = async (_: unknown, index: number): Promise<void> => {
      for (let sent = 0; sent < REQUESTS; sent += 1) {
        const way = WAYS[(index * 3 + sent) % WAYS.length];
        const outcome = (await way?.(key)) ?? "";
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    await waitFor("no slot is taken", async () => {
      return (await redis.zcard(inflightKey(key.organizationId, key.id))) === 0;
    });
    expect(upstream.most).toBeGreaterThan(1);
    expect(upstream.most).toBeLessThanOrEqual(LIMIT);
    expect([...outcomes.keys()].sort()).toEqual([
      "200",
      "400 invalid_json",
      "413 request_too_large",
      "429 concurrency_limit_exceeded",
      "left",
    ]);
    await waitFor("nothing runs at the upstream", () => upstream.size === 0);
  });
});
