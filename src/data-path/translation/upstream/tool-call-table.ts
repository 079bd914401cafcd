import { GatewayError } from "../../../shared/contract/errors.ts";
import { isJsonObject, type JsonObject } from "../../../shared/text/json-object.ts";
import { readCallFields } from "../conversation/call-carrier.ts";
import type { CallFields } from "../conversation/parts.ts";
import { MAX_CARRIED_BYTES } from "../conversation/carried-reasoning.ts";
import { formatJson } from "../json/exact-json.ts";
import type { ToolNames } from "../conversation/tool-names.ts";
import { listCalls, readString } from "./read-message.ts";
import { isEmptyObject, ToolCall, type ToolCallDelta } from "./tool-call.ts";

/** Far more than any answer has; keeps an endless list of calls from filling the memory. */
const MAX_CALLS = 1_024;

/** Index of the legacy `function_call`, which has none of its own; no server uses it. */
const FUNCTION_CALL_INDEX = -1;

/** Position of an entry in its message. */
interface CallPosition {
  /** Index that the server gave; null if it does not distinguish the entries of the chunk. */
  readonly index: number | null;
  /** Position in its list, from 0; null for a single entry. */
  readonly place: number | null;
}

/** A call to which a delta was added. */
export interface UpdatedCall {
  readonly call: ToolCall;
  readonly isNew: boolean;
  /** Increase of the call's `heldCharacters`. */
  readonly growth: number;
}

/**
 * Assigns deltas to tool calls: by index; without an index by id; otherwise by position if the chunk has several
 * calls, or to the open call. A new id together with a name at a used index is a new call, because some servers number
 * every call 0. Some of these send no ids, or the same id with each call: there, a name and arguments after a finished
 * call, or the name of another declared tool, begin a new call, unless a server repeats the whole call with its id.
 * Arguments without a name, at an index that is unused or finished, belong to the open call, because some servers count
 * their deltas.
 */
export class ToolCallTable {
  readonly #byIndex = new Map<number, ToolCall>();
  readonly #byId = new Map<string, ToolCall>();
  /** Calls by their position in the last chunk that had several. */
  readonly #byPlace: ToolCall[] = [];
  /** All calls in the order of their first delta. */
  readonly #calls: ToolCall[] = [];
  readonly #createCallId: () => string;
  readonly #onUpdate: (updated: UpdatedCall) => void;
  readonly #toolNames: ToolNames;
  #last: ToolCall | null = null;
  #functionCallId = "";
  #fieldCharacters = 0;

  /** @param options.createCallId Creates an id in the client's protocol for a call that has none. */
  constructor(options: {
    createCallId: () => string;
    toolNames: ToolNames;
    onUpdate: (updated: UpdatedCall) => void;
  }) {
    this.#createCallId = options.createCallId;
    this.#toolNames = options.toolNames;
    this.#onUpdate = options.onUpdate;
  }

