/** llama.cpp's own server when something breaks, or much comes at once: what is told, and what is charged. */
import { describe, expect, it } from "vitest";
import { firstOnPush } from "../support/extent.ts";
import type { HttpAnswer } from "../support/http.ts";
import { expectCounted, llama, LLAMA_NOTE, TINY_MODEL, withLlama } from "../support/llama/with-llama.ts";
import { waitFor } from "../support/wait.ts";

/** Some seconds' worth. */
const MANY_TOKENS = 4_000;
/** When a client has read so many pieces it leaves. */
const PIECES = 20;
/**
 * Of the model: it writes some tens of tokens a second, as a real one does. What it wrote after its client had left would
 * be so many more tokens than were charged.
 */
const SLOW_LAYERS = 320;
/**
 * Tokens that the model may write after its client has left: its server looks for closed connections only some times a
 * second, and the quicker the machine, the more it writes meanwhile. Far fewer than it was asked for.
 */
const ON_THE_WAY = 64;
const CONTENT = "hello big world";

type Json = Readonly<Record<string, unknown>>;

interface Stream {
  readonly path: string;
  readonly body: (maxTokens: number) => Json;
  /** One for each piece of text. */
  readonly piece: RegExp;
  /** What tells a client that the answer is not whole. */
  readonly failure: RegExp;
}

const MESSAGES = [{ role: "user", content: CONTENT }];
const STREAMS = firstOnPush<Stream>([
  {
    path: "/v1/chat/completions",
    body: (maxTokens) => ({ messages: MESSAGES, max_tokens: maxTokens }),
    piece: /"content":"[^"]/gu,
    failure: /data: \{"error"/u,
  },
  {
    path: "/v1/messages",
    body: (maxTokens) => ({ messages: MESSAGES, max_tokens: maxTokens }),
    piece: /"text_delta"/gu,
    failure: /^event: error$/mu,
  },
  {
    path: "/v1/responses",
    body: (maxTokens) => ({ input: CONTENT, max_output_tokens: maxTokens }),
    piece: /^event: response\.output_text\.delta$/gmu,
    failure: /^event: response\.failed$/mu,
  },
]);

const countPieces = (text: string, { piece }: Stream): number => text.match(piece)?.length ?? 0;

describe.skipIf(llama.missing !== null)(`llama.cpp's own server when something breaks${LLAMA_NOTE}`, () => {
  const stack = withLlama({ layers: SLOW_LAYERS });
  const send = (
    { path, body }: Stream,
    { maxTokens, stream = true }: { maxTokens: number; stream?: boolean },
    onData?: (chunk: Buffer, soFar: () => Buffer) => "abort" | void,
  ): Promise<HttpAnswer> =>
    stack.send({ path, body: { model: TINY_MODEL, stream, ...body(maxTokens) }, ...(onData && { onData }) });

  it.each(STREAMS)(
    "stops generating when a client of $path leaves, and charges what was sent",
    async (form) => {
      const { result: answer, counts } = await stack.measure(() =>
        send(form, { maxTokens: MANY_TOKENS }, (_, soFar) =>
          countPieces(soFar().toString(), form) >= PIECES ? "abort" : undefined,
        ),
      );
      expect(answer.complete).toBe(false);
      const row = await stack.readRow(answer);
      expect(row.estimated).toBe(true);
      expect(row.output_tokens).toBeGreaterThanOrEqual(countPieces(answer.text, form));
      expect(Math.abs(counts.outputTokens - row.output_tokens)).toBeLessThanOrEqual(ON_THE_WAY);
    },
  );

  it.each(STREAMS)(
    "tells a client of $path that its answer is not whole when the server is killed",
    async (form) => {
      let isKilled = false;
      const answer = await send(form, { maxTokens: MANY_TOKENS }, (_, soFar) => {
        if (isKilled || countPieces(soFar().toString(), form) < PIECES) return;
        isKilled = true;
        stack.chat.child.signal("SIGKILL");
      });
      await stack.chat.child.waitForEnd();
      const isTold = !answer.complete || form.failure.test(answer.text);
      expect(isTold).toBe(true);
      const row = await stack.readRow(answer);
      expect(row.estimated).toBe(true);
      const pieces = countPieces(answer.text, form);
      expect(Math.abs(row.output_tokens - pieces)).toBeLessThanOrEqual(ON_THE_WAY);
      const gone = await send(form, { maxTokens: 1, stream: false });
      expect(gone.status).toBeGreaterThanOrEqual(500);
      expect(gone.headers["retry-after"]).toBeDefined();
      expect(await stack.readRow(gone)).toMatchObject({ cost_microcents: 0 });
      await stack.restart();
      const back = await waitFor("an answer again", async () => {
        const next = await send(form, { maxTokens: 4, stream: false });
        return next.status === 200 && next;
      });
      expect((await stack.readRow(back)).estimated).toBe(false);
    },
  );

  it("serves eight at once, four at a time, each charged by its own count", async () => {
    const { result: answers, counts } = await stack.measure(() =>
      Promise.all(
        Array.from({ length: 8 }, (_, index) => {
          const form = STREAMS[index % STREAMS.length]!;
          return send(form, { maxTokens: 4 + index, stream: index % 2 === 0 });
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expectCounted(await Promise.all(answers.map((answer) => stack.readRow(answer))), counts);
  });
});
