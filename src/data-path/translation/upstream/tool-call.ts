import type { CallFields } from "../conversation/parts.ts";
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

/** More characters than this are no empty object. */
const MAX_EMPTY_CHARACTERS = 64;

export function isEmptyObject(json: string): boolean {
  return json.length <= MAX_EMPTY_CHARACTERS && /^\s*\{\s*\}\s*$/.test(json);
}

/** One tool call of a stream, collected from its pieces. */
export class ToolCall {
  id = "";
  /** The upstream's name. */
  name = "";
  /** What it is to be given back with; the first that comes counts. */
  fields: CallFields | null = null;
  /** Its name came once more, alone, after its arguments. */
  isNamedAgain = false;
  /** Nothing can be added to the name any more. */
  isNameSettled = false;
  #scanner = new JsonObjectScanner();
  /** Arguments that have not been sent. */
  #pending = "";
  #isSettled = false;

  /** Whether its arguments are a complete object. */
  get isComplete(): boolean {
    return this.#scanner.isComplete;
  }

  /** Whether no arguments can follow: servers begin with `{}` where the real ones are still to come. */
  get isOver(): boolean {
    return this.isComplete && !this.#isPlaceholder;
  }

  /** Characters that are kept for it. */
  get heldCharacters(): number {
    return this.id.length + this.name.length + this.#pending.length;
  }

  /**
   * Takes a piece: the first id counts, pieces of the name are put together unless one repeats it, and what comes after
   * the arguments' end is dropped, but for an object behind an empty one, which takes its place.
   */
  add(delta: ToolCallDelta): void {
    if (this.id === "") this.id = delta.id;
    if (!this.isNameSettled && delta.name !== this.name) this.name += delta.name;
    if (delta.arguments === "") return;
    this.isNameSettled ||= this.name !== "";
    if (this.#isPlaceholder && /^\s*\{/.test(delta.arguments)) {
      this.#scanner = new JsonObjectScanner();
      this.#pending = "";
    }
    this.#pending += delta.arguments.slice(0, this.#scanner.scan(delta.arguments));
  }

  /** Arguments that can be sent now: those of an object, as they come. */
  takeArguments(): string {
    return this.#scanner.kind === "object" ? this.takeText() : "";
  }

  /** The same whatever they are, for a protocol that takes them as text; white space alone says nothing. */
  takeText(): string {
    return this.#scanner.kind === "blank" || this.#isPlaceholder ? "" : this.#take();
  }

  /** Nothing more will come: what there is of the arguments is what was meant. */
  settle(): void {
    this.#isSettled = true;
  }

  /** The rest of the arguments at the end of the answer, made an object where they are none; empty for `{}`. */
  endArguments(): string {
    if (this.#scanner.kind === "object") return this.#take();
    const input = parseToolInput(this.#take());
    return Object.keys(input).length === 0 ? "" : formatJson(input);
  }

  /** Whether the arguments came as one `{}`, of which nothing was sent. */
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
