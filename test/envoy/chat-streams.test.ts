import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { describeAnswer } from "../support/answer-checks.ts";
import { chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import { byExtent } from "../support/extent.ts";
import { readEvents, type SendOptions } from "../support/http.ts";
import { finishChunk, textChunk, textCompletion, usageChunk } from "../support/scripted-answer.ts";
import { createGate, waitFor } from "../support/wait.ts";

const chat = withSharedChatStack();

const STREAM_TYPE = { "content-type": "text/event-stream" };
/** How many splits are tried at a time. */
const CONCURRENCY = 16;

/** Each at night; on each push each fifth, and those beside an end of a line or within a character. */
function splitsOf(bytes: Buffer): number[] {
  const isPlain = (at: number): boolean => /[ -~]/u.test(String.fromCharCode(bytes[at] ?? 0));
  const all = Array.from(bytes, (_byte, at) => at);
  const telling = all.filter((at) => at % 5 === 0 || !isPlain(at) || !isPlain(at - 1));
  return byExtent({ push: telling, nightly: all });
}

/** What the client gets for each way to cut `bytes` in two. */
async function answersToEverySplit(
  bytes: Buffer,
  headers: Record<string, string>,
  request: Partial<SendOptions>,
): Promise<string[]> {
  const answers: string[] = [];
  const splits = splitsOf(bytes);
  const work = async (): Promise<void> => {
    for (let at = splits.pop(); at !== undefined; at = splits.pop()) {
      chat.upstream.answerNext({
        kind: "bytes",
        headers,
        pieces: [bytes.subarray(0, at), bytes.subarray(at)].filter((piece) => piece.length > 0),
      });
      const answer = await chat.send(request);
      expect(describeAnswer(answer)).toBe("200");
      answers.push(answer.text);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return answers;
}

describe("an answer cut anywhere", () => {
  const usage = { promptTokens: 3, cachedTokens: 0, completionTokens: 2 };

  it.each([
    { name: "LF", newline: "\n" },
    { name: "CRLF", newline: "\r\n" },
  ])("gives the same stream for every split, lines ended by $name", async ({ newline }) => {
    const text = [
      ": a comment",
      "",
      `data: ${JSON.stringify(textChunk("grüße 😀", { model: "echo" }))}`,
      "",
      `data:${JSON.stringify(finishChunk("stop", { model: "echo" }))}`,
      "",
      `data: ${JSON.stringify(usageChunk(usage))}`,
      "",
      "data: [DONE]",
      "",
      "",
    ].join(newline);
    const body = chatBody({ stream: true, stream_options: { include_usage: true } });
    const answers = await answersToEverySplit(Buffer.from(text), STREAM_TYPE, { body });
    expect(new Set(answers).size).toBe(1);
    expect(readEvents(answers[0] ?? "").at(-1)).toBe("[DONE]");
    expect(answers[0]).toContain("grüße 😀");
  });

  it("gives the same stream for one byte at a time", async () => {
    const text = `data: ${JSON.stringify(textChunk("grüße"))}\n\ndata: ${JSON.stringify(finishChunk())}\n\ndata: [DONE]\n\n`;
    const bytes = Buffer.from(text);
    const body = chatBody({ stream: true });
    chat.upstream.answerNext(
      { kind: "bytes", headers: STREAM_TYPE, pieces: [bytes] },
      { kind: "bytes", headers: STREAM_TYPE, pieces: Array.from(bytes, (byte) => Buffer.from([byte])) },
    );
    const whole = await chat.send({ body });
    expect((await chat.send({ body })).text).toBe(whole.text);
  });

  it("gives the same JSON for every split", async () => {
    const bytes = Buffer.from(JSON.stringify(textCompletion("grüße", usage)));
    const answers = await answersToEverySplit(
      bytes,
      { "content-type": "application/json" },
      { body: chatBody() },
    );
    expect(new Set(answers).size).toBe(1);
  });
});

describe("a stream", () => {
  it("reaches the client event by event", async () => {
    const gates = [createGate(), createGate()];
    chat.upstream.answer({
      kind: "events",
      events: [textChunk("one"), gates[0]!, textChunk("two"), gates[1]!, finishChunk()],
    });
    const answer = await chat.send({
      body: chatBody({ stream: true }),
      onData: (_chunk, soFar) => {
        // Each gate opens only once the client has what came before it.
        if (soFar().includes('"one"')) gates[0]!.release();
        if (soFar().includes('"two"')) gates[1]!.release();
      },
    });
    expect(readEvents(answer.text)).toHaveLength(4);
  });

  it("closes the upstream when the client goes away", async () => {
    chat.upstream.answer({ kind: "events", events: [textChunk("one")], done: false, ending: "hang" });
    const answer = await chat.send({ body: chatBody({ stream: true }), onData: () => "abort" });
    expect(answer.complete).toBe(false);
    await waitFor("the upstream to see it", () => chat.upstream.lastRequest.state === "aborted");
  });

  it("ends with [DONE] though the upstream keeps its connection open", async () => {
    chat.upstream.answer({ kind: "events", events: [textChunk("one"), finishChunk()], ending: "hang" });
    const answer = await chat.send({ body: chatBody({ stream: true }) });
    expect(answer.complete).toBe(true);
    expect(readEvents(answer.text).at(-1)).toBe("[DONE]");
    await waitFor("the upstream to be cut off", () => chat.upstream.lastRequest.state === "aborted");
  });

  it("ends as a whole response after an error in it, and cuts the upstream off", async () => {
    const error = { error: { message: "out of memory", code: 500 } };
    const events = [textChunk("one"), error];
    chat.upstream.answer({ kind: "events", events, done: false, ending: "hang" });
    const answer = await chat.send({ body: chatBody({ stream: true }) });
    expect(answer.complete).toBe(true);
    expect(readEvents(answer.text).at(-1)).toMatchObject({ error: { code: "upstream_error" } });
    await waitFor("the upstream to be cut off", () => chat.upstream.lastRequest.state === "aborted");
  });

  it("holds the upstream back while the client does not read", async () => {
    const event = `data: ${JSON.stringify(textChunk("x".repeat(900)))}\n\n`;
    const piece = Buffer.from(event.repeat(Math.ceil(MEBIBYTE / event.length)));
    const sent = createCountedPieces(piece, 512);
    const headers = { "content-type": "text/event-stream" };
    chat.upstream.answer({ kind: "bytes", headers, pieces: sent.pieces, ending: "hang" });
    const url = new URL(chat.stack.baseUrl);
    const socket = connect(Number(url.port), url.hostname);
    onTestFinished(() => void socket.destroy());
    socket.write(formatRequest(chat.key.key, JSON.stringify(chatBody({ stream: true }))));
    await once(socket, "data");
    socket.pause();
    const seen: number[] = [];
    await waitFor("the upstream to stand still", () => {
      seen.push(sent.count);
      return seen.length > STILL && seen.at(-STILL) === sent.count;
    });
    // What the buffers on the way hold, those of the kernel included: no more, however long the client waits.
    expect(sent.count).toBeLessThan(64);
  });

  it("gives everything that a slow reader has not yet read", async () => {
    const events = Array.from({ length: 2_000 }, (_, index) => textChunk(`${index} ${"x".repeat(1_000)}`));
    chat.upstream.answer({ kind: "events", events: [...events, finishChunk()] });
    const answer = await chat.send({ body: chatBody({ stream: true }) });
    expect(answer.complete).toBe(true);
    expect(readEvents(answer.text)).toHaveLength(events.length + 2);
  });
});

/** As many looks at the upstream, 10 ms apart, in which it sends nothing: it does not by itself pause so long. */
const STILL = 100;
const MEBIBYTE = 1024 * 1024;

function formatRequest(key: string, body: string): string {
  const lines = [
    "POST /v1/chat/completions HTTP/1.1",
    "host: gateway.example",
    `authorization: Bearer ${key}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}

/** The same piece over and over, and how often it has been taken so far. */
function createCountedPieces(piece: Buffer, times: number) {
  const counted = { count: 0, pieces: Array.from({ length: times }, () => piece) };
  const entries = counted.pieces.entries.bind(counted.pieces);
  counted.pieces.entries = function* () {
    for (const entry of entries()) {
      counted.count += 1;
      yield entry;
    }
    return undefined;
  };
  return counted;
}
