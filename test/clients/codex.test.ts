import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import type { CodexOptions } from "../support/codex.ts";
import { byExtent } from "../support/extent.ts";
import { CHAT_MODEL, catalogEntry } from "../support/gateway-config.ts";
import { openaiError, textChunk } from "../support/scripted-answer.ts";
import { waitFor } from "../support/wait.ts";
import { answerByTurn, sentMessages, sentResults } from "./agent-requests.ts";
import { type Call, callDeltas, deltaStream, textStream } from "./chat-answers.ts";
import { CODEX_PROGRAMS, openRecordedCodex, runCommand } from "./codex-runs.ts";
import { useUpTokens } from "./rate-limit-cases.ts";
import { proves } from "./proofs.ts";
import { monthLimits } from "../support/month-limits.ts";

/** Codex knows what follows the slash: it gets `apply_patch` as a custom tool. */
const PATCH_MODEL = "acme/gpt-5.5";
/** Of this one it knows that it writes programs: its tool `exec` runs JavaScript that calls the others. */
const CODE_MODEL = "acme/gpt-5.6-sol";
/** A long prompt costs next to nothing, and an answer a cent for a thousand tokens. */
const LEAN_MODEL = "acme/lean";
const LEAN = catalogEntry({
  id: LEAN_MODEL,
  prices: { USD: { input: "0.01", cached_input: "0.01", output: "10.00" } },
});
const chat = withSharedChatStack([
  LEAN,
  catalogEntry(),
  catalogEntry({ id: PATCH_MODEL }),
  catalogEntry({ id: CODE_MODEL }),
]);

/** Its own waits between tries add up to half a minute. */
const FEW_TRIES = ["request_max_retries = 1", "stream_max_retries = 1"];

