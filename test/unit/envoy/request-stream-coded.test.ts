/** Answers of upstreams that compress them unasked, or begin them with a byte order mark. */
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { describe, expect, it, vi } from "vitest";
import {
  COMPLETION,
  endOf,
  JSON_TYPE,
  kindOf,
  openStream,
  requestHeaders,
  responseBody,
  responseHeaders,
  STREAMED,
  VALID,
} from "./request-stream-fixture.ts";
import type { Message } from "../../../src/envoy/messages/messages.ts";

const EVENT_STREAM = { "content-type": "text/event-stream" };
const GZIP = { "content-encoding": "gzip" };
const CHUNK = `data: ${JSON.stringify({ model: "echo", choices: [{ index: 0, delta: { content: "hi" }, finish_reason: null }] })}\n\n`;
const END = `data: ${JSON.stringify({ model: "echo", choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } })}\n\ndata: [DONE]\n\n`;

/** An answer to a request; its pieces come one after the other. */
async function answer(request: object, fields: Record<string, string>, pieces: readonly Uint8Array[]) {
  const opened = openStream();
  const { send, replies } = opened;
  await send(requestHeaders());
  await send(request);
  await send(responseHeaders(fields));
  const last = pieces.length - 1;
  for (const [place, piece] of pieces.entries()) await send(responseBody(piece, place === last));
  // The decoder works in threads: more turns of the event loop than `settle` waits for.
  await vi.waitFor(() => expect(opened.finished).toHaveLength(1));
  const bodies = (replies as Message<"ProcessingResponse">[]).slice(1).map((reply) => {
    const { response_headers, response_body } = reply;
    const made = response_headers?.response?.body_mutation ?? response_body?.response?.body_mutation;
    return String(made?.body ?? made?.streamed_response?.body ?? reply.immediate_response?.body ?? "");
  });
  return { ...opened, text: bodies.join("") };
}

describe("an upstream's answer", () => {
  it.each([
    ["in gzip", GZIP, gzipSync(COMPLETION)],
    ["in brotli", { "content-encoding": "BR" }, brotliCompressSync(COMPLETION)],
    ["behind a byte order mark", {}, Buffer.from(`\uFEFF${COMPLETION}`)],
    ["in gzip, behind a byte order mark", GZIP, gzipSync(`\uFEFF${COMPLETION}`)],
  ])("is read %s", async (_name, coding, coded) => {
    const { text, seen, finished } = await answer(VALID, { ...JSON_TYPE, ...coding }, [coded]);
    expect(JSON.parse(text)).toMatchObject({ choices: [{ message: { content: "hi" } }] });
    expect(finished).toMatchObject([{ status: 200 }]);
    expect(seen.charges).toHaveLength(1);
  });

  it("is streamed in gzip as it is flushed, and ends once", async () => {
    const begun = gzipSync(CHUNK, { finishFlush: constants.Z_SYNC_FLUSH });
    const whole = gzipSync(CHUNK + END);
    const { text, replies } = await answer(STREAMED, { ...EVENT_STREAM, ...GZIP }, [begun]);
    expect(text).toContain('"content":"hi"');
    expect(replies.map(endOf).filter((isEnd) => isEnd === true)).toHaveLength(1);
    const cut = [whole.subarray(0, 20), whole.subarray(20)];
    const { text: other, finished } = await answer(STREAMED, { ...EVENT_STREAM, ...GZIP }, cut);
    expect(other).toMatch(/"content":"hi".*\[DONE\]/s);
    expect(finished).toMatchObject([{ status: 200, code: null }]);
  });

  it("is a 502 that names a coding that is not read", async () => {
    const { replies } = await answer(VALID, { ...JSON_TYPE, "content-encoding": "zstd" }, []);
    expect(kindOf(replies.at(-1))).toBe("immediate 502 upstream_error");
    expect(String((replies.at(-1) as Message<"ProcessingResponse">).immediate_response?.body)).toContain(
      "zstd",
    );
  });

  it("is given up when it unpacks to more than an answer may have, and nothing of it is kept", async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1_048_576, " "));
    const { replies, budget } = await answer(VALID, { ...JSON_TYPE, ...GZIP }, [bomb]);
    expect(kindOf(replies.at(-1))).toBe("immediate 502 upstream_error");
    expect(budget.bufferedBytes).toBe(0);
  });
});

describe("an upstream's error", () => {
  const error = JSON.stringify({ error: { message: "Too many tools.", param: "tools" } });

  it.each([
    ["in gzip", GZIP, gzipSync(error), "Too many tools."],
    ["in gzip that is cut off", GZIP, gzipSync(error).subarray(0, -6), "Too many tools."],
    ["behind a byte order mark", {}, Buffer.from(`\uFEFF${error}`), "Too many tools."],
    ["in a coding that is not read", { "content-encoding": "zstd" }, Buffer.from([1, 2]), "zstd"],
  ])("keeps its reason %s", async (_name, coding, coded, reason) => {
    const { text } = await answer(VALID, { ":status": "400", ...JSON_TYPE, ...coding }, [coded]);
    expect((JSON.parse(text) as { error: { message: string } }).error.message).toContain(reason);
  });
});
