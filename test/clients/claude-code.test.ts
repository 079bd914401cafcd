import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { withSharedChatStack } from "../support/chat-stack.ts";
import {
  type ClaudeRun,
  type ClaudeRunOptions,
  ensureClaudeCode,
  ensurePreviousClaudeCode,
  runClaude,
} from "../support/claude-code.ts";
import { byExtent, firstOnPush } from "../support/extent.ts";
import { catalogEntry, CHAT_MODEL } from "../support/gateway-config.ts";
import { type PassedRequest, startRecordingProxy } from "../support/recording-proxy.ts";
import { openaiError, textChunk } from "../support/scripted-answer.ts";
import type { RecordedRequest } from "../support/upstream.ts";
import { answerByTurn, sentMessages, sentResults } from "./agent-requests.ts";
import { useUpTokens } from "./rate-limit-cases.ts";
import { type Call, callDeltas, deltaStream, interleave, textStream } from "./chat-answers.ts";
import { CLIENTS } from "./clients.ts";
import { proves } from "./proofs.ts";
import { monthLimits } from "../support/month-limits.ts";

const PROGRAMS = await Promise.all(
  firstOnPush([
    { proven: CLIENTS.claudeCode, ensure: ensureClaudeCode },
    { proven: CLIENTS.previousClaudeCode, ensure: ensurePreviousClaudeCode },
  ]).map(async ({ proven, ensure }) => ({ proven, ...(await ensure()) })),
);
/** A long prompt costs next to nothing, and an answer a cent for a thousand tokens. */
const LEAN_MODEL = "acme/lean";
const LEAN = catalogEntry({
  id: LEAN_MODEL,
  prices: { USD: { input: "0.01", cached_input: "0.01", output: "10.00" } },
});
const chat = withSharedChatStack([catalogEntry(), LEAN]);

/** One run, and what it asked the gateway. */
async function runRecorded(
  program: string,
  options: Partial<ClaudeRunOptions> = {},
  beforeFirst?: () => Promise<void>,
): Promise<ClaudeRun & { readonly passed: readonly PassedRequest[] }> {
  const proxy = await startRecordingProxy(chat.stack.baseUrl, beforeFirst);
  onTestFinished(() => proxy.close());
  const run = await runClaude({
    program,
    baseUrl: proxy.baseUrl,
    apiKey: chat.key.key,
    model: CHAT_MODEL,
    prompt: "Say hello.",
    ...options,
  });
  onTestFinished(() => run.cleanUp());
  return { ...run, passed: proxy.passed };
}

function createCall(id: string, name: string, input: object): Call {
  return { id, name, arguments: JSON.stringify(input) };
}

/** Where Claude Code says that it works. */
function workingDirectory(request: RecordedRequest): string {
  const found = /Primary working directory: (\S+)/u.exec(
    JSON.stringify(request.body).replaceAll("\\n", "\n"),
  );
  return found?.[1] ?? "";
}