describe.each(CODEX_PROGRAMS)("Codex $proven.version", ({ proven, path, missing }) => {
  proves(proven, "/v1/responses");
  beforeEach(({ skip }) => skip(missing !== null, missing ?? ""));
  const open = (options: Partial<CodexOptions> = {}, beforeFirst?: () => Promise<void>) =>
    openRecordedCodex(chat, { program: path ?? "", model: CHAT_MODEL, ...options }, beforeFirst);

  it("[responses.principles.codex] answers a prompt by one streamed request, of which the upstream learns nothing about its user", async () => {
    chat.upstream.answer(textStream("Hello", " there."));
    const session = await open();
    const run = await session.run("Say hello.");
    expect(run).toMatchObject({ answer: "Hello there.", errors: [], exitCode: 0 });
    expect(session.passed).toEqual([{ method: "POST", path: "/v1/responses", status: 200 }]);
    const { body, headers } = chat.upstream.lastRequest;
    expect(body).toMatchObject({ stream: true, model: "echo", stream_options: { include_usage: true } });
    const roles = sentMessages(chat.upstream.lastRequest).map(({ role }) => role);
    expect(roles.filter((role) => role === "system")).toHaveLength(1);
    expect(
      Object.keys(headers).filter((name) => /codex|openai|session|thread|originator/u.test(name)),
    ).toEqual([]);
    expect(Object.keys(body ?? {})).not.toContain("client_metadata");
  });

  it("runs two commands, one after the other, gives the reasoning back, and finishes", async () => {
    answerByTurn(
      chat.upstream,
      (request) =>
        deltaStream(
          [
            { reasoning_content: "I look first." },
            ...callDeltas(runCommand(request, "call_1", "echo blue > a.txt"), 0),
          ],
          "tool_calls",
        ),
      (request) => deltaStream(callDeltas(runCommand(request, "call_2", "cat a.txt"), 0), "tool_calls"),
      () => textStream("It says blue."),
    );
    const session = await open();
    const run = await session.run("Write blue to a.txt, then read it.");
    expect(run).toMatchObject({ answer: "It says blue.", errors: [], exitCode: 0 });
    expect(await readFile(join(session.dir, "a.txt"), "utf8")).toBe("blue\n");
    expect(sentResults(chat.upstream.lastRequest)["call_2"]).toContain("blue");
    const assistant = sentMessages(chat.upstream.lastRequest).filter(({ role }) => role === "assistant");
    expect(assistant).toMatchObject([
      { reasoning_content: "I look first.", tool_calls: [{ id: "call_1" }] },
      { tool_calls: [{ id: "call_2" }] },
    ]);
  });

  it("[responses.tools.custom] applies a patch that the model writes as the input of a function", async () => {
    const patch = "*** Begin Patch\n*** Add File: note.txt\n+blue whale\n*** End Patch";
    const call: Call = { id: "call_p", name: "apply_patch", arguments: JSON.stringify({ input: patch }) };
    answerByTurn(
      chat.upstream,
      () => deltaStream(callDeltas(call, 0), "tool_calls"),
      () => textStream("Done."),
    );
    const session = await open({ model: PATCH_MODEL });
    const run = await session.run("Add note.txt.");
    expect(run).toMatchObject({ answer: "Done.", errors: [], exitCode: 0 });
    expect(await readFile(join(session.dir, "note.txt"), "utf8")).toBe("blue whale\n");
    expect(sentResults(chat.upstream.lastRequest)["call_p"]).toContain("note.txt");
  });

  it("[responses.tools.custom] runs the program that a model of code mode writes as the input of a function", async () => {
    const program =
      'const ran = await tools.exec_command({ cmd: "echo blue | tee a.txt" });\ntext(ran.output);';
    const call: Call = { id: "call_e", name: "exec", arguments: JSON.stringify({ input: program }) };
    answerByTurn(
      chat.upstream,
      () => deltaStream(callDeltas(call, 0), "tool_calls"),
      () => textStream("It says blue."),
    );
    const session = await open({ model: CODE_MODEL });
    const run = await session.run("Write blue to a.txt.");
    expect(run).toMatchObject({ answer: "It says blue.", errors: [], exitCode: 0 });
    expect(await readFile(join(session.dir, "a.txt"), "utf8")).toBe("blue\n");
    expect(sentResults(chat.upstream.lastRequest)["call_e"]).toContain("blue");
  });

  it("resumes a session with all that was said", async () => {
    chat.upstream.answer(textStream("Blue."));
    const session = await open();
    await session.run("What colour?");
    chat.upstream.answer(textStream("Still blue."));
    const run = await session.run("And now?", { resume: true });
    expect(run).toMatchObject({ answer: "Still blue.", exitCode: 0 });
    const said = JSON.stringify(sentMessages(chat.upstream.lastRequest));
    for (const text of ["What colour?", "Blue.", "And now?"]) expect(said).toContain(text);
  });

  it("[responses.endpoints.websocket] goes on over HTTP after one refused WebSocket with the provider that it brings", async () => {
    chat.upstream.answer(textStream("Over HTTP."));
    const session = await open({ isBuiltIn: true });
    const run = await session.run("Say hello.");
    expect(run.answer).toBe("Over HTTP.");
    const asked = session.passed.filter(({ path }) => path.startsWith("/v1/responses"));
    expect(asked.map(({ method, status }) => [method, status])).toEqual([
      ["GET", 426],
      ["POST", 200],
    ]);
  });

  it("shows what a made-up key is told", async () => {
    const session = await open({ apiKey: "sk-igw-made-up", provider: FEW_TRIES });
    const run = await session.run("Say hello.");
    expect(run.exitCode).toBe(1);
    expect(run.errors.join("\n")).toMatch(/401 Unauthorized: Invalid API key\./u);
    expect(new Set(session.passed.map(({ status }) => status))).toEqual(new Set([401]));
  });

  it("shows what strict caps leave room for, and goes on with that where it is shrunk", async () => {
    const { key, organizationId } = await chat.stack.createKey(
      { limits: monthLimits({ cap: 5 }) },
      { strictCaps: true },
    );
    const refused = await (await open({ model: LEAN_MODEL, apiKey: key })).run("Say hello.");
    expect(refused.errors.join("\n")).toMatch(
      /You requested up to 8192 tokens, but can only afford 4\d{3}\./u,
    );
    await chat.stack.admin("PATCH", `/api/organizations/${organizationId}`, { on_cap: "shrink" });
    chat.upstream.answer(textStream("Hello", " there."));
    const shrunk = await (await open({ model: LEAN_MODEL, apiKey: key })).run("Say hello.");
    expect(shrunk).toMatchObject({ answer: "Hello there.", errors: [], exitCode: 0 });
    expect(chat.upstream.lastRequest.body?.["max_tokens"]).toBeLessThan(5_000);
  });

  it("shows the cap that is reached", async () => {
    const { key } = await chat.stack.createKey({ name: "ci", limits: monthLimits({ cap: 0 }) });
    const session = await open({ apiKey: key, provider: FEW_TRIES });
    const run = await session.run("Say hello.");
    expect(run.exitCode).toBe(1);
    expect(run.errors.join("\n")).toContain('Monthly hard cap of 0.00 USD for API key "ci" reached');
    expect(chat.upstream.requests).toHaveLength(0);
  });

  it("is stopped by the cap of its session, which it names by itself, and begins another one", async () => {
    const { key, organizationId } = await chat.stack.createKey({ name: "ci", sessionCapCents: 1 });
    chat.upstream.answerNext((request) =>
      deltaStream(callDeltas(runCommand(request, "call_1", "echo hello"), 0), "tool_calls", {
        promptTokens: 10,
        cachedTokens: 0,
        completionTokens: 2_000,
      }),
    );
    chat.upstream.answer(textStream("Hello."));
    const settings = { model: LEAN_MODEL, apiKey: key, provider: FEW_TRIES };
    const run = await (await open(settings)).run("Say hello.");
    expect(run.exitCode).toBe(1);
    const told = /The cap of 0\.01 USD for session \\*"([-0-9a-f]{36})\\*" .* is reached: 0\.02 USD spent\./u;
    const [, name] = told.exec(run.errors.join("\n")) ?? [];
    expect(name).toBeDefined();
    const path = `/api/organizations/${organizationId}/requests?session=${name}`;
    const { data } = await chat.stack.admin("GET", path);
    expect((data as { status: number }[]).map(({ status }) => status).slice(-2)).toEqual([402, 200]);
    const next = await (await open(settings)).run("Say hello.");
    expect(next).toMatchObject({ answer: "Hello.", errors: [], exitCode: 0 });
  });

  it("shows the status of a 429 that outlasts its tries", async () => {
    chat.upstream.answer({ kind: "hang" });
    const { key } = await chat.stack.createKey({ maxConcurrentRequests: 1 });
    const held = new AbortController();
    onTestFinished(() => held.abort());
    const first = fetch(`${chat.stack.baseUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(chatBody()),
      signal: held.signal,
    });
    first.catch(() => undefined);
    await waitFor("the key's one request", () => chat.upstream.requests.length === 1);
    const session = await open({ apiKey: key, provider: FEW_TRIES });
    const run = await session.run("Say hello.");
    expect(run.exitCode).toBe(1);
    expect(run.errors.at(-1)).toMatch(/^exceeded retry limit, last status: 429 Too Many Requests/u);
    expect(new Set(session.passed.map(({ status }) => status))).toEqual(new Set([429]));
  });

  it("shows that a model does not start, after its tries", async () => {
    const headers = { "retry-after": "1" };
    chat.upstream.answer({ kind: "json", status: 503, headers, body: openaiError("loading") });
    const session = await open({ provider: FEW_TRIES });
    const run = await session.run("Say hello.");
    expect(run.exitCode).toBe(1);
    expect(run.errors.at(-1)).toMatch(/^unexpected status 503 Service Unavailable: The model is starting/u);
    expect(new Set(session.passed.map(({ status }) => status))).toEqual(new Set([503]));
  });

  it("waits out a 429 and a model that starts", async () => {
    chat.upstream.answerNext({
      kind: "json",
      status: 503,
      headers: { "retry-after": "1" },
      body: openaiError("loading"),
    });
    chat.upstream.answer(textStream("Awake."));
    const { key } = await chat.stack.createKey({ requestsPerMinute: 20 });
    const session = await open({ apiKey: key }, async () => {
      let status = 200;
      while (status !== 429) status = (await chat.send({ key, path: "/v1/models" })).status;
    });
    const run = await session.run("Say hello.");
    expect(run).toMatchObject({ answer: "Awake.", exitCode: 0 });
    expect([...new Set(session.passed.map((passed) => passed.status))]).toEqual([429, 503, 200]);
  });

  // To the program it is any other 429.
  it.each(byExtent({ push: [], nightly: ["tokens"] }))("waits out a 429 of %s per minute", async () => {
    const { key } = await chat.stack.createKey({ tokensPerMinute: 6_000 });
    chat.upstream.answer(textStream("Late."));
    const session = await open({ apiKey: key }, () => useUpTokens(chat, key));
    const run = await session.run("Say hello.");
    expect(run).toMatchObject({ answer: "Late.", exitCode: 0 });
    const statuses = session.passed.map(({ status }) => status);
    expect([statuses[0], statuses.at(-1)]).toEqual([429, 200]);
  });

  it("never takes a broken stream for an answer", async () => {
    const broken = { error: { message: "out of memory", code: 500 } };
    chat.upstream.answerNext({ kind: "events", events: [textChunk("Half"), broken], done: false });
    chat.upstream.answer(textStream("Whole."));
    const run = await (await open()).run("Say hello.");
    expect(run).toMatchObject({ answer: "Whole.", exitCode: 0 });
  });
});
