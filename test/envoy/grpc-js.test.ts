/** The transport grpc-js under a whole stack on each push; at night every stack runs on it. */
import { describe, expect, it } from "vitest";
import { chatBody, withChatStack } from "../support/chat-stack.ts";
import { findWorkerPid, waitForNewWorker } from "../support/gateway-processes.ts";
import { readEvents } from "../support/http.ts";
import { finishChunk, textChunk } from "../support/scripted-answer.ts";
import { createGate, waitFor } from "../support/wait.ts";

const LARGE_TEXT = "large ".repeat(500_000);

const chat = withChatStack(() => ({ overrides: { sidecar: { transport: "grpc-js" } } }));

/** A stream whose end waits for the gate; resolves once its first piece has come. */
async function openStream() {
  const gate = createGate();
  chat.upstream.answerNext({
    kind: "events",
    events: [textChunk("one"), gate, textChunk(" two"), finishChunk()],
  });
  let hasBegun = false;
  const answer = chat.send({ body: chatBody({ stream: true }), onData: () => void (hasBegun = true) });
  await waitFor("the first piece", () => hasBegun);
  return { gate, answer };
}

describe("the transport grpc-js", () => {
  it("carries large bodies both ways", async () => {
    chat.upstream.answerNext({ kind: "echo" });
    const answer = await chat.send({ body: chatBody({}, LARGE_TEXT) });
    expect(answer.status).toBe(200);
    expect(answer.text.length).toBeGreaterThan(LARGE_TEXT.length);
    expect(JSON.stringify(chat.upstream.requests.at(-1)?.body)).toContain(LARGE_TEXT);
  });

  it("passes a stream piece by piece", async () => {
    const { gate, answer } = await openStream();
    gate.release();
    expect(readEvents((await answer).text).at(-1)).toBe("[DONE]");
  });

  it("cuts no stream when other requests are taken back", async () => {
    const { gate, answer } = await openStream();
    for (let count = 0; count < 20; count += 1) {
      chat.upstream.answerNext({ kind: "events", events: [textChunk("cut"), createGate()] });
      const taken = await chat.send({ body: chatBody({ stream: true }), onData: () => "abort" });
      expect(taken.complete).toBe(false);
    }
    gate.release();
    expect(readEvents((await answer).text).at(-1)).toBe("[DONE]");
  });

  it("lets the streams of a worker that is told to end run out", async () => {
    const { gate, answer } = await openStream();
    const former = findWorkerPid(chat.stack.configFile, 0);
    process.kill(former, "SIGTERM");
    await waitFor(
      "its drain",
      async () => (await chat.send({ path: "/readyz", method: "GET" })).status === 503,
    );
    gate.release();
    expect(readEvents((await answer).text).at(-1)).toBe("[DONE]");
    await waitForNewWorker(chat.stack.configFile, former, 1);
  });
});
