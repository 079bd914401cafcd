import { formatJson } from "../json/exact-json.ts";
import { parseToolInput } from "./tool-input.ts";
import { JsonObjectScanner } from "./json-object-scanner.ts";

/** What one chunk says about a tool call; empty where it says nothing. */
export interface ToolCallDelta {
  readonly id: string;
  readonly name: string;
  /** JSON text, or a piece of it. */
  readonly arguments: string;
}

/** One tool call of a stream, collected from its pieces. */
export class ToolCall {
  id = "";
  /** The upstream's name. */
  name = "";
  /** Nothing can be added to the name any more. */
  isNameSettled = false;
  readonly #scanner = new JsonObjectScanner();
  /** Arguments that have not been sent. */
  #pending = "";

  /** Whether its arguments are a complete object. */
  get isComplete(): boolean {
    return this.#scanner.isComplete;
  }

  /** Characters that are kept for it. */
  get heldCharacters(): number {
    return this.id.length + this.name.length + this.#pending.length;
  }

  /**
   * Takes a piece: the first id counts, pieces of the name are put together unless one repeats it, and what comes after
   * the arguments' end is dropped.
   */
  add(delta: ToolCallDelta): void {
    if (this.id === "") this.id = delta.id;
    if (!this.isNameSettled && delta.name !== this.name) this.name += delta.name;
    if (delta.arguments === "") return;
    this.isNameSettled ||= this.name !== "";
    this.#pending += delta.arguments.slice(0, this.#scanner.scan(delta.arguments));
  }

  /** Arguments that can be sent now: those of an object, as they come. */
  takeArguments(): string {
    if (this.#scanner.kind !== "object") return "";
    return this.#take();
  }

  /** The same whatever they are, for a protocol that takes them as text; white space alone says nothing. */
  takeText(): string {
    return this.#scanner.kind === "blank" ? "" : this.#take();
  }

  /** The rest of the arguments at the end of the answer, made an object where they are none; empty for `{}`. */
  endArguments(): string {
    if (this.#scanner.kind === "object") return this.#take();
    const input = parseToolInput(this.#take());
    return Object.keys(input).length === 0 ? "" : formatJson(input);
  }

  #take(): string {
    const taken = this.#pending;
    this.#pending = "";
    return taken;
  }
}
