import { Agent } from "node:http";
import { describe, expect, it } from "vitest";
import { chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import { byExtent } from "../support/extent.ts";

const chat = withSharedChatStack();

const REQUESTS = byExtent({ push: 2_000, nightly: 20_000 });
const CONNECTIONS = 32;

describe("endurance", () => {
  it(`answers ${REQUESTS} requests over ${CONNECTIONS} connections without one failure`, async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    const failures: string[] = [];
    let started = 0;
    const work = async (): Promise<void> => {
      while (started < REQUESTS) {
        started += 1;
        // Every tenth one is a stream: the two ways through the sidecar must not disturb each other.
        const body = chatBody({ stream: started % 10 === 0 });
        const answer = await chat.send({ body, agent }).catch((thrown: unknown) => String(thrown));
        if (typeof answer === "string") failures.push(answer);
        else if (answer.status !== 200 || !answer.complete) failures.push(`${answer.status} ${answer.text}`);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, work));
    agent.destroy();
    expect(failures.slice(0, 5)).toEqual([]);
    expect(chat.upstream.requests).toHaveLength(REQUESTS);
  }, 300_000);
});
