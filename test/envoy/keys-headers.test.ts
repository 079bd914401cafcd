/** The contract's headers on every response that is no error: all of them, and nothing else. */
import { describe, expect, it } from "vitest";
import { CHAT_PATH, chatBody, withChatStack, withSharedChatStack } from "../support/chat-stack.ts";
import { firstOnPush } from "../support/extent.ts";
import type { HttpAnswer, SendOptions } from "../support/http.ts";
import { tokenOverrides, WITH_AND_WITHOUT_TOKENS } from "../support/with-and-without-tokens.ts";

describe.each(firstOnPush(WITH_AND_WITHOUT_TOKENS))("%s", (_name, takesTokens) => {
  const chat = takesTokens
    ? withChatStack(async () => ({ workers: 2, overrides: await tokenOverrides(takesTokens) }))
    : withSharedChatStack();
  const MESSAGES = "/v1/messages?beta=true";
  const ANTHROPIC = { "anthropic-version": "2026-10-21" };

  interface Row {
    readonly name: string;
    readonly request: SendOptions;
    readonly protocol: "chat" | "messages";
    readonly isStream?: true;
    readonly isHead?: true;
    /** Its charge is known before its headers go. */
    readonly hasCost?: true;
    /** Requests that it takes from the bucket of requests. */
    readonly takes?: 0;
  }

  const messagesBody = (fields: object = {}): object => chatBody({ max_tokens: 5, ...fields });

  const ROWS: readonly Row[] = [
    {
      name: "a chat completion",
      request: { path: CHAT_PATH, body: chatBody() },
      protocol: "chat",
      hasCost: true,
    },
    {
      name: "a streamed chat completion",
      request: { path: CHAT_PATH, body: chatBody({ stream: true }) },
      protocol: "chat",
      isStream: true,
    },
    {
      name: "a message",
      request: { path: MESSAGES, body: messagesBody() },
      protocol: "messages",
      hasCost: true,
    },
    {
      name: "a streamed message",
      request: { path: MESSAGES, body: messagesBody({ stream: true }) },
      protocol: "messages",
      isStream: true,
    },
    {
      name: "a count of tokens",
      request: { path: "/v1/messages/count_tokens", body: chatBody() },
      protocol: "messages",
      takes: 0,
    },
    { name: "the list of models", request: { path: "/v1/models" }, protocol: "chat" },
    {
      name: "the list of models for Anthropic's clients",
      request: { path: "/v1/models", headers: ANTHROPIC },
      protocol: "messages",
    },
    { name: "a model", request: { path: "/v1/models/acme/echo-small" }, protocol: "chat" },
    {
      name: "the head of the list of models",
      request: { path: "/v1/models", method: "HEAD" },
      protocol: "chat",
      isHead: true,
    },
    { name: "the key's status", request: { path: "/v1/key" }, protocol: "chat" },
  ];

  const anyText = (pattern: RegExp) => expect.stringMatching(pattern) as string;
  const REQUEST_ID = /^req_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

  function expectedHeaders(row: Row, limit: number): Record<string, unknown> {
    const rate =
      row.protocol === "chat"
        ? {
            "x-ratelimit-limit-requests": String(limit),
            "x-ratelimit-remaining-requests": anyText(/^\d+$/),
            "x-ratelimit-reset-requests": anyText(/^(?:\d+m)?[\d.]+m?s$/),
          }
        : {
            "anthropic-ratelimit-requests-limit": String(limit),
            "anthropic-ratelimit-requests-remaining": anyText(/^\d+$/),
            "anthropic-ratelimit-requests-reset": anyText(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
          };
    return {
      ...rate,
      "x-service-ratelimit-remaining": anyText(/^\d+$/),
      "x-request-id": anyText(REQUEST_ID),
      "request-id": anyText(REQUEST_ID),
      ...(row.hasCost === true && { "x-request-cost": anyText(/^0\.\d{8} USD$/) }),
      date: anyText(/ GMT$/),
      server: "inference-gateway",
      ...(row.isStream === true && { "cache-control": "no-cache" }),
      "content-type": row.isStream === true ? "text/event-stream" : "application/json",
      // A model's answer passes ext_proc while it comes, when its length is not known yet.
      ...(row.isStream === true || row.hasCost === true
        ? { "transfer-encoding": "chunked" }
        : { "content-length": anyText(/^\d+$/) }),
    };
  }

  /** Without those that Node's client and Envoy exchange about the connection. */
  function ownHeaders({ headers }: HttpAnswer): Record<string, unknown> {
    const { connection: _connection, "keep-alive": _keepAlive, ...own } = headers;
    return own;
  }

  describe("the headers of", () => {
    it.each(ROWS)("$name are those of the contract and nothing else", async (row) => {
      const { key } = await chat.stack.createKey({ requestsPerMinute: 6 });
      const answer = await chat.stack.send({ ...row.request, key });
      expect(answer.status).toBe(200);
      expect(ownHeaders(answer)).toEqual(expectedHeaders(row, 6));
      expect(answer.headers["request-id"]).toBe(answer.headers["x-request-id"]);
    });

    it.each(ROWS)("$name count the bucket down", async (row) => {
      // A token in ten seconds: none comes while the test runs.
      const { key } = await chat.stack.createKey({ requestsPerMinute: 6 });
      const seen: string[] = [];
      for (let request = 0; request < 4; request += 1) {
        const { headers } = await chat.stack.send({ ...row.request, key });
        const named =
          row.protocol === "chat"
            ? headers["x-ratelimit-remaining-requests"]
            : headers["anthropic-ratelimit-requests-remaining"];
        expect(named).toBe(headers["x-service-ratelimit-remaining"]);
        seen.push(String(named));
      }
      expect(seen).toEqual(row.takes === 0 ? ["10", "10", "10", "10"] : ["9", "8", "7", "6"]);
    });

    it.each([
      { path: "/", method: "GET" },
      { path: "/", method: "HEAD" },
      { path: "/api/hello", method: "HEAD" },
      { path: "/healthz", method: "GET" },
      { path: "/readyz", method: "GET" },
    ])("$method $path, which belongs to no key", async ({ path, method }) => {
      const answer = await chat.stack.send({ path, method, key: null });
      expect(answer.status).toBe(200);
      expect(ownHeaders(answer)).toEqual({
        "content-type": "application/json",
        "content-length": anyText(/^\d+$/),
        date: anyText(/ GMT$/),
        server: "inference-gateway",
        "x-service-ratelimit-remaining": "0",
        "x-request-id": anyText(/^.+$/),
        "request-id": answer.headers["x-request-id"],
      });
    });

    it("any two responses have ids of their own, whatever id the client sends", async () => {
      const headers = { "x-request-id": "mine", "request-id": "mine" };
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => chat.send({ path: CHAT_PATH, body: chatBody(), headers })),
      );
      const ids = answers.map((answer) => answer.headers["x-request-id"]);
      expect(new Set(ids).size).toBe(20);
      expect(ids).not.toContain("mine");
    });

    it("a full bucket say when it is full again, and that of an empty one when", async () => {
      const { key } = await chat.stack.createKey({ requestsPerMinute: 6 });
      const first = await chat.stack.send({ path: "/v1/models", key });
      // One token is missing: ten seconds.
      expect(first.headers["x-ratelimit-reset-requests"]).toBe("10s");
      const second = await chat.stack.send({ path: "/v1/models", key, headers: ANTHROPIC });
      const resetMs = Date.parse(String(second.headers["anthropic-ratelimit-requests-reset"]));
      expect(resetMs - Date.now()).toBeGreaterThan(15_000);
      expect(resetMs - Date.now()).toBeLessThanOrEqual(21_000);
    });
  });
});
