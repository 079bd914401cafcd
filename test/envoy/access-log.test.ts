/** The access log of the whole stack: each field is told to Envoy once, and none is lost however a request ends. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import { CHAT_MODEL } from "../support/gateway-config.ts";
import {
  type ScriptedAnswer,
  finishChunk,
  openaiError,
  textChunk,
  textCompletion,
  usageChunk,
} from "../support/scripted-answer.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { createGate, waitFor } from "../support/wait.ts";

const USAGE = { promptTokens: 10, cachedTokens: 4, completionTokens: 5 };
const COST_MICROCENTS = String(6 * 250 + 4 * 25 + 5 * 1_000);
const chat = withSharedChatStack();

/** The only line of a key's requests. */
async function readLine({ id }: CreatedKey): Promise<Record<string, unknown>> {
  const file = join(chat.stack.dir, "data/logs/access.log");
  const find = (): string | false => {
    const lines = readFileSync(file, "utf8").split("\n");
    return lines.find((line) => line.includes(`"${id}"`)) ?? false;
  };
  const line = await waitFor("the line of the access log", find, { timeoutMs: 30_000 });
  return JSON.parse(line) as Record<string, unknown>;
}

const identityOf = ({ id, organizationId }: CreatedKey) => ({
  key_id: id,
  organization_id: organizationId,
  model: CHAT_MODEL,
});
const FIGURES = {
  input_tokens: 6,
  cached_input_tokens: 4,
  output_tokens: 5,
  cost_microcents: COST_MICROCENTS,
};

interface Case {
  readonly name: string;
  readonly script: ScriptedAnswer;
  readonly fields?: object;
  readonly stopsReading?: boolean;
  readonly expected: object;
}

const CASES: readonly Case[] = [
  {
    name: "a whole answer: whose it was and what it cost",
    script: { kind: "json", body: textCompletion("x", USAGE) },
    expected: { status: 200, ...FIGURES },
  },
  {
    name: "a stream: the same",
    script: { kind: "events", events: [textChunk("word"), finishChunk(), usageChunk(USAGE)] },
    fields: { stream: true },
    expected: { status: 200, ...FIGURES },
  },
  {
    name: "a client that went away in mid-stream: whose it was",
    script: { kind: "events", events: [textChunk("word"), createGate()] },
    fields: { stream: true },
    stopsReading: true,
    expected: {},
  },
  {
    name: "an upstream that failed after the request had been routed: the error's code too",
    script: { kind: "json", status: 500, body: openaiError("no") },
    expected: { error_code: "upstream_error" },
  },
];

describe("the access log of a whole stack", () => {
  const keys: CreatedKey[] = [];

  // All of them first: Envoy writes its log out every ten seconds.
  beforeAll(async () => {
    for (const { script, fields, stopsReading } of CASES) {
      const key = await chat.stack.createKey();
      chat.upstream.answer(script);
      const onData = stopsReading === true ? { onData: () => "abort" as const } : {};
      await chat.send({ key: key.key, body: chatBody(fields), ...onData });
      keys.push(key);
    }
  });

  it.each(CASES.map((each, index) => ({ ...each, index })))("tells of $name", async ({ index, expected }) => {
    const key = keys[index];
    if (key === undefined) throw new Error("the request was not sent");
    expect(await readLine(key)).toMatchObject({ ...identityOf(key), ...expected });
  });
});
