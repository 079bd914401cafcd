/**
 * Calls and results in pairs. Strict servers (OpenAI, Mistral, Kimi) refuse a call that has no result in the turn behind it,
 * and a result that no call before it has asked for, with every further request of the conversation. Clients have both: a
 * turn that was interrupted, a history that was cut, a task that somebody else gave as a tool's output.
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

/** The same messages, in which each call has its result, and what answers no call is text of the user's. */
export function answerCalls(messages: readonly ParsedMessage[]): ParsedMessage[] {
  const answered: ParsedMessage[] = [];
  let open = new OpenCalls();
  // Results come behind the calls of an assistant's turn, however many messages either is.
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

/** The calls of one turn that have no result yet; ids may be there twice. */
class OpenCalls {
  readonly #counts = new Map<string, number>();

  add(id: string): void {
    this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1);
  }

  /** What becomes of a part of the user's turn behind them. */
  answer(part: UserPart): UserPart[] {
    if (part.kind !== "tool_result") return [part];
    const count = this.#counts.get(part.toolUseId) ?? 0;
    if (count === 0) return tellResult(part);
    this.#counts.set(part.toolUseId, count - 1);
    return [part];
  }

  /** Adds what is missing, which joins the turn of the user's that it comes behind. */
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

/** A result that answers no call. */
function tellResult({ text, media }: ToolResultPart): UserPart[] {
  return tellOutput(null, [...(text === ATTACHED ? [] : createTextParts(text)), ...media]);
}

/** A tool's output as text of the user's. @param name The tool's; null where it is not known. */
export function tellOutput(name: string | null, content: readonly UserPart[]): UserPart[] {
  const whose = name === null ? "a tool" : `the tool ${name}`;
  return [...createTextParts(`[Output of ${whose}:]`), ...content];
}
