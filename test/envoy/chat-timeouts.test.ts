import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { summarizeError } from "../support/answer-checks.ts";
import { CHAT_PATH, chatBody, withChatStack } from "../support/chat-stack.ts";
import { type Child, startChild } from "../support/child.ts";
import { catalogEntry } from "../support/gateway-config.ts";
import { type HttpAnswer, readEvents, send } from "../support/http.ts";
import { textChunk } from "../support/scripted-answer.ts";
import type { SideEnvoy } from "../support/side-envoy.ts";
import { waitFor } from "../support/wait.ts";
import { startImpatientEnvoy } from "./edge/impatient-envoy.ts";

const SILENT_MODEL = "acme/silent";
/** Takes one connection and leaves every further one waiting. */
const LISTENER =
  "const s = require('node:net').createServer().listen({port: 0, host: '127.0.0.1', backlog: 1}, " +
  "() => console.log(JSON.stringify(s.address())))";

const silent: { child?: Child; fillers: Socket[] } = { fillers: [] };
const chat = withChatStack(async (upstream) => {
  const port = await startSilentListener();
  return {
    upstreams: [
      { name: "local", url: upstream.url, path_prefix: "/v1" },
      { name: "silent", url: `http://127.0.0.1:${port}`, path_prefix: "/v1", connect_timeout_seconds: 1 },
    ],
    catalog: [catalogEntry(), catalogEntry({ id: SILENT_MODEL, upstream: "silent", startup_seconds: 23 })],
  };
});

/** The same gateway behind an Envoy with short waits. */
let impatient: SideEnvoy | undefined;

beforeAll(async () => {
  impatient = await startImpatientEnvoy(chat.stack.dir);
});

afterAll(async () => {
  for (const socket of silent.fillers) socket.destroy();
  silent.child?.signal("SIGCONT");
  await Promise.all([impatient?.stop(), silent.child?.stop(5_000)]);
});

function sendImpatiently(body: object): Promise<HttpAnswer> {
  const headers = { authorization: `Bearer ${chat.key.key}` };
  return send(impatient!.baseUrl, { path: CHAT_PATH, body, headers });
}

describe("an upstream that takes too long", () => {
  it.each([
    { name: "JSON", stream: false },
    { name: "streamed", stream: true },
  ])("is a 504 for a $name request", async ({ stream }) => {
    chat.upstream.answer({ kind: "hang" });
    const answer = await sendImpatiently(chatBody({ stream }));
    expect(summarizeError(answer)).toMatchObject({
      status: 504,
      type: "timeout_error",
      code: "upstream_timeout",
      breaches: [],
    });
    await waitFor("the upstream to be let go", () => chat.upstream.lastRequest.state === "aborted");
  });

  it("cuts a stream that falls silent, after what came before", async () => {
    chat.upstream.answer({ kind: "events", events: [textChunk("one")], done: false, ending: "hang" });
    const answer = await sendImpatiently(chatBody({ stream: true }));
    expect(readEvents(answer.text)[0]).toMatchObject({ choices: [{ delta: { content: "one" } }] });
    expect(answer.text).not.toContain("[DONE]");
    await waitFor("the upstream to be let go", () => chat.upstream.lastRequest.state === "aborted");
  });

  it("is not reached while no connection to it can be made in time", async () => {
    const answer = await chat.send({ body: chatBody({ model: SILENT_MODEL }) });
    expect(summarizeError(answer)).toMatchObject({
      status: 503,
      type: "api_error",
      code: "model_unreachable",
      retryAfter: "23",
      breaches: [],
    });
  });
});

describe("a client that takes too long", () => {
  it("is told so by a 408 when its body does not arrive", async () => {
    const key = await chat.stack.createKey({ requestsPerMinute: 6 });
    expect(await sendHalfBody(key.key)).toEqual({ status: 408, remaining: "9" });
    // This one has passed ext_authz ahead of its admission: Envoy knows how many are likely to be left.
    expect(await sendHalfBody(key.key)).toEqual({ status: 408, remaining: "8" });
    expect(chat.upstream.requests).toHaveLength(0);
    const answer = await chat.send({ key: key.key, body: chatBody() });
    expect([answer.status, answer.headers["x-service-ratelimit-remaining"]]).toEqual([200, "7"]);
  });
});

/** What answers a request whose body stops half-way. */
function sendHalfBody(key: string): Promise<{ status: number | undefined; remaining: unknown }> {
  const headers = { authorization: `Bearer ${key}`, "content-length": "1000" };
  return new Promise((resolve, reject) => {
    const started = request(`${impatient!.baseUrl}${CHAT_PATH}`, { method: "POST", headers }, (response) => {
      resolve({
        status: response.statusCode,
        remaining: response.headers["x-service-ratelimit-remaining"],
      });
      response.resume();
      started.destroy();
    });
    started.on("error", reject);
    started.write('{"model":');
  });
}

/** A port whose queue of connections is full: a further attempt gets no answer at all. */
async function startSilentListener(): Promise<number> {
  const child = startChild(process.execPath, ["-e", LISTENER]);
  silent.child = child;
  const { port } = await child.waitForLine("a port", (line) => JSON.parse(line) as { port: number });
  child.signal("SIGSTOP");
  for (let index = 0; index < 8; index += 1) {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    silent.fillers.push(socket);
  }
  await waitFor("the first connections", () => silent.fillers.some((socket) => !socket.connecting));
  return port;
}
