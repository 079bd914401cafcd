import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import { CHAT_MODEL } from "../support/gateway-config.ts";
import { openaiError, textChunk, textCompletion } from "../support/scripted-answer.ts";
import { createGate, waitFor } from "../support/wait.ts";
import { METERED_CATALOG, readSpend } from "./metering-figures.ts";

const chat = withSharedChatStack(METERED_CATALOG);

/** One line of the request log; amounts small enough for JSON's numbers. */
interface Line {
  readonly request_id: string;
  readonly organization_id: string;
  readonly cost_microcents: number;
  readonly outcome: string;
  readonly [field: string]: unknown;
}

/** The lines of an organization, over all files. */
function readLines(organizationId: string): Line[] {
  const dir = join(chat.stack.dir, "data/requests");
  const names = existsSync(dir) ? readdirSync(dir) : [];
  return names
    .flatMap((name) => readFileSync(join(dir, name), "utf8").split("\n"))
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line)
    .filter((line) => line.organization_id === organizationId);
}

function waitForLines(organizationId: string, count: number): Promise<Line[]> {
  return waitFor(`${count} lines`, () => {
    const lines = readLines(organizationId);
    return lines.length >= count && lines;
  });
}

describe("the request log", () => {
  it("has a line for each request with everything that its cost was made of", async () => {
    const key = await chat.stack.createKey();
    const usage = { promptTokens: 10, cachedTokens: 4, completionTokens: 5 };
    chat.upstream.answer({ kind: "json", body: textCompletion("x", usage) });
    const answer = await chat.send({ key: key.key, body: chatBody() });
    const [line] = await waitForLines(key.organizationId, 1);
    const today = new Date().toISOString().slice(0, 10);
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u) as string;
    expect(line).toEqual({
      request_id: answer.headers["x-request-id"],
      organization_id: key.organizationId,
      key_id: key.id,
      user_id: null,
      group_id: null,
      model: CHAT_MODEL,
      requested_model: CHAT_MODEL,
      route: "POST /v1/chat/completions",
      status: 200,
      error_code: null,
      outcome: "complete",
      admitted_at: time,
      settled_at: time,
      duration_ms: expect.any(Number) as number,
      first_token_ms: null,
      upstream: "local",
      upstream_status: 200,
      upstream_reason: null,
      pinned_by: null,
      upstream_cause: null,
      month: today.slice(0, 7),
      day: today,
      input_tokens: 6,
      cached_input_tokens: 4,
      cache_write_tokens: 0,
      cache_write_1h_tokens: 0,
      input_audio_tokens: 0,
      output_audio_tokens: 0,
      output_tokens: 5,
      reasoning_tokens: 0,
      estimated: false,
      currency: "USD",
      tags: {},
      tag_row: null,
      server_tools: {},
      session_id: null,
      shrunk: null,
      prices: { input: 250_000_000, cached_input: 25_000_000, output: 1_000_000_000 },
      cost_microcents: 6 * 250 + 4 * 25 + 5 * 1_000,
    });
  });

  it("adds up to what stands in Redis, whatever became of the requests", async () => {
    const key = await chat.stack.createKey();
    const usage = { promptTokens: 10, cachedTokens: 0, completionTokens: 5 };
    chat.upstream.answerNext(
      { kind: "json", status: 500, body: openaiError("no") },
      { kind: "reset" },
      { kind: "events", events: [textChunk("word"), createGate()] },
    );
    chat.upstream.answer({ kind: "json", body: textCompletion("x", usage) });
    await chat.send({ key: key.key, body: chatBody() });
    await chat.send({ key: key.key, body: chatBody() });
    await chat.send({ key: key.key, body: chatBody({ stream: true }), onData: () => "abort" });
    await chat.send({ key: key.key, body: chatBody({ model: "acme/unknown" }) });
    await Promise.all(Array.from({ length: 40 }, () => chat.send({ key: key.key, body: chatBody() })));
    const lines = await waitForLines(key.organizationId, 44);
    expect(lines).toHaveLength(44);
    expect(new Set(lines.map((line) => line.request_id)).size).toBe(44);
    expect(
      lines
        .filter((line) => line.outcome !== "complete")
        .map((line) => line.outcome)
        .toSorted(),
    ).toEqual(["broken", "broken", "refused", "refused_by_upstream"]);
    const sum = lines.reduce((total, line) => total + BigInt(line.cost_microcents), 0n);
    expect(await readSpend(chat.stack, key)).toEqual({ key: sum, organization: sum });
  });

  it("is written by each worker to a file of its own, named after the day", () => {
    const names = readdirSync(join(chat.stack.dir, "data/requests"));
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) expect(name).toMatch(/^\d{4}-\d\d-\d\d\.worker-[01]\.0\.jsonl$/u);
  });
});
