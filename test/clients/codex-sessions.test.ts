/** Codex' long sessions: its own compaction, agents of its agents, a call that its user interrupted. */
import { access } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { SUMMARY_PROMPT } from "../../src/data-path/translation/conversation/compaction.ts";
import { withSharedChatStack } from "../support/chat-stack.ts";
import type { CodexOptions } from "../support/codex.ts";
import { catalogEntry } from "../support/gateway-config.ts";
import type { ScriptedAnswer } from "../support/scripted-answer.ts";
import type { RecordedRequest } from "../support/upstream.ts";
import { waitFor } from "../support/wait.ts";
import { sentMessages, sentResults } from "./agent-requests.ts";
import { type Call, callDeltas, deltaStream, textStream } from "./chat-answers.ts";
import { CODEX_PROGRAMS, openRecordedCodex, runCommand } from "./codex-runs.ts";
import { proves } from "./proofs.ts";

/** Codex knows what follows the slash: it runs commands by a function of its own. */
const MODEL = "acme/gpt-5.5";
/** Of this one it knows that it may have agents of its own. */
const LEADING_MODEL = "acme/gpt-5.6-sol";
const chat = withSharedChatStack([catalogEntry({ id: MODEL }), catalogEntry({ id: LEADING_MODEL })]);

const callStream = (call: Call, promptTokens = 11): ScriptedAnswer =>
  deltaStream(callDeltas(call, 0), "tool_calls", { promptTokens, cachedTokens: 0, completionTokens: 2 });

const textOf = (request: RecordedRequest): string =>
  sentMessages(request)
    .map(({ content }) => content ?? "")
    .join("\n");

describe.each(CODEX_PROGRAMS)("sessions of Codex $proven.version", ({ proven, path, missing }) => {
  proves(proven, "/v1/responses");
  beforeEach(({ skip }) => skip(missing !== null, missing ?? ""));
  const open = (options: Partial<CodexOptions> = {}) =>
    openRecordedCodex(chat, { program: path ?? "", model: MODEL, ...options });

  it("[responses.compaction.trigger] compacts what is too long in the middle of a turn, goes on from the summary, and resumes with it", async () => {
    const summary = "S: blue whales were counted";
    chat.upstream.answer((request) => {
      const text = textOf(request);
      if (text.includes(SUMMARY_PROMPT)) return textStream(summary);
      if (text.includes(summary)) return textStream("There are seven.");
      return callStream(runCommand(request, "call_1", "echo seven"), 50_000);
    });
    const session = await open({ isBuiltIn: true, settings: ["model_auto_compact_token_limit = 20000"] });
    const run = await session.run("Count the whales.");
    expect(run).toMatchObject({ answer: "There are seven.", errors: [], exitCode: 0 });
    const [, compacted, after] = chat.upstream.requests;
    expect(chat.upstream.requests).toHaveLength(3);
    expect(compacted?.body).toMatchObject({ tool_choice: "none" });
    expect(sentResults(compacted!)["call_1"]).toContain("seven");
    // Codex keeps what its user has said, and what the model did is the summary's to tell.
    expect(textOf(after!)).toContain("Count the whales.");
    expect(sentMessages(after!).filter(({ role }) => role === "assistant")).toEqual([]);
    const resumed = await session.run("And now?", { resume: true });
    expect(resumed).toMatchObject({ answer: "There are seven.", errors: [], exitCode: 0 });
    for (const text of [summary, "And now?"]) expect(textOf(chat.upstream.lastRequest)).toContain(text);
  });

  it("[responses.items.agent_message] has an agent do a part of its task, waits for it and reads its answer", async () => {
    const task = { task_name: "whales", message: "COUNT THE WHALES", fork_turns: "none" };
    chat.upstream.answer((request) => {
      const results = sentResults(request);
      if (!textOf(request).includes("Ask somebody.")) return textStream("Seven whales.");
      if (!("call_s" in results)) return callStream(callOf("call_s", "spawn_agent", task));
      if (!("call_w" in results)) return callStream(callOf("call_w", "wait_agent", { timeout_ms: 60_000 }));
      return textStream("There are seven.");
    });
    const run = await (await open({ model: LEADING_MODEL })).run("Ask somebody.");
    expect(run).toMatchObject({ answer: "There are seven.", errors: [], exitCode: 0 });
    const agents = chat.upstream.requests.filter((request) => !textOf(request).includes("Ask somebody."));
    expect(agents.map(textOf)).toEqual([expect.stringContaining("COUNT THE WHALES")]);
    expect(sentMessages(chat.upstream.lastRequest).at(-1)).toMatchObject({
      role: "user",
      content: expect.stringContaining("Seven whales.") as string,
    });
  });

  it("[responses.items.interrupted] resumes a session whose call its user has interrupted, with an output for each call", async () => {
    const session = await open();
    const started = join(session.dir, "started");
    chat.upstream.answer((request) => callStream(runCommand(request, "call_1", "touch started; sleep 300")));
    const isStarted = () =>
      waitFor("the command", () =>
        access(started).then(
          () => true,
          () => false,
        ),
      );
    await session.run("Wait.", { interruptWhen: isStarted });
    expect(chat.upstream.requests).toHaveLength(1);
    chat.upstream.answer(textStream("It was interrupted."));
    const run = await session.run("What happened?", { resume: true });
    expect(run).toMatchObject({ answer: "It was interrupted.", errors: [], exitCode: 0 });
    expect(Object.keys(sentResults(chat.upstream.lastRequest))).toEqual(["call_1"]);
  });
});

/** A call of one of the tools for agents. */
function callOf(id: string, name: string, input: object): Call {
  return { id, name: `collaboration__${name}`, arguments: JSON.stringify(input) };
}
