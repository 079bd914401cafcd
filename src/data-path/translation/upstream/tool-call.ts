import { createHash, hash } from "node:crypto";
import type { CallFields } from "../conversation/parts.ts";
import { formatJson } from "../json/exact-json.ts";
import { parseToolInput } from "./tool-input.ts";
import { JsonObjectScanner } from "./json-object-scanner.ts";

/** The part of a tool call in one chunk; missing fields are empty. */
export interface ToolCallDelta {
  readonly id: string;
  readonly name: string;
  /** JSON text or a piece of it. */
  readonly arguments: string;
}

/** A longer text is not treated as an empty object. */
const MAX_EMPTY_CHARACTERS = 64;

export function isEmptyObject(json: string): boolean {
  return json.length <= MAX_EMPTY_CHARACTERS && /^\s*\{\s*\}\s*$/.test(json);
}

/** One tool call of a stream, assembled from its pieces. */
export class ToolCall {
  id = "";
  /** Name for the upstream. */
  name = "";
  /** Fields that the client sends back with the call; the first value counts. */
  fields: CallFields | null = null;
  /** The name was repeated in a piece of its own after the arguments. */
  isNamedAgain = false;
  /** The name is complete. */
  isNameSettled = false;
  #scanner = new JsonObjectScanner();
  #digest = createHash("sha256");
  /** Arguments that have not been taken. */
  #pending = "";
  #isSettled = false;

  /** Whether the arguments are a complete object. */
  get isComplete(): boolean {
    return this.#scanner.isComplete;
  }

  /** Whether no arguments can follow: some servers send `{}` before the real ones. */
  get isOver(): boolean {
    return this.isComplete && !this.#isPlaceholder;
  }

  /** Characters buffered for this call. */
  get heldCharacters(): number {
    return this.id.length + this.name.length + this.#pending.length;
  }

  /**
   * Adds a piece. The first id counts; pieces of the name are joined, unless one repeats the name. Text after the end
   * of the arguments is dropped, except an object that replaces a placeholder `{}`.
   */
  add(delta: ToolCallDelta): void {
    if (this.id === "") this.id = delta.id;
    if (!this.isNameSettled && delta.name !== this.name) this.name += delta.name;
    if (delta.arguments === "") return;
    this.isNameSettled ||= this.name !== "";
    if (this.#isPlaceholder && /^\s*\{/.test(delta.arguments)) {
      this.#scanner = new JsonObjectScanner();
      this.#digest = createHash("sha256");
      this.#pending = "";
    }
    const added = delta.arguments.slice(0, this.#scanner.scan(delta.arguments));
    this.#digest.update(added);
    this.#pending += added;
  }

  /** Returns whether the text is the whole arguments of this call, which is over. */
  isWhole(json: string): boolean {
    return this.#digest.copy().digest("hex") === hash("sha256", json);
  }

  /** Takes the arguments that can be sent now, as far as they are an object. */
  takeArguments(): string {
    return this.#scanner.kind === "object" ? this.takeText() : "";
  }

  /** Takes the arguments as text, whatever they are, for a protocol that allows that; white space does not count. */
  takeText(): string {
    return this.#scanner.kind === "blank" || this.#isPlaceholder ? "" : this.#take();
  }

  /** Marks the arguments as final: a `{}` is no longer a placeholder. */
  settle(): void {
    this.#isSettled = true;
  }

  /** Takes the remaining arguments at the end of the answer, wrapped if they are not an object; empty for `{}`. */
  endArguments(): string {
    if (this.#scanner.kind === "object") return this.#take();
    const input = parseToolInput(this.#take());
    return Object.keys(input).length === 0 ? "" : formatJson(input);
  }

  /** Whether the arguments are a single `{}`, of which nothing was sent. */
  get #isPlaceholder(): boolean {
    return !this.#isSettled && this.isComplete && isEmptyObject(this.#pending);
  }

  #take(): string {
    this.settle();
    const taken = this.#pending;
    this.#pending = "";
    return taken;
  }
}
