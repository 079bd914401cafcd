/** Keys over HTTP/2, which has no text on the wire to go wrong but limits of its own. */
import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from "node:http2";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withChatStack } from "../support/chat-stack.ts";

const chat = withChatStack(() => ({ workers: 2 }));
let session: ClientHttp2Session;

beforeAll(() => {
  session = connect(chat.stack.baseUrl, { maxSendHeaderBlockLength: 1_000_000 });
});
afterAll(() => session.close());

/** Status and error code of `GET /v1/key`, or the error with which its stream ended. */
async function present(headers: Record<string, string | string[]>): Promise<string> {
  return new Promise((resolve) => {
    const stream = session.request({ ":path": "/v1/key", ...headers });
    let text = "";
    let status = "";
    stream.setEncoding("utf8").on("data", (part: string) => (text += part));
    stream.on("response", (head: IncomingHttpHeaders & { ":status"?: number }) => {
      status = `${head[":status"]} ${String(head["x-service-ratelimit-remaining"] !== undefined)}`;
    });
    stream.on("error", (error: NodeJS.ErrnoException) => resolve(String(error.code)));
    stream.on("end", () => {
      const { error } = JSON.parse(text) as { error?: { code: string } };
      resolve(`${status} ${error?.code ?? "passes"}`);
    });
    stream.end();
  });
}

describe("a key over HTTP/2", () => {
  it.each([
    { name: "as Bearer", headers: (key: string) => ({ authorization: `Bearer ${key}` }) },
    { name: "as x-api-key", headers: (key: string) => ({ "x-api-key": key }) },
  ])("passes $name", async ({ headers }) => {
    expect(await present(headers(chat.key.key))).toBe("200 true passes");
  });

  it.each([
    { name: "no key", headers: () => ({}), refusal: "401 true missing_api_key" },
    {
      name: "x-api-key twice",
      headers: (key: string) => ({ "x-api-key": [key, key] }),
      refusal: "401 true invalid_api_key",
    },
    {
      name: "a value of 50 kB",
      headers: () => ({ "x-api-key": "x".repeat(50_000) }),
      refusal: "401 true invalid_api_key",
    },
  ])("does not pass: $name", async ({ headers, refusal }) => {
    expect(await present(headers(chat.key.key))).toBe(refusal);
  });

  it("of 64 kB ends its stream, for which HTTP/2 has no answer, and leaves the connection to the others", async () => {
    expect(await present({ "x-api-key": "x".repeat(65_536) })).toBe("ERR_HTTP2_STREAM_ERROR");
    expect(await present({ "x-api-key": chat.key.key })).toBe("200 true passes");
  });
});
