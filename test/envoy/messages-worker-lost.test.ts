import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { withChatStack } from "../support/chat-stack.ts";
import { textChunk } from "../support/scripted-answer.ts";
import { waitFor } from "../support/wait.ts";
import { findWorker, listWorkers, waitForNewWorkers } from "./access/worker-processes.ts";
import { describeMessagesAnswer, sendMessages, summarizeMessagesError } from "./messages-checks.ts";
import { messagesBody } from "./metering-figures.ts";

const chat = withChatStack();

describe("a message whose worker is killed", () => {
  it("is a cut stream, never a whole one; the next ones are refused in the envelope until a new worker serves", async () => {
    const { configFile, dir } = chat.stack;
    const before = listWorkers(configFile);
    chat.upstream.answer({ kind: "events", events: [textChunk("one")], done: false, ending: "hang" });
    const kill = () => process.kill(findWorker(configFile, 0), "SIGKILL");
    let isKilled = false;
    const answer = await sendMessages(chat, {
      body: messagesBody({ stream: true }),
      onData: (_chunk, soFar) => {
        if (!soFar().includes('"one"') || isKilled) return;
        isKilled = kill();
      },
    });
    expect(answer.complete).toBe(false);
    expect(answer.text).not.toContain("message_stop");
    await waitFor("the upstream to be let go", () => chat.upstream.lastRequest.state === "aborted");

    chat.upstream.answer({ kind: "echo" });
    const refused: object[] = [];
    await waitFor("a new worker", async () => {
      const next = await sendMessages(chat, { body: messagesBody() });
      if (next.status !== 200) refused.push(summarizeMessagesError(next));
      return next.status === 200;
    });
    const expected = { status: 503, type: "api_error", code: "gateway_unavailable", breaches: [] };
    for (const one of refused) expect(one).toMatchObject(expected);
    await waitForNewWorkers(configFile, join(dir, "run"), before);
    expect(describeMessagesAnswer(await sendMessages(chat, { body: messagesBody() }))).toBe("200");
  });
});
