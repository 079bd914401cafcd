import { GatewayError } from "../../../shared/contract/errors.ts";
import { isJsonObject, type JsonObject } from "../../../shared/text/json-object.ts";
import { readCallFields } from "../conversation/call-carrier.ts";
import type { CallFields } from "../conversation/parts.ts";
import { MAX_CARRIED_BYTES } from "../conversation/carried-reasoning.ts";
import { formatJson } from "../json/exact-json.ts";
import type { ToolNames } from "../conversation/tool-names.ts";
import { listCalls, readString } from "./read-message.ts";
import { isEmptyObject, ToolCall, type ToolCallDelta } from "./tool-call.ts";

/** Far above any answer's; keeps an endless list of calls from filling the memory. */
const MAX_CALLS = 1_024;

/** Stands for the old way to call one tool, which has no index; no server counts from here. */
const FUNCTION_CALL_INDEX = -1;

/** Where an entry stands. */
interface CallPosition {
  /** The one that its server gives it; null: none that tells it from the others of its chunk. */
  readonly index: number | null;
  /** In its list, from 0; null when it is the only one. */
  readonly place: number | null;
}

/** A call to which a delta was added. */
export interface UpdatedCall {
  readonly call: ToolCall;
  readonly isNew: boolean;
  /** The characters by which `heldCharacters` of the call has grown. */
  readonly growth: number;
}

/**
 * Tells which tool call a delta belongs to: the one at its index; without an index the one with its id, else, of several
 * in one chunk, the one at its place among them, else the open one. A new id together with a name at an index that is
 * taken is a new call: some servers number every call 0. Some of these give no ids: a name and arguments behind a
 * finished call are a new call there, as is the name of another declared tool. Arguments alone at an index that no call or
 * only a finished one has belong to the open call: some servers count their deltas.
 */
export class ToolCallTable {
  readonly #byIndex = new Map<number, ToolCall>();
  readonly #byId = new Map<string, ToolCall>();
  /** Calls by their place in the last chunk that had several. */
  readonly #byPlace: ToolCall[] = [];
  /** All calls in the order in which they were first seen. */
  readonly #calls: ToolCall[] = [];
  readonly #createCallId: () => string;
  readonly #onUpdate: (updated: UpdatedCall) => void;
  readonly #toolNames: ToolNames;
  #last: ToolCall | null = null;
  #functionCallId = "";
  #fieldCharacters = 0;

  /** @param options.createCallId Makes an id in the client's protocol, for a call that has none of its own. */
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
   * Adds what a delta, or a whole message, says of calls.
   * @throws GatewayError when there are too many calls.
   */
  read(message: JsonObject): void {
    const calls = listCalls(message);
    const { function_call: called } = message;
    // Servers that send both send the same call twice.
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
    if (call.id !== "" && !this.#byId.has(call.id)) this.#byId.set(call.id, call);
    if (place !== null && place < MAX_CALLS) this.#byPlace[place] = call;
    this.#last = call;
    this.#onUpdate({ call, isNew: known === null, growth: call.heldCharacters - heldBefore });
  }

  /** A name that was repeated alone belongs to the arguments that follow, where those of its call are over. */
  #completeDelta(delta: ToolCallDelta, index: number | null): ToolCallDelta {
    const call = index === null ? undefined : this.#byIndex.get(index);
    if (call === undefined || !call.isOver || delta.id !== "") return delta;
    const hasArguments = /\S/.test(delta.arguments);
    if (delta.name !== "") call.isNamedAgain = !hasArguments;
    return delta.name === "" && hasArguments && call.isNamedAgain ? { ...delta, name: call.name } : delta;
  }

  /** Within a bound for all calls: what is over it is left out. */
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
    // Some servers give every call the same id.
    return delta.id !== call.id || this.#isOtherTool(call, delta) ? null : call;
  }

  /** Whether a delta with a name and without an id begins another call than the one at its index. */
  #isNext(call: ToolCall, delta: ToolCallDelta): boolean {
    if (delta.name !== call.name) return call.isComplete || this.#isOtherTool(call, delta);
    if (!call.isComplete) return false;
    return call.isOver ? /\S/.test(delta.arguments) : isEmptyObject(delta.arguments);
  }

  /** Whether the delta names another declared tool than the call, whose name is whole. */
  #isOtherTool(call: ToolCall, { name }: ToolCallDelta): boolean {
    if (name === call.name || !this.#toolNames.isDeclared(name)) return false;
    return call.isNameSettled || this.#toolNames.isWhole(call.name);
  }

  #findWithoutIndex(delta: ToolCallDelta, place: number | null): ToolCall | null {
    if (delta.id !== "") return this.#byId.get(delta.id) ?? null;
    const call = place === null ? this.#last : (this.#byPlace[place] ?? null);
    // Servers without indexes and ids send each call whole: a name after a finished call begins the next one.
    if (delta.name !== "") return call?.isComplete === true ? null : call;
    if (place === null) return this.#findOpen() ?? call;
    return call ?? this.#calls[place] ?? null;
  }

  /** The call whose arguments go on: the last one that was added to, as far as it is not finished. */
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

/** Some servers send the arguments parsed. */
function readArguments(value: unknown): string {
  return typeof value === "string" || value === undefined || value === null
    ? readString(value)
    : formatJson(value);
}
