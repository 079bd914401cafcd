import type { RedactedThinkingBlock, ToolUseBlock } from "../message.ts";
import { isJsonObject, type JsonObject } from "../../../../shared/text/json-object.ts";
import type { AnswerSettings } from "../answer-settings.ts";
import { listCalls, readString } from "../../upstream/read-message.ts";
import { readCallFields } from "../../conversation/call-carrier.ts";
import type { CallReasoning } from "../../upstream/call-reasoning.ts";
import { parseToolInput } from "../../upstream/tool-input.ts";

/**
 * Converts the tool calls of a whole answer, in order, each after its carrier. Keeps the upstream's ids, because Kimi
 * and Mistral depend on their format; replaces missing and repeated ids. Drops calls without a name, which cannot be
 * run.
 */
export function readToolCalls(
  message: JsonObject,
  settings: AnswerSettings,
  reasoning: CallReasoning,
): (ToolUseBlock | RedactedThinkingBlock)[] {
  const listed = listCalls(message);
  // Servers that send both fields send the same call twice.
  const calls = listed.length > 0 ? listed : [{ function: message["function_call"] }];
  const usedIds = new Set<string>();
  const blocks: (ToolUseBlock | RedactedThinkingBlock)[] = [];
  for (const call of calls) {
    const called = isJsonObject(call) ? call["function"] : null;
    if (!isJsonObject(call) || !isJsonObject(called)) continue;
    const name = readString(called["name"]);
    if (name === "") continue;
    const given = readString(call["id"]);
    const id = given === "" || usedIds.has(given) ? settings.ids.toolUseId() : given;
    usedIds.add(id);
    const data = reasoning.startCall({ fields: readCallFields(call) }, id);
    if (data !== null) blocks.push({ type: "redacted_thinking", data });
    blocks.push({
      type: "tool_use",
      id,
      name: settings.toolNames.toClient(name),
      input: parseToolInput(called["arguments"]),
    });
  }
  return blocks;
}
