import { describe, expect, it } from "vitest";
import { describeAnswer } from "../support/answer-checks.ts";
import { chatBody, withChatStack } from "../support/chat-stack.ts";
import { finishChunk, textChunk, textCompletion } from "../support/scripted-answer.ts";
import { createGate } from "../support/wait.ts";
import { readMessageStream, sendMessages, streamedText } from "./messages-checks.ts";
import { messagesBody } from "./metering-figures.ts";

/** Envoy drops gRPC clients that no request has asked for in 50 s, whether a stream still uses them or not. */
const LONG_MS = 55_000;
/** By which a client of a silent stream has heard something again. */
const SIGN_OF_LIFE_MS = 16_000;
const chat = withChatStack(() => ({ isLauncherOwnProcess: true }));

describe("an answer that takes a minute while nothing else happens", () => {
  it("comes to its end, and the gateway serves on: JSON, a stream, and a client that gives up", async () => {
    const gate = createGate();
    const stream = { kind: "events" as const, events: [textChunk("one"), gate, finishChunk()] };
    const body = messagesBody({ stream: true });
    chat.upstream.answerNext(stream);
    const streamed = sendMessages(chat, { body });
    await chat.upstream.waitForRequests(1);
    chat.upstream.answerNext({ kind: "json", body: textCompletion("late", null), before: gate });
    const whole = chat.send({ body: chatBody(), timeoutMs: 2 * LONG_MS });
    await chat.upstream.waitForRequests(2);
    chat.upstream.answerNext(stream);
    const startMs = performance.now();
    const isLong = () => performance.now() - startMs > LONG_MS;
    const givenUp = sendMessages(chat, { body, onData: () => (isLong() ? "abort" : undefined) });
    setTimeout(() => gate.release(), LONG_MS + SIGN_OF_LIFE_MS);

    expect(streamedText(readMessageStream(await streamed, "message_stop"))).toBe("one");
    expect(describeAnswer(await whole)).toBe("200");
    expect((await givenUp).complete).toBe(false);
    // What ends Envoy comes with the end of the calls to the sidecar, after the client has its answer.
    for (let count = 0; count < 20; count += 1) {
      expect(describeAnswer(await chat.send({ body: chatBody() }))).toBe("200");
    }
    expect(chat.stack.readLogs()).not.toContain("Segmentation fault");
    expect(chat.stack.child.ended).toBeNull();
  }, 120_000);
});
