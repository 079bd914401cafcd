import type { JsonObject } from "../../../shared/text/json-object.ts";
import { packCall, readMessageFields } from "../conversation/call-carrier.ts";
import type { CallFields } from "../conversation/parts.ts";
import { CarriedPieces, DETAILS, THINKING_BLOCKS } from "./carried-pieces.ts";
import { readString } from "./read-message.ts";

/** A call, as far as it is carried. */
interface Call {
  readonly fields: CallFields | null;
}

/**
 * Collects what one answer's calls, and its text, are to be given back with, and packs it. `reasoning_details` and
 * `thinking_blocks` go with the first call behind them; without a call nobody wants them back.
 */
export class CallReasoning {
  readonly #model: string;
  readonly #carriesReasoning: boolean;
  readonly #details = new CarriedPieces(DETAILS);
  readonly #blocks = new CarriedPieces(THINKING_BLOCKS);
  #lastCallId: string | null = null;
  /** Calls that had no fields when they began: the fields may follow in a piece of their own. */
  #bare: { readonly call: Call; readonly callId: string }[] = [];
  #messageFields: CallFields | null = null;

  constructor({ model, carriesReasoning }: { readonly model: string; readonly carriesReasoning: boolean }) {
    this.#model = model;
    this.#carriesReasoning = carriesReasoning;
  }

  /** A message, or a delta of one. */
  readMessage(message: JsonObject): void {
    if (!this.#carriesReasoning) return;
    const { reasoning_details: details, thinking_blocks: blocks } = message;
    if (details !== undefined) this.#details.add(details);
    if (blocks !== undefined) this.#blocks.add(blocks);
    this.#messageFields = readMessageFields(message) ?? this.#messageFields;
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

  /** The same of what belongs to the message as a whole; null: nothing. */
  endMessage(): string | null {
    const fields = this.#messageFields;
    if (fields === null) return null;
    return packCall({ model: this.#model, callId: null, fields, details: [], blocks: [] });
  }

  #pack(fields: CallFields | null, callId: string): string | null {
    const details = this.#details.take();
    const blocks = this.#blocks.take().filter(isSigned);
    if (fields === null && details.length === 0 && blocks.length === 0) return null;
    return packCall({ model: this.#model, callId, fields, details, blocks });
  }
}

/** Anthropic refuses a block that has no proof of being its own. */
function isSigned({ type, signature }: JsonObject): boolean {
  return type === "redacted_thinking" || readString(signature) !== "";
}
