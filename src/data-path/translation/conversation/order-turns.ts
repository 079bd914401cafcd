import type { ModelProfile } from "../../../shared/contract/model-profile.ts";
import {
  type AssistantPart,
  isNoTurn,
  PARAGRAPH,
  type ParsedMessage,
  type Turn,
  type UserPart,
} from "./parts.ts";

/** A conversation as chat templates require it: one system prompt, then turns of alternating roles. */
export interface OrderedConversation {
  /** Empty if absent. */
  readonly system: string;
  readonly turns: readonly Turn[];
}

/**
 * Orders the messages. Consecutive messages of one role become one turn. System messages before the conversation join
 * the system prompt; later ones keep their place: folded into the user turn there or, if the profile allows it, as
 * separate messages. They never come between a tool call and its result.
 */
export function orderTurns(
  system: string,
  messages: readonly ParsedMessage[],
  systemMid: ModelProfile["systemMid"],
): OrderedConversation {
  const first = messages.findIndex(({ role }) => role !== "system");
  const leading = messages
    .slice(0, first)
    .flatMap((message) => (message.role === "system" ? [message.text] : []));
  const turns = new TurnList(systemMid);
  for (const message of messages.slice(first)) {
    if (message.role === "user") turns.addUser(message.parts);
    else if (message.role === "assistant") turns.addAssistant(message.parts);
    else if (message.text !== "") turns.addSystem(message.text);
  }
  const prompt = [system, ...leading].filter((text) => text !== "").join(PARAGRAPH);
  return { system: prompt, turns: turns.end() };
}

class TurnList {
  readonly #turns: Turn[] = [];
  readonly #systemMid: ModelProfile["systemMid"];
  /** System texts that wait for the results of open tool calls. */
  #waiting: string[] = [];
  /** Carriers that wait for their call; they are no turn of their own. */
  #carriers: AssistantPart[] = [];
  #hasOpenCalls = false;

  constructor(systemMid: ModelProfile["systemMid"]) {
    this.#systemMid = systemMid;
  }

  addUser(parts: readonly UserPart[]): void {
    // The message had only empty texts and is dropped.
    if (parts.length === 0) return;
    const last = this.#turns.at(-1);
    if (last?.role === "user") append(last.parts, parts);
    else this.#turns.push({ role: "user", parts: [...parts] });
    this.#hasOpenCalls = false;
    this.#carriers = [];
    this.#placeWaiting();
  }

  addAssistant(parts: readonly AssistantPart[]): void {
    // The message had only dropped blocks and is dropped.
    if (!parts.some(({ kind }) => kind !== "gap")) return;
    const last = this.#turns.at(-1);
    if (last?.role === "assistant") append(last.parts, [{ kind: "gap" }, ...parts]);
    else if (isNoTurn(parts)) {
      append(this.#carriers, parts);
    } else {
      this.#turns.push({ role: "assistant", parts: [...this.#carriers, ...parts] });
      this.#carriers = [];
    }
    if (parts.some(({ kind }) => kind === "tool_use")) this.#hasOpenCalls = true;
  }

  addSystem(text: string): void {
    if (this.#hasOpenCalls) this.#waiting.push(text);
    else this.#placeSystem(text);
  }

  end(): Turn[] {
    this.#placeWaiting();
    return this.#turns;
  }

  #placeWaiting(): void {
    for (const text of this.#waiting) this.#placeSystem(text);
    this.#waiting = [];
  }

  #placeSystem(text: string): void {
    if (this.#systemMid === "keep") {
      this.#turns.push({ role: "system", text });
      return;
    }
    const last = this.#turns.at(-1);
    if (last?.role === "user") last.parts.push({ kind: "text", text });
    else this.#turns.push({ role: "user", parts: [{ kind: "text", text }] });
  }
}

/** `push(...parts)` would put every part on the call stack. */
function append<Part>(target: Part[], parts: readonly Part[]): void {
  for (const part of parts) target.push(part);
}
