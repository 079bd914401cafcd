import { isJsonObject, type JsonObject, toArray } from "../../json-object.ts";
import { packCall } from "../conversation/call-carrier.ts";
import type { CallFields } from "../conversation/parts.ts";
import { MAX_CARRIED_BYTES } from "../conversation/carried-reasoning.ts";
import { formatJson } from "../json/exact-json.ts";
import { readString } from "./read-message.ts";

/** A call, as far as it is carried. */
interface Call {
  readonly fields: CallFields | null;
}

/** Details whose pieces are put together, and the field that grows. */
const GROWING_FIELDS: Readonly<Record<string, string>> = {
  "reasoning.text": "text",
  "reasoning.summary": "summary",
};

/**
 * Collects what one answer's calls are to be given back with, and packs it for each call. `reasoning_details` go with the
 * first call behind them; without a call nobody wants them back.
 */
export class CallReasoning {
  readonly #model: string;
  readonly #carriesReasoning: boolean;
  #details: JsonObject[] = [];
  #detailCharacters = 0;
  #lastCallId: string | null = null;
  /** Calls that had no fields when they began: the fields may follow in a piece of their own. */
  #bare: { readonly call: Call; readonly callId: string }[] = [];

  constructor({ model, carriesReasoning }: { readonly model: string; readonly carriesReasoning: boolean }) {
    this.#model = model;
    this.#carriesReasoning = carriesReasoning;
  }

  /** A message, or a delta of one. */
  readMessage({ reasoning_details: details }: JsonObject): void {
    if (details === undefined || !this.#carriesReasoning) return;
    for (const detail of toArray(details)) if (isJsonObject(detail)) this.#add(detail);
  }

  /** A call begins under the id that the client reads. @returns what goes before it, or null. */
  startCall(call: Call, callId: string): string | null {
    this.#lastCallId = callId;
    if (call.fields === null) this.#bare.push({ call, callId });
    return this.#pack(call.fields, callId);
  }

  /** The answer is over. @returns what came after its call had begun. */
  end(): string[] {
    const late = this.#bare.filter(({ call }) => call.fields !== null);
    this.#bare = [];
    const carriers = late.map(({ call, callId }) => this.#pack(call.fields, callId));
    if (this.#lastCallId !== null) carriers.push(this.#pack(null, this.#lastCallId));
    return carriers.filter((carrier) => carrier !== null);
  }

  #pack(fields: CallFields | null, callId: string): string | null {
    const details = this.#detailCharacters > MAX_CARRIED_BYTES ? [] : this.#details;
    this.#details = [];
    if (fields === null && details.length === 0) return null;
    return packCall({ model: this.#model, callId, fields, details });
  }

  /** Some of the details are worse than none. */
  #add(detail: JsonObject): void {
    if (this.#detailCharacters > MAX_CARRIED_BYTES) return;
    this.#detailCharacters += formatJson(detail).length;
    const last = this.#details.at(-1);
    const growing = GROWING_FIELDS[readString(detail["type"])];
    if (last === undefined || growing === undefined || !isOfOne(last, detail)) this.#details.push(detail);
    else this.#details[this.#details.length - 1] = joinPieces(last, detail, growing);
    if (this.#detailCharacters > MAX_CARRIED_BYTES) this.#details = [];
  }
}

function isOfOne(first: JsonObject, next: JsonObject): boolean {
  return first["type"] === next["type"] && first["index"] === next["index"];
}

/** What a later piece says counts, but for what it leaves open. */
function joinPieces(first: JsonObject, next: JsonObject, growing: string): JsonObject {
  const said = Object.entries(next).filter(([, value]) => value !== null && value !== "");
  const text = readString(first[growing]) + readString(next[growing]);
  return Object.fromEntries([...Object.entries(first), ...said, [growing, text]]);
}
