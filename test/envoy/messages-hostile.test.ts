import { readFile, writeFile } from "node:fs/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { withChatStack } from "../support/chat-stack.ts";
import { byExtent } from "../support/extent.ts";
import { type ScriptedAnswer, textChunk } from "../support/scripted-answer.ts";
import { waitFor } from "../support/wait.ts";
import { findWorker } from "./access/worker-processes.ts";
import {
  describeMessagesAnswer,
  readMessageStream,
  sendMessages,
  summarizeMessagesError,
} from "./messages-checks.ts";
import { messagesBody } from "./metering-figures.ts";

const chat = withChatStack();

const MEBIBYTE = 1024 * 1024;
const GIGABYTE_PIECES = 1_024;
/** What one answer may add to the worker's memory, garbage that is not yet collected included. */
const MAX_GROWTH_BYTES = 256 * MEBIBYTE;

/** The same piece over and over; the test holds it once. */
function repeat(text: string, times = GIGABYTE_PIECES): Buffer[] {
  const piece = Buffer.from(text.repeat(Math.ceil(MEBIBYTE / text.length)));
  return Array.from({ length: times }, () => piece);
}

function stream(...pieces: (string | Buffer)[]): ScriptedAnswer {
  return { kind: "bytes", headers: { "content-type": "text/event-stream" }, pieces, ending: "hang" };
}

function json(...pieces: (string | Buffer)[]): ScriptedAnswer {
  return { kind: "bytes", headers: { "content-type": "application/json" }, pieces, ending: "hang" };
}

const FIRST = `data: ${JSON.stringify(textChunk("one"))}\n\n`;
const callPiece = (fields: object): string =>
  `data: ${JSON.stringify(textChunk("", { choices: [{ index: 0, delta: { tool_calls: [fields] } }] }))}\n\n`;

const STREAMS: readonly { readonly name: string; readonly answer: () => ScriptedAnswer }[] = [
  { name: "a gigabyte without a newline", answer: () => stream(FIRST, "data: ", ...repeat("x")) },
  {
    name: "a text that never ends in one event",
    answer: () => stream(FIRST, 'data: {"choices":[{"index":0,"delta":{"content":"', ...repeat("word ")),
  },
  { name: "an event of endless lines", answer: () => stream(FIRST, ...repeat('data: {"a":\n')) },
  { name: "a name of a field that never ends", answer: () => stream(FIRST, ...repeat("datadata")) },
  {
    name: "arrays in arrays without end",
    answer: () => stream(FIRST, `data: {"choices":${"[".repeat(4_000_000)}`, "\n\n"),
  },
  {
    name: "objects in objects without end",
    answer: () => stream(FIRST, `data: ${'{"a":'.repeat(1_000_000)}1${"}".repeat(1_000_000)}\n\n`),
  },
  {
    name: "tool calls that wait for a first one without end",
    answer: () =>
      stream(
        FIRST,
        callPiece({ index: 0, id: "call_0", function: { name: "first", arguments: '{"a":"' } }),
        ...repeat(
          callPiece({ index: 1, id: "call_1", function: { name: "second", arguments: "x".repeat(900) } }),
          64,
        ),
      ),
  },
  {
    name: "a name of a tool that never ends",
    answer: () =>
      stream(
        FIRST,
        ...Array.from({ length: 8_000 }, (_, index) =>
          callPiece({ index: 0, function: { name: `${index}${"n".repeat(900)}` } }),
        ),
      ),
  },
];

const BODIES: readonly { readonly name: string; readonly answer: () => ScriptedAnswer }[] = [
  {
    name: "a gigabyte of JSON",
    answer: () => json('{"choices":[{"message":{"content":"', ...repeat("word ")),
  },
  {
    name: "arrays in arrays",
    answer: () => ({
      ...(json(`{"choices":${"[".repeat(5_000_000)}`) as Extract<ScriptedAnswer, { kind: "bytes" }>),
      ending: "end",
    }),
  },
];

let worker = 0;
beforeAll(() => {
  worker = findWorker(chat.stack.configFile, 0);
});

async function readStatus(field: "VmRSS" | "VmHWM"): Promise<number> {
  const status = await readFile(`/proc/${worker}/status`, "utf8");
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "mu").exec(status)?.[1]) * 1024;
}

/** How much the worker's memory grew at its peak, while `work` was done. */
async function measureGrowth(work: () => Promise<void>): Promise<number> {
  // 5: the peak is counted from now on.
  await writeFile(`/proc/${worker}/clear_refs`, "5");
  const before = await readStatus("VmRSS");
  await work();
  return (await readStatus("VmHWM")) - before;
}

async function expectServing(): Promise<void> {
  chat.upstream.answer({ kind: "echo" });
  const answer = await sendMessages(chat, { body: messagesBody() });
  expect(describeMessagesAnswer(answer)).toBe("200");
  expect(findWorker(chat.stack.configFile, 0)).toBe(worker);
}

describe("a hostile upstream of the messages route", () => {
  it.each(STREAMS)(
    "gets no further with $name: an error event, and its connection is closed",
    async (row) => {
      chat.upstream.answer(row.answer());
      const growth = await measureGrowth(async () => {
        const answer = await sendMessages(chat, { body: messagesBody({ stream: true }) });
        expect(readMessageStream(answer, "error").at(-1)?.data).toMatchObject({
          error: { type: "api_error", code: "upstream_error" },
        });
        const request = chat.upstream.lastRequest;
        await waitFor("the upstream to be cut off", () => request.state === "aborted");
      });
      expect(growth).toBeLessThan(MAX_GROWTH_BYTES);
      await expectServing();
    },
  );

  it.each(BODIES)("gets no further with $name: a 502", async (row) => {
    chat.upstream.answer(row.answer());
    const growth = await measureGrowth(async () => {
      const answer = await sendMessages(chat, { body: messagesBody() });
      expect(summarizeMessagesError(answer)).toMatchObject({
        status: 502,
        type: "api_error",
        code: "upstream_error",
        breaches: [],
      });
    });
    expect(growth).toBeLessThan(MAX_GROWTH_BYTES);
    await expectServing();
  });

  it("may send keep-alive comments as long as it likes", async () => {
    // More MiB than an event may have.
    const comment = `: ${"keep-alive ".repeat(byExtent({ push: 100, nightly: 1 }))}\n\n`;
    const comments = repeat(comment, byExtent({ push: 18, nightly: 32 }));
    const end = `data: ${JSON.stringify(textChunk("", { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }))}\n\ndata: [DONE]\n\n`;
    const headers = { "content-type": "text/event-stream" };
    chat.upstream.answer({ kind: "bytes", headers, pieces: [FIRST, ...comments, end] });
    const growth = await measureGrowth(async () => {
      const answer = await sendMessages(chat, { body: messagesBody({ stream: true }) });
      readMessageStream(answer, "message_stop");
    });
    expect(growth).toBeLessThan(MAX_GROWTH_BYTES);
  });
});
