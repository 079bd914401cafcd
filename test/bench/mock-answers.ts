/** What the model server of the benchmarks answers, as the bytes of each of its writes; made once. */

/** One write each of an HTTP response, its head included in the first. */
export interface MockAnswers {
  /** About 1,024 bytes of body. */
  readonly json: Buffer;
  /** As a model server sends them: one write per SSE event; role, text deltas, finish, usage, `[DONE]`. */
  readonly stream: readonly Buffer[];
  /** How a stream begins that is held open, and what comes on it once a second. */
  readonly heldHead: Buffer;
  readonly heldChunk: Buffer;
}

export function createMockAnswers(textChunks: number): MockAnswers {
  const head = Buffer.from(
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
  );
  const delta = formatFrame(
    formatEvent({ choices: [{ index: 0, delta: { content: " word" }, finish_reason: null }] }),
  );
  const role = { choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] };
  const usage = { prompt_tokens: 200, completion_tokens: textChunks, total_tokens: 200 + textChunks };
  return {
    json: formatJsonAnswer(),
    stream: [
      Buffer.concat([head, formatFrame(formatEvent(role))]),
      ...Array.from({ length: textChunks }, () => delta),
      formatFrame(formatEvent({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })),
      formatFrame(formatEvent({ choices: [], usage })),
      Buffer.concat([formatFrame("data: [DONE]\n\n"), Buffer.from("0\r\n\r\n")]),
    ],
    heldHead: Buffer.concat([head, delta]),
    heldChunk: delta,
  };
}

/** For mock-upstream.c: records of a length, 4 bytes, and so many bytes. */
export function formatAnswerFile({ json, heldHead, heldChunk, stream }: MockAnswers): Buffer {
  return Buffer.concat(
    [json, heldHead, heldChunk, ...stream].flatMap((bytes) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  );
}

function formatJsonAnswer(): Buffer {
  const message = { role: "assistant", content: "word ".repeat(136) };
  const body = JSON.stringify({
    id: "chatcmpl-bench",
    object: "chat.completion",
    created: 1_790_000_000,
    model: "mock",
    choices: [{ index: 0, message, finish_reason: "stop" }],
    usage: { prompt_tokens: 200, completion_tokens: 136, total_tokens: 336 },
  });
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  return Buffer.from(head + body);
}

function formatEvent(fields: object): string {
  const common = {
    id: "chatcmpl-bench",
    object: "chat.completion.chunk",
    created: 1_790_000_000,
    model: "mock",
  };
  return `data: ${JSON.stringify({ ...common, ...fields })}\n\n`;
}

function formatFrame(text: string): Buffer {
  return Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
}
