/** Sessions of Codex with the gateway, and what a model answers to have it act. */
import { onTestFinished } from "vitest";
import type { ChatStack } from "../support/chat-stack.ts";
import {
  type CodexOptions,
  type CodexSession,
  ensureCodex,
  ensurePreviousCodex,
  openCodex,
} from "../support/codex.ts";
import { firstOnPush } from "../support/extent.ts";
import { type PassedRequest, startRecordingProxy } from "../support/recording-proxy.ts";
import type { RecordedRequest } from "../support/upstream.ts";
import type { Call } from "./chat-answers.ts";
import { CLIENTS } from "./clients.ts";

export const CODEX_PROGRAMS = await Promise.all(
  firstOnPush([
    { proven: CLIENTS.codex, ensure: ensureCodex },
    { proven: CLIENTS.previousCodex, ensure: ensurePreviousCodex },
  ]).map(async ({ proven, ensure }) => ({ proven, ...(await ensure()) })),
);

type RecordedSession = CodexSession & { readonly passed: readonly PassedRequest[] };

/** With the key that has room, unless another is given. `beforeFirst` as in `startRecordingProxy`. */
export async function openRecordedCodex(
  chat: Pick<ChatStack, "stack" | "key">,
  options: Pick<CodexOptions, "program" | "model"> & Partial<CodexOptions>,
  beforeFirst?: () => Promise<void>,
): Promise<RecordedSession> {
  const proxy = await startRecordingProxy(chat.stack.baseUrl, beforeFirst);
  onTestFinished(() => proxy.close());
  const session = await openCodex({ baseUrl: proxy.baseUrl, apiKey: chat.key.key, ...options });
  onTestFinished(() => session.cleanUp());
  return { ...session, passed: proxy.passed };
}

/** The name of the tool that runs commands, as this version declares it. */
function findShell(request: RecordedRequest): { name: string; argument: (command: string) => object } {
  const tools = request.body?.["tools"] as {
    function: { name: string; parameters: { properties: object } };
  }[];
  const shell = tools.find(
    ({ function: { parameters } }) => "cmd" in parameters.properties || "command" in parameters.properties,
  );
  if (shell === undefined) throw new Error("there is no tool that runs commands");
  const { name, parameters } = shell.function;
  return {
    name,
    argument: (command) =>
      "cmd" in parameters.properties
        ? { cmd: command }
        : { command: name === "shell" ? ["bash", "-lc", command] : command },
  };
}

/** A call of that tool. */
export function runCommand(request: RecordedRequest, id: string, command: string): Call {
  const shell = findShell(request);
  return { id, name: shell.name, arguments: JSON.stringify(shell.argument(command)) };
}
