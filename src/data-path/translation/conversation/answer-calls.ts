/**
 * Pairs tool calls with results. Strict servers (OpenAI, Mistral, Kimi) reject every further request of a conversation
 * that has a call without a result in the next turn, or a result without a call. Clients send both: interrupted turns,
 * truncated histories, and tasks given as a tool's output.
 */
import {
  ATTACHED,
  createTextParts,
  createToolResult,
  isNoTurn,
  type ParsedMessage,
  type ToolResultPart,
  type UserPart,
} from "./parts.ts";

const NO_OUTPUT = "[There is no output of this call: it was interrupted.]";

/** Adds missing results, and turns results without a call into user text. */
export function answerCalls(messages: readonly ParsedMessage[]): ParsedMessage[] {
  const answered: ParsedMessage[] = [];
  let open = new OpenCalls();
  // Results follow the calls of an assistant turn; calls and results may span several messages.
  let isAnswering = false;
  for (const message of messages) {
    if (message.role === "assistant" && !isNoTurn(message.parts)) {
      if (isAnswering) {
        open.close(answered);
        open = new OpenCalls();
      }
      isAnswering = false;
      for (const part of message.parts) if (part.kind === "tool_use") open.add(part.id);
    } else if (message.role === "user" && message.parts.length > 0) {
      isAnswering = true;
      answered.push({ role: "user", parts: message.parts.flatMap((part) => open.answer(part)) });
      continue;
    }
    answered.push(message);
  }
  open.close(answered);
  return answered;
}

/** Calls of one turn without a result so far; ids may repeat. */
class OpenCalls {
  readonly #counts = new Map<string, number>();

  add(id: string): void {
    this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1);
  }

  /** Converts a part of the user turn that follows the calls. */
  answer(part: UserPart): UserPart[] {
    if (part.kind !== "tool_result") return [part];
    const count = this.#counts.get(part.toolUseId) ?? 0;
    if (count === 0) return formatLoneResult(part);
    this.#counts.set(part.toolUseId, count - 1);
    return [part];
  }

  /** Appends the missing results, to be merged with the user turn before them. */
  close(messages: ParsedMessage[]): void {
    const parts: ToolResultPart[] = [];
    for (const [id, count] of this.#counts) {
      for (let missing = count; missing > 0; missing -= 1) {
        parts.push(createToolResult(id, createTextParts(NO_OUTPUT)));
      }
    }
    if (parts.length > 0) messages.push({ role: "user", parts });
  }
}

/** Converts a result without a call. */
function formatLoneResult({ text, media }: ToolResultPart): UserPart[] {
  return formatToolOutput(null, [...(text === ATTACHED ? [] : createTextParts(text)), ...media]);
}

/** Converts a tool's output to user text. @param name The tool's name; null if unknown. */
export function formatToolOutput(name: string | null, content: readonly UserPart[]): UserPart[] {
  const tool = name === null ? "a tool" : `the tool ${name}`;
  return [...createTextParts(`[Output of ${tool}:]`), ...content];
}
