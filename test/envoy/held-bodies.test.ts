/** What a worker keeps of large bodies while slow models work on them: nothing of what has gone upstream. */
import { readFile, writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { describeAnswer } from "../support/answer-checks.ts";
import { CHAT_PATH, chatBody, withChatStack } from "../support/chat-stack.ts";
import { byExtent } from "../support/extent.ts";
import { CHAT_MODEL } from "../support/gateway-config.ts";
import { findWorkerPid } from "../support/gateway-processes.ts";
import type { HttpAnswer } from "../support/http.ts";
import { textCompletion } from "../support/scripted-answer.ts";
import { createGate } from "../support/wait.ts";

const MEBIBYTE = 1024 ** 2;
const TEXT = "x ".repeat(15.9 * MEBIBYTE);
const BODIES = 12;

const chat = withChatStack();
const worker = () => findWorkerPid(chat.stack.configFile, 0);

/** The first one's bodies are edited, the others' translated. */
const ROUTES = [
  { path: CHAT_PATH, body: chatBody({}, TEXT) },
  { path: "/v1/messages", body: chatBody({ max_tokens: 9 }, TEXT) },
  { path: "/v1/responses", body: { model: CHAT_MODEL, input: TEXT } },
];
const CASES = byExtent({ push: ROUTES.slice(0, 2), nightly: ROUTES });

it.each(CASES)(
  "12 bodies of 32 MiB at $path that wait for a slow model are not kept",
  async ({ path, body }) => {
    const bytes = Buffer.from(JSON.stringify(body));
    const headers = { "content-type": "application/json" };
    const gate = createGate();
    chat.upstream.answer({ kind: "json", before: gate, body: textCompletion("ok", null) });
    // 5: the peak is counted from now on.
    await writeFile(`/proc/${worker()}/clear_refs`, "5");
    const answers: Promise<HttpAnswer>[] = [];
    for (let count = 1; count <= BODIES; count += 1) {
      answers.push(chat.send({ path, body: bytes, headers }));
      await chat.upstream.waitForRequests(count);
    }
    const peak = await readStatus("VmHWM");
    expect(peak).toBeLessThan(800 * MEBIBYTE);
    gate.release();
    expect((await Promise.all(answers)).map(describeAnswer)).toEqual(answers.map(() => "200"));
  },
);

async function readStatus(field: "VmRSS" | "VmHWM"): Promise<number> {
  const status = await readFile(`/proc/${worker()}/status`, "utf8");
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024;
}