describe.each(PROGRAMS)("Claude Code $proven.version", ({ proven, path, missing }) => {
  proves(proven, "/v1/messages");
  beforeEach(({ skip }) => skip(missing !== null, missing ?? ""));
  const isCurrent = proven === CLIENTS.claudeCode;
  // The previous one warms up agents on models of its own unless it runs remotely.
  const env = isCurrent ? {} : { CLAUDE_CODE_REMOTE: "true" };
  const ask = (options: Partial<ClaudeRunOptions> = {}, beforeFirst?: () => Promise<void>) =>
    runRecorded(path ?? "", { env, ...options }, beforeFirst);
  /** Statuses of the tries: the previous one tries once more without a stream. */
  const tries = (status: number) => (isCurrent ? [status] : [status, status]);
  /** The previous one says the status in its text only. */
  const failure = (status: number) => ({ is_error: true, ...(isCurrent && { api_error_status: status }) });

  it("answers a prompt by one streamed request", async () => {
    chat.upstream.answer(textStream("Hello", " there."));
    const run = await ask();
    expect(run.result).toMatchObject({ is_error: false, result: "Hello there." });
    expect(run.exitCode).toBe(0);
    expect(chat.upstream.requests).toHaveLength(1);
    const { body } = chat.upstream.lastRequest;
    expect(body).toMatchObject({ stream: true, model: "echo", stream_options: { include_usage: true } });
    const roles = sentMessages(chat.upstream.lastRequest).map(({ role }) => role);
    expect(roles.filter((role) => role === "system")).toHaveLength(1);
    expect(JSON.stringify(body)).not.toContain("x-anthropic-billing-header");
    expect(JSON.stringify(body)).not.toContain("cache_control");
  });

  it("[response.text_signature] shows an answer whose signature comes behind it", async () => {
    const signature = { extra_content: { google: { thought_signature: "SIG" } } };
    chat.upstream.answer(deltaStream([{ content: "Hello there." }, { content: "", ...signature }]));
    expect((await ask()).result).toMatchObject({ is_error: false, result: "Hello there." });
  });

  it("writes a file and reads it, one tool after the other, and finishes", async () => {
    const path = (request: RecordedRequest): string => join(workingDirectory(request), "note.txt");
    answerByTurn(
      chat.upstream,
      (request) =>
        deltaStream(
          [
            { reasoning_content: "I write first." },
            { content: "I write." },
            ...callDeltas(
              createCall("call_w", "Write", { file_path: path(request), content: "blue whale\n" }),
              0,
            ),
          ],
          "tool_calls",
        ),
      (request) =>
        deltaStream(callDeltas(createCall("call_r", "Read", { file_path: path(request) }), 0), "stop"),
      () => textStream("It says blue whale."),
    );
    const run = await ask({
      prompt: "Write note.txt, then read it.",
      args: ["--allowedTools", "Write", "Read"],
    });
    expect(run.result).toMatchObject({ is_error: false, result: "It says blue whale.", num_turns: 3 });
    expect(await readFile(join(run.dir, "note.txt"), "utf8")).toBe("blue whale\n");
    expect(chat.upstream.requests).toHaveLength(3);
    const { call_w: written, call_r: read } = sentResults(chat.upstream.lastRequest);
    expect(written).toContain("note.txt");
    expect(read).toContain("blue whale");
    const assistant = sentMessages(chat.upstream.lastRequest).filter(({ role }) => role === "assistant");
    expect(assistant).toMatchObject([
      // It asked not to read the reasoning, and gave it back all the same.
      { content: "I write.", reasoning_content: "I write first.", tool_calls: [{ id: "call_w" }] },
      { content: null, tool_calls: [{ id: "call_r" }] },
    ]);
  });

  it("runs parallel tool calls whose arguments come interleaved", async () => {
    const calls = ["one", "two"].map((word) =>
      createCall(`call_${word}`, "Bash", { command: `echo ${word} >> words.txt`, description: word }),
    );
    answerByTurn(
      chat.upstream,
      () => deltaStream(interleave(callDeltas(calls[0]!, 0), callDeltas(calls[1]!, 1)), "tool_calls"),
      () => textStream("Half."),
      () => textStream("Both."),
    );
    const run = await ask({ prompt: "Echo both.", args: ["--allowedTools", "Bash"] });
    expect(run.result).toMatchObject({ is_error: false, result: "Both." });
    expect((await readFile(join(run.dir, "words.txt"), "utf8")).split("\n").sort()).toEqual([
      "",
      "one",
      "two",
    ]);
    expect(Object.keys(sentResults(chat.upstream.lastRequest))).toEqual(["call_one", "call_two"]);
  });

  it("shows what a made-up key is told, after one request", async () => {
    const run = await ask({ apiKey: "sk-igw-made-up" });
    expect(run.exitCode).toBe(1);
    expect(run.result).toMatchObject(failure(401));
    expect(run.passed.map(({ status }) => status)).toEqual(tries(401));
  });

  it("shows the cap that is reached, after one request", async () => {
    const { key } = await chat.stack.createKey({ name: "ci", limits: monthLimits({ cap: 0 }) });
    const run = await ask({ apiKey: key });
    expect(run.exitCode).toBe(1);
    expect(run.result).toMatchObject({
      ...failure(402),
      result: expect.stringMatching(
        /Monthly hard cap of 0\.00 USD for API key \\?"ci\\?" reached/u,
      ) as string,
    });
    expect(run.passed.map(({ status }) => status)).toEqual(tries(402));
    expect(chat.upstream.requests).toHaveLength(0);
  });

  it("shows what strict caps leave room for, after one request", async () => {
    const { key } = await chat.stack.createKey({ limits: monthLimits({ cap: 5 }) }, { strictCaps: true });
    const run = await ask({ apiKey: key, model: LEAN_MODEL });
    expect(run.exitCode).toBe(1);
    expect(run.result).toMatchObject({
      ...failure(402),
      result: expect.stringMatching(
        /You requested up to 8192 tokens, but can only afford 4\d{3}\./u,
      ) as string,
    });
    expect(run.passed.map(({ status }) => status)).toEqual(tries(402));
  });

  it("goes on with as long an answer as strict caps leave room for", async () => {
    const settings = { strictCaps: true, onCap: "shrink" } as const;
    const { key } = await chat.stack.createKey({ limits: monthLimits({ cap: 5 }) }, settings);
    chat.upstream.answer(textStream("Hello", " there."));
    const run = await ask({ apiKey: key, model: LEAN_MODEL });
    expect(run.result).toMatchObject({ is_error: false, result: "Hello there." });
    expect(run.passed.map(({ status }) => status)).toEqual([200]);
    expect(chat.upstream.lastRequest.body?.["max_tokens"]).toBeLessThan(5_000);
  });

  // The previous one names its session in no header.
  it.runIf(isCurrent)(
    "is stopped by the cap of its session, which it names by itself, and begins another one",
    async () => {
      const created = await chat.stack.createKey({ name: "ci", sessionCapCents: 1 });
      const call = createCall("call_1", "Bash", { command: "echo hello", description: "hello" });
      const usage = { promptTokens: 10, cachedTokens: 0, completionTokens: 2_000 };
      chat.upstream.answerNext(deltaStream(callDeltas(call, 0), "tool_calls", usage));
      chat.upstream.answer(textStream("Hello."));
      const args = ["--allowedTools", "Bash"];
      const run = await ask({ apiKey: created.key, model: LEAN_MODEL, args });
      const name = String(run.result?.["session_id"]);
      expect(run.result).toMatchObject({
        is_error: true,
        api_error_status: 402,
        result: expect.stringContaining(
          `The cap of 0.01 USD for session "${name}" of API key "ci" is reached: 0.02 USD spent.`,
        ) as string,
      });
      expect(run.passed.map(({ status }) => status)).toEqual([200, 402]);
      const path = `/api/organizations/${created.organizationId}/requests?session=${name}`;
      const { data } = await chat.stack.admin("GET", path);
      expect((data as { status: number }[]).map(({ status }) => status)).toEqual([402, 200]);
      const next = await ask({ apiKey: created.key, model: LEAN_MODEL });
      expect(next.result).toMatchObject({ is_error: false, result: "Hello." });
    },
  );

  // Between its tries, the previous one waits for minutes.
  it.runIf(isCurrent)("waits out a 429", async () => {
    const { key } = await chat.stack.createKey({ requestsPerMinute: 20 });
    chat.upstream.answer(textStream("Late."));
    const run = await ask({ apiKey: key }, async () => {
      let status = 200;
      while (status !== 429) status = (await chat.send({ key, path: "/v1/models" })).status;
    });
    expect(run.result).toMatchObject({ is_error: false, result: "Late." });
    expect(run.passed.map(({ status }) => status)).toEqual([429, 200]);
  });

  // To the program it is any other 429.
  it.runIf(isCurrent).each(byExtent({ push: [], nightly: ["tokens"] }))(
    "waits out a 429 of %s per minute",
    async () => {
      const { key } = await chat.stack.createKey({ tokensPerMinute: 6_000 });
      chat.upstream.answer(textStream("Late."));
      const run = await ask({ apiKey: key }, () => useUpTokens(chat, key));
      expect(run.result).toMatchObject({ is_error: false, result: "Late." });
      expect(run.passed.map(({ status }) => status)).toEqual([429, 200]);
    },
  );

  it.runIf(isCurrent)("waits out a model that starts, and one that is overloaded", async () => {
    chat.upstream.answerNext(
      { kind: "json", status: 503, headers: { "retry-after": "1" }, body: openaiError("loading") },
      { kind: "json", status: 429, headers: { "retry-after": "1" }, body: openaiError("busy") },
    );
    chat.upstream.answer(textStream("Awake."));
    const run = await ask();
    expect(run.result).toMatchObject({ is_error: false, result: "Awake." });
    expect(run.passed.map(({ status }) => status)).toEqual([503, 529, 200]);
  });

  it("knows that the prompt is too long", async () => {
    const message = "This model's maximum context length is 128000 tokens.";
    const body = openaiError(message, { code: "context_length_exceeded" });
    chat.upstream.answer({ kind: "json", status: 400, body });
    expect((await ask()).result).toMatchObject({
      is_error: true,
      result: expect.stringMatching(/prompt is too long/iu) as string,
    });
  });

  it.runIf(isCurrent)("never takes a broken stream for an answer", async () => {
    const broken = { error: { message: "out of memory", code: 500 } };
    chat.upstream.answerNext({ kind: "events", events: [textChunk("Half"), broken], done: false });
    chat.upstream.answer((request) => {
      return request.body?.["stream"] === true
        ? textStream("Whole.")
        : {
            kind: "json",
            body: textChunk("", {
              choices: [{ index: 0, message: { content: "Whole." }, finish_reason: "stop" }],
            }),
          };
    });
    expect((await ask()).result).toMatchObject({ is_error: false, result: "Whole." });
  });
});