  /**
   * Adds the calls of a delta or a whole message.
   * @throws GatewayError if there are too many calls.
   */
  read(message: JsonObject): void {
    const calls = listCalls(message);
    const { function_call: called } = message;
    // Servers that send both fields send the same call twice.
    if (calls.length > 0) {
      const isNumbered = new Set(calls.map(readIndex)).size === calls.length;
      for (const [place, call] of calls.entries()) {
        this.#update(call, {
          index: isNumbered ? readIndex(call) : null,
          place: calls.length > 1 ? place : null,
        });
      }
    } else if (isJsonObject(called)) {
      this.#functionCallId ||= this.#createCallId();
      const entry = { id: this.#functionCallId, function: called };
      this.#update(entry, { index: FUNCTION_CALL_INDEX, place: null });
    }
  }

  #update(entry: unknown, { index, place }: CallPosition): void {
    if (!isJsonObject(entry)) return;
    const delta = this.#completeDelta(readDelta(entry), index);
    const fields = this.#readFields(entry);
    if (delta.id === "" && delta.name === "" && delta.arguments === "" && fields === null) return;
    const known = index === null ? this.#findWithoutIndex(delta, place) : this.#findAt(index, delta);
    const call = known ?? this.#create(index);
    const heldBefore = call.heldCharacters;
    call.fields ??= fields;
    call.add(delta);
    if (call.id !== "") this.#byId.set(call.id, call);
    if (place !== null && place < MAX_CALLS) this.#byPlace[place] = call;
    this.#last = call;
    this.#onUpdate({ call, isNew: known === null, growth: call.heldCharacters - heldBefore });
  }

  /** Restores the name of arguments that follow a repeated name, if the call at that index is complete. */
  #completeDelta(delta: ToolCallDelta, index: number | null): ToolCallDelta {
    const call = index === null ? undefined : this.#byIndex.get(index);
    if (call === undefined || !call.isOver || (delta.id !== "" && delta.id !== call.id)) return delta;
    const hasArguments = /\S/.test(delta.arguments);
    if (delta.name !== "") call.isNamedAgain = !hasArguments;
    return delta.name === "" && hasArguments && call.isNamedAgain ? { ...delta, name: call.name } : delta;
  }

  /** Reads the fields of a call. Drops them once those of all calls exceed the limit. */
  #readFields(entry: JsonObject): CallFields | null {
    const fields = readCallFields(entry);
    if (fields === null) return null;
    this.#fieldCharacters += formatJson(fields).length;
    return this.#fieldCharacters > MAX_CARRIED_BYTES ? null : fields;
  }

  #findAt(index: number, delta: ToolCallDelta): ToolCall | null {
    const call = this.#byIndex.get(index) ?? null;
    if (delta.id === "" && delta.name === "") {
      const isAdrift = call === null || (call.isOver && /\S/.test(delta.arguments));
      return isAdrift ? (this.#findOpen() ?? call) : call;
    }
    if (call === null) return null;
    if (delta.id === "") return this.#isNext(call, delta) ? null : call;
    if (delta.name === "" || call.id === "") return call;
    return delta.id !== call.id || this.#isOther(call, delta) ? null : call;
  }

  /** Returns whether a delta with a name and the id of a call begins another one: some servers have one id for all. */
  #isOther(call: ToolCall, delta: ToolCallDelta): boolean {
    if (this.#isOtherTool(call, delta)) return true;
    return call.isOver && /^\s*\{/.test(delta.arguments) && !call.isWhole(delta.arguments);
  }

  /** Returns whether a delta with a name and without an id begins a new call at a used index. */
  #isNext(call: ToolCall, delta: ToolCallDelta): boolean {
    if (delta.name !== call.name) return call.isComplete || this.#isOtherTool(call, delta);
    if (!call.isComplete) return false;
    return call.isOver ? /\S/.test(delta.arguments) : isEmptyObject(delta.arguments);
  }

  /** Returns whether the delta names another declared tool than the call, whose name is complete. */
  #isOtherTool(call: ToolCall, { name }: ToolCallDelta): boolean {
    if (name === call.name || !this.#toolNames.isDeclared(name)) return false;
    return call.isNameSettled || this.#toolNames.isWhole(call.name);
  }

  #findWithoutIndex(delta: ToolCallDelta, place: number | null): ToolCall | null {
    if (delta.id !== "") {
      const known = this.#byId.get(delta.id) ?? null;
      return known !== null && delta.name !== "" && this.#isOther(known, delta) ? null : known;
    }
    const call = place === null ? this.#last : (this.#byPlace[place] ?? null);
    // Servers without indexes and ids send each call whole: a name after a finished call begins the next one.
    if (delta.name !== "") return call?.isComplete === true ? null : call;
    if (place === null) return this.#findOpen() ?? call;
    return call ?? this.#calls[place] ?? null;
  }

  /**
   * Finds the call whose arguments continue: the last updated one if unfinished, otherwise the newest unfinished one.
   */
  #findOpen(): ToolCall | null {
    if (this.#last?.isComplete === false) return this.#last;
    return this.#calls.findLast((call) => !call.isComplete) ?? null;
  }

  #create(index: number | null): ToolCall {
    if (this.#calls.length >= MAX_CALLS) {
      throw new GatewayError("upstream_error", { cause: new Error(`more than ${MAX_CALLS} tool calls`) });
    }
    const call = new ToolCall();
    this.#calls.push(call);
    if (index !== null) this.#byIndex.set(index, call);
    return call;
  }
}

function readIndex(entry: unknown): number | null {
  const index = isJsonObject(entry) ? entry["index"] : null;
  return typeof index === "number" ? index : null;
}

function readDelta(entry: JsonObject): ToolCallDelta {
  const called = isJsonObject(entry["function"]) ? entry["function"] : {};
  return {
    id: readString(entry["id"]),
    name: readString(called["name"]),
    arguments: readArguments(called["arguments"]),
  };
}

/** Some servers send parsed arguments. */
function readArguments(value: unknown): string {
  return typeof value === "string" || value === undefined || value === null
    ? readString(value)
    : formatJson(value);
}
