import { GatewayError } from "../../errors.ts";
import { isJsonObject } from "../../json-object.ts";
import { readString } from "./read-message.ts";
import { ToolCall, type ToolCallDelta } from "./tool-call.ts";

/** Far above any answer's; keeps an endless list of calls from filling the memory. */
const MAX_CALLS = 1_024;

/** A call to which a delta was added. */
export interface UpdatedCall {
  readonly call: ToolCall;
  readonly isNew: boolean;
  /** By how much `heldCharacters` of the call has grown. */
  readonly growth: number;
}

/**
 * Tells which tool call a delta belongs to: the one at its index; without an index the one with its id, else the last.
 * A new id together with a name at an index that is taken is a new call: some servers number every call 0.
 */
export class ToolCallTable {
  readonly #byIndex = new Map<number, ToolCall>();
  readonly #byId = new Map<string, ToolCall>();
  #last: ToolCall | null = null;
  #count = 0;

  /**
   * Adds an entry of a delta's `tool_calls` to its call.
   * @returns null for an entry that says nothing.
   * @throws GatewayError when there are too many calls.
   */
  update(entry: unknown): UpdatedCall | null {
    if (!isJsonObject(entry)) return null;
    const delta = readDelta(entry);
    if (delta.id === "" && delta.name === "" && delta.arguments === "") return null;
    const index = typeof entry["index"] === "number" ? entry["index"] : null;
    const known = index === null ? this.#findWithoutIndex(delta) : this.#findAt(index, delta);
    const call = known ?? this.#create(index);
    const heldBefore = call.heldCharacters;
    call.add(delta);
    if (call.id !== "" && !this.#byId.has(call.id)) this.#byId.set(call.id, call);
    this.#last = call;
    return { call, isNew: known === null, growth: call.heldCharacters - heldBefore };
  }

  #findAt(index: number, delta: ToolCallDelta): ToolCall | null {
    const call = this.#byIndex.get(index);
    if (call === undefined) return null;
    const isOther = delta.id !== "" && delta.name !== "" && call.id !== "" && delta.id !== call.id;
    return isOther ? null : call;
  }

  #findWithoutIndex(delta: ToolCallDelta): ToolCall | null {
    if (delta.id !== "") return this.#byId.get(delta.id) ?? null;
    // Servers without indexes and ids send each call whole: a name after a finished call begins the next one.
    if (delta.name !== "" && this.#last?.isComplete === true) return null;
    return this.#last;
  }

  #create(index: number | null): ToolCall {
    this.#count += 1;
    if (this.#count > MAX_CALLS) {
      throw new GatewayError("upstream_error", { cause: new Error(`more than ${MAX_CALLS} tool calls`) });
    }
    const call = new ToolCall();
    if (index !== null) this.#byIndex.set(index, call);
    return call;
  }
}

function readDelta(entry: Readonly<Record<string, unknown>>): ToolCallDelta {
  const called = isJsonObject(entry["function"]) ? entry["function"] : {};
  return {
    id: readString(entry["id"]),
    name: readString(called["name"]),
    arguments: readArguments(called["arguments"]),
  };
}

/** Some servers send the arguments parsed. */
function readArguments(value: unknown): string {
  return isJsonObject(value) ? JSON.stringify(value) : readString(value);
}
