import type { JsonObject } from "../../../shared/text/json-object.ts";
import { packCall, readMessageFields } from "../conversation/call-carrier.ts";
import type { CallFields } from "../conversation/parts.ts";
import { CarriedPieces, DETAILS, THINKING_BLOCKS } from "./carried-pieces.ts";
import { readString } from "./read-message.ts";

/** The part of a call that is needed here. */
interface Call {
  readonly fields: CallFields | null;
}

/**
 * Collects the data that a client must send back with an answer's calls and text, and packs it into carriers.
 * `reasoning_details` and `thinking_blocks` belong to the first call after them; without a call they need not be sent
 * back.
 */
export class CallReasoning {
  readonly #model: string;
  readonly #carriesReasoning: boolean;
  readonly #details = new CarriedPieces(DETAILS);
  readonly #blocks = new CarriedPieces(THINKING_BLOCKS);
  #lastCallId: string | null = null;
  /** Calls that began without fields, which may follow in a separate piece. */
  #bare: { readonly call: Call; readonly callId: string }[] = [];
  #messageFields: CallFields | null = null;

  constructor({ model, carriesReasoning }: { readonly model: string; readonly carriesReasoning: boolean }) {
    this.#model = model;
    this.#carriesReasoning = carriesReasoning;
  }

  /** Reads a message or a delta. */
  readMessage(message: JsonObject): void {
    if (!this.#carriesReasoning) return;
    const { reasoning_details: details, thinking_blocks: blocks } = message;
    if (details !== undefined) this.#details.add(details);
    if (blocks !== undefined) this.#blocks.add(blocks);
    this.#messageFields = readMessageFields(message) ?? this.#messageFields;
  }

  /** Starts a call under the client's id. @returns The carrier to write before it, or null. */
  startCall(call: Call, callId: string): string | null {
    this.#lastCallId = callId;
    if (call.fields === null) this.#bare.push({ call, callId });
    return this.#pack(call.fields, callId);
  }

  /** Ends the answer. @returns Carriers of data that arrived after its call had begun. */
  end(): string[] {
    const late = this.#bare.filter(({ call }) => call.fields !== null);
    this.#bare = [];
    const carriers = late.map(({ call, callId }) => this.#pack(call.fields, callId));
    if (this.#lastCallId !== null) carriers.push(this.#pack(null, this.#lastCallId));
    return carriers.filter((carrier) => carrier !== null);
  }

  /** Returns the carrier of data that belongs to the whole message, or null. */
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

/** Anthropic rejects an unsigned block. */
function isSigned({ type, signature }: JsonObject): boolean {
  return type === "redacted_thinking" || readString(signature) !== "";
}
