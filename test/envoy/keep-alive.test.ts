/** What clients hear of an upstream that reads a long prompt, or thinks, before it says anything. */
import { request } from "node:http";
import { describe, expect, it } from "vitest";
import { withSharedChatStack } from "../support/chat-stack.ts";
import { catalogEntry, CHAT_MODEL } from "../support/gateway-config.ts";
import { messagesStream } from "../support/native-exchange.ts";
import { finishChunk, textChunk } from "../support/scripted-answer.ts";
import { createGate, waitFor } from "../support/wait.ts";

const NATIVE_MODEL = "acme/native";
const chat = withSharedChatStack([catalogEntry(), catalogEntry({ id: NATIVE_MODEL, upstream: "native" })]);

const STREAM_TYPE = { "content-type": "text/event-stream" };
const HELLO = [{ role: "user", content: "hi" }];
const CHUNKS = [textChunk("hello"), finishChunk("stop")].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
const ANSWER = [...CHUNKS, "data: [DONE]\n\n"].join("");

const ROUTES = [
  { path: "/v1/chat/completions", body: { model: CHAT_MODEL, messages: HELLO } },
  { path: "/v1/responses", body: { model: CHAT_MODEL, input: "hi" } },
  {
    path: "/v1/messages",
    body: { model: CHAT_MODEL, messages: HELLO, max_tokens: 5 },
  },
  {
    path: "/v1/messages",
    body: { model: NATIVE_MODEL, messages: HELLO, max_tokens: 5 },
  },
];

const ALIVE = ": in progress\n\n";

/** Its upstream sends headers at once, and no byte of a body for long. */
const QUIET = { model: CHAT_MODEL, messages: [{ role: "user", content: "a long prompt" }] };

/** What has come of a streamed answer so far. */
function open(path: string, body: object) {
  const heard = { text: "", isOver: false };
  const headers = { authorization: `Bearer ${chat.key.key}`, "content-type": "application/json" };
  const call = request(`${chat.stack.baseUrl}${path}`, { method: "POST", headers }, (response) => {
    response.setEncoding("utf8").on("data", (text: string) => {
      heard.text += text;
    });
    response.on("close", () => {
      heard.isOver = true;
    });
  });
  call.end(JSON.stringify({ ...body, stream: true }));
  return heard;
}

describe("an upstream that is silent in a stream", () => {
  it(
    "leaves no client for longer than 15 s without a sign of life, on every route",
    { timeout: 60_000 },
    async () => {
      const gate = createGate();
      chat.upstream.answer(({ path, bodyBytes }) => {
        const answer = path.endsWith("/messages") ? messagesStream() : ANSWER;
        const before = bodyBytes.includes("a long prompt") ? [] : ["\n"];
        return { kind: "bytes", headers: STREAM_TYPE, pieces: [...before, gate, answer] };
      });
      const quiet = open("/v1/chat/completions", QUIET);
      const all = ROUTES.map(({ path, body }) => open(path, body));
      // Fifteen seconds are what is published, and a slow machine may take some more.
      const isAlive = () => all.every(({ text }) => text.includes(ALIVE));
      await waitFor("a sign of life on each route", isAlive, { timeoutMs: 60_000 });
      expect(all.map(({ text }) => text.replaceAll(ALIVE, "").trim())).toEqual(all.map(() => ""));
      gate.release();
      await waitFor("the end of each answer", () => [quiet, ...all].every(({ isOver }) => isOver));
      expect(quiet.text).toContain("hello");
      for (const { text } of [quiet, ...all]) expect(text).toMatch(/\[DONE\]|message_stop/u);
    },
  );

  it.each(ROUTES.slice(1, 3))("passes on that it is there, at once: $path", async ({ path, body }) => {
    const [first, second] = [createGate(), createGate()];
    chat.upstream.answerNext({
      kind: "bytes",
      headers: STREAM_TYPE,
      pieces: [
        ": reading the prompt\n\n",
        first,
        CHUNKS[0]!,
        ": thinking\n\n",
        second,
        `${CHUNKS[1]}data: [DONE]\n\n`,
      ],
    });
    const heard = open(path, body);
    await waitFor("a comment", () => heard.text === ALIVE);
    first.release();
    const alive = path === "/v1/messages" ? "\n\nevent: ping\n" : `\n\n${ALIVE}`;
    await waitFor("a sign of life in mid-answer", () => heard.text.includes(alive));
    second.release();
    await waitFor("the answer's end", () => heard.isOver);
    expect(heard.text).toMatch(/response\.completed|message_stop/u);
  });
});
