/** Coding agents of other vendors, each with one task and one error. They take minutes, so they run each night. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type AgentRun, AGENTS, runAgent } from "../support/agents.ts";
import { withSharedChatStack } from "../support/chat-stack.ts";
import { CHAT_MODEL } from "../support/gateway-config.ts";
import { ensureAtNight } from "../support/packaged-program.ts";
import type { RecordedRequest } from "../support/upstream.ts";
import { answerByTurn, sentResults } from "./agent-requests.ts";
import { type Call, callDeltas, deltaStream, textStream } from "./chat-answers.ts";
import { CLIENTS } from "./clients.ts";
import { proves } from "./proofs.ts";
import { monthLimits } from "../support/month-limits.ts";

const chat = withSharedChatStack();

interface Tool {
  readonly function: {
    readonly name: string;
    readonly parameters: { readonly properties: Readonly<Record<string, object>> };
  };
}

const toolsOf = (request: RecordedRequest): readonly Tool[] => (request.body?.["tools"] ?? []) as Tool[];

/** A call of the tool that writes a file, by whatever names this agent declares it. */
function writeFileCall(request: RecordedRequest, path: string, text: string): Call {
  for (const { function: tool } of toolsOf(request)) {
    const names = Object.keys(tool.parameters.properties);
    const pathName = names.find((name) => /path/iu.test(name));
    const textName = names.find((name) => /^(?:content|file_text|new_text)$/iu.test(name));
    if (pathName === undefined || textName === undefined) continue;
    const given = { [pathName]: path, [textName]: text };
    return { id: "call_w", name: tool.name, arguments: JSON.stringify(given) };
  }
  throw new Error(`no tool writes files: ${JSON.stringify(toolsOf(request))}`);
}

/** Some agents have a title made for the session, without tools. */
function answerTask(text: string): void {
  answerByTurn(
    chat.upstream,
    (request) =>
      toolsOf(request).length === 0
        ? textStream("A title")
        : deltaStream(callDeltas(writeFileCall(request, "a.txt", text), 0), "tool_calls"),
    () => textStream("It says ", "blue."),
  );
}

const AGENT_IDS = ["opencode", "cline", "continueCli", "aider"] as const;

for (const id of AGENT_IDS) {
  const agent = AGENTS[id];
  const { path, missing } = await ensureAtNight(agent.ensure);
  const note = missing === null ? "" : ` (skipped: ${missing})`;

  const ask = async (apiKey = chat.key.key): Promise<AgentRun & { readonly file: string }> => {
    const { baseUrl } = chat.stack;
    const prompt = "Write the word blue to a.txt.";
    const run = await runAgent(agent, { program: path ?? "", baseUrl, apiKey, model: CHAT_MODEL, prompt });
    onTestFinished(() => run.cleanUp());
    return { ...run, file: await readFile(join(run.dir, "a.txt"), "utf8").catch(String) };
  };

  describe.skipIf(missing !== null)(`${agent.name}${note}`, () => {
    proves(CLIENTS[id], "/v1/chat/completions");

    it("does one task: its model's answer is streamed and writes a file", async () => {
      // Aider has no tools: it reads files out of the answer.
      if (id === "aider") chat.upstream.answer(textStream("a.txt\n", "```\n", "blue\n", "```\n"));
      else answerTask("blue\n");
      const run = await ask();
      expect(run).toMatchObject({ file: "blue\n", exitCode: 0 });
      expect(run.output).toContain(id === "aider" ? "blue" : "It says blue.");
      const { lastRequest } = chat.upstream;
      expect(lastRequest.body).toMatchObject({ stream: true });
      expect(Object.keys(sentResults(lastRequest))).toEqual(id === "aider" ? [] : ["call_w"]);
    });

    it("shows the cap that is reached", async () => {
      const { key } = await chat.stack.createKey({ name: "ci", limits: monthLimits({ cap: 0 }) });
      const run = await ask(key);
      expect(run.output).toMatch(/Monthly hard cap of 0\.00 USD for API key \\*"ci\\*" reached/u);
      expect(chat.upstream.requests).toHaveLength(0);
    });
  });
}
