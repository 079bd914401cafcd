import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, describe, expect, it } from "vitest";
import { chatBody, withChatStack } from "../support/chat-stack.ts";
import { catalogEntry } from "../support/gateway-config.ts";
import { finishChunk, textChunk, textCompletion, usageChunk } from "../support/scripted-answer.ts";
import { readRequest } from "./metering-figures.ts";

const PLAIN = "acme/plain";
const SHY = "acme/shy";

/** Of a server that keeps its connections. */
const connections = new Set<unknown>();
const server = createServer((request, response) => {
  connections.add(request.socket);
  request.resume().once("end", () => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(textCompletion("ok", null)));
  });
});
afterAll(() => server.close());

async function startKeeping(): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A model that does not reason, and one whose server refuses to be asked for usage. */
const chat = withChatStack(async (upstream) => {
  const url = await startKeeping();
  return {
    upstreams: [
      { name: "local", url: upstream.url },
      { name: "kept", url },
      { name: "once", url, server: "llama.cpp" },
    ],
    catalog: [
      catalogEntry(),
      catalogEntry({ id: "acme/kept", upstream: "kept" }),
      catalogEntry({ id: "acme/once", upstream: "once" }),
      catalogEntry({ id: PLAIN, capabilities: ["tools"], max_output_tokens: 4_096 }),
      catalogEntry({ id: SHY, profile: { stream_options: "drop" } }),
    ],
  };
});

const HELLO = [{ role: "user", content: "hi" }];

describe("a model that does not reason", () => {
  it.each([
    ["/v1/messages", { messages: HELLO, max_tokens: 32_000, output_config: { effort: "high" } }],
    [
      "/v1/messages",
      { messages: HELLO, max_tokens: 32_000, thinking: { type: "enabled", budget_tokens: 2_000 } },
    ],
    ["/v1/responses", { input: "hi", max_output_tokens: 32_000, reasoning: { effort: "medium" } }],
  ])("is sent no effort, and its own longest answer for a longer one, by %s", async (path, fields) => {
    chat.upstream.answer({ kind: "json", body: textCompletion("ok", null) });
    const answer = await chat.send({ path, body: { model: PLAIN, ...fields } });
    expect(answer.status).toBe(200);
    const seen = chat.upstream.lastRequest.body as Record<string, unknown>;
    expect(seen).toMatchObject({ max_tokens: 4_096, max_completion_tokens: 4_096 });
    expect(seen).not.toHaveProperty("reasoning_effort");
  });
});

describe("a server that refuses `stream_options`", () => {
  const USAGE = { promptTokens: 100, cachedTokens: 0, completionTokens: 20 };
  const ROUTES = [
    ["/v1/chat/completions", { messages: HELLO, stream_options: { include_usage: true } }],
    ["/v1/messages", { messages: HELLO, max_tokens: 500 }],
    ["/v1/responses", { input: "hi" }],
  ] as const;

  it.each(ROUTES)("is charged by the usage that comes unasked, by %s", async (path, fields) => {
    const key = await chat.stack.createKey();
    const last = { usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 } };
    chat.upstream.answer({ kind: "events", events: [textChunk("ok"), finishChunk("stop", last)] });
    const answer = await chat.send({ path, key: key.key, body: { model: SHY, stream: true, ...fields } });
    expect(chat.upstream.lastRequest.body).not.toHaveProperty("stream_options");
    expect(await readRequest(chat.stack, key, answer)).toMatchObject({
      input_tokens: USAGE.promptTokens,
      output_tokens: USAGE.completionTokens,
      estimated: false,
    });
  });

  it.each(ROUTES)("is charged by an estimate where none comes, by %s", async (path, fields) => {
    const key = await chat.stack.createKey();
    chat.upstream.answer({ kind: "events", events: [textChunk("ok"), finishChunk()] });
    const answer = await chat.send({ path, key: key.key, body: { model: SHY, stream: true, ...fields } });
    expect(answer.status).toBe(200);
    expect(await readRequest(chat.stack, key, answer)).toMatchObject({ status: 200, estimated: true });
  });

  it("is asked by every other model", async () => {
    chat.upstream.answer({ kind: "events", events: [textChunk("ok"), finishChunk(), usageChunk(USAGE)] });
    await chat.send({ body: chatBody({ stream: true }) });
    expect(chat.upstream.lastRequest.body).toMatchObject({ stream_options: { include_usage: true } });
  });
});

describe("a connection to an upstream", () => {
  it.each([
    { model: "acme/kept", name: "takes one request after the other", most: 1 },
    {
      model: "acme/once",
      name: "takes a single request where the server's connections are not to be used again",
      most: 5,
    },
  ])("$name", async ({ model, most }) => {
    connections.clear();
    for (let sent = 0; sent < 5; sent++) {
      expect((await chat.send({ body: chatBody({ model }) })).status).toBe(200);
    }
    expect(connections.size).toBe(most);
  });
});
