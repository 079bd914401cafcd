import type { ToolNames } from "../conversation/tool-names.ts";
import { BufferedCharacters } from "./buffered-characters.ts";
import type { CallReasoning } from "./call-reasoning.ts";
import type { ToolCall } from "./tool-call.ts";
import type { UpdatedCall } from "./tool-call-table.ts";

/** Kinds of content that are written at once, without buffering. */
export type ProseKind = "thinking" | "signature" | "text" | "refusal";

/** Writes an answer in a client's protocol piece by piece; a piece ends when one of another kind follows. */
export interface AnswerWriter {
  writeThinking(thinking: string): void;
  /** Sets the upstream's signature of the open reasoning. */
  setSignature(signature: string): void;
  writeText(text: string): void;
  writeRefusal(text: string): void;
  /** Writes data that the client sends back to the upstream, before its call or after all of them. */
  writeCallCarrier(carrier: string): void;
  startToolCall(id: string, name: string): void;
  /** Writes arguments of the last started tool call; empty arguments are ignored. */
  writeArguments(json: string): void;
  /** Ends the last piece. */
  end(): void;
}

interface Prose {
  readonly kind: ProseKind;
  text: string;
}

/**
 * Orders an upstream's deltas for protocols that write block by block. Arguments of the open tool call are written as
 * they arrive; everything else waits until they are a complete object, and follows in order of first arrival. Calls
 * that arrive one after the other are therefore streamed live, and interleaved ones come out in order.
 */
export class DeltaSequencer {
  readonly #writer: AnswerWriter;
  readonly #toolNames: ToolNames;
  readonly #createCallId: () => string;
  readonly #callReasoning: CallReasoning;
  readonly #usedIds = new Set<string>();
  readonly #buffered = new BufferedCharacters();
  /** The call that is being written and still receives arguments. */
  #open: ToolCall | null = null;
  #waiting: (Prose | ToolCall)[] = [];

  /** @param options.createCallId Creates an id in the client's protocol for a call that has none. */
  constructor(
    writer: AnswerWriter,
    options: { toolNames: ToolNames; createCallId: () => string; callReasoning: CallReasoning },
  ) {
    this.#writer = writer;
    this.#toolNames = options.toolNames;
    this.#createCallId = options.createCallId;
    this.#callReasoning = options.callReasoning;
  }

  /** @throws GatewayError if too much would have to be buffered. */
  addProse(kind: ProseKind, text: string): void {
    if (this.#open === null) {
      // Calls that cannot be opened yet may be waiting; text need not wait for them.
      this.#writeProse(kind, text);
      return;
    }
    const last = this.#waiting.at(-1);
    if (last !== undefined && "kind" in last && last.kind === kind && kind !== "signature") {
      last.text += text;
      this.#buffered.buffer(text.length);
    } else {
      this.#waiting.push({ kind, text });
      this.#buffered.bufferPiece(text.length);
    }
  }

  /** @throws GatewayError if too much would have to be buffered. */
  updateCall({ call, isNew, growth }: UpdatedCall): void {
    if (isNew) this.#waiting.push(call);
    this.#buffered.buffer(growth);
    if (call === this.#open) {
      this.#writeArguments(call);
      if (!call.isOver) return;
      this.#open = null;
      this.#drain();
    } else if (this.#open === null && this.#isFirstOpenable()) {
      this.#drain();
    }
  }

  /** Writes everything that is remaining, except calls without a name, which cannot be run. */
  end(): void {
    if (this.#open !== null) this.#writer.writeArguments(this.#open.endArguments());
    this.#open = null;
    for (const item of this.#waiting) {
      if ("kind" in item) this.#writeProse(item.kind, item.text);
      else if (item.name !== "") {
        this.#start(item);
        this.#writer.writeArguments(item.endArguments());
      }
    }
    this.#waiting = [];
    for (const carrier of this.#callReasoning.end()) this.#writer.writeCallCarrier(carrier);
    // Claude Code takes the last block for the answer, so nothing is written after a text.
    const signature = this.#usedIds.size > 0 ? this.#callReasoning.endMessage() : null;
    if (signature !== null) this.#writer.writeCallCarrier(signature);
    this.#writer.end();
  }

  /** Writes waiting items as far as possible; calls keep their order. */
  #drain(): void {
    const remaining: (Prose | ToolCall)[] = [];
    let isCallWaiting = false;
    for (const item of this.#waiting) {
      if (this.#open !== null) {
        remaining.push(item);
      } else if ("kind" in item) {
        this.#buffered.releasePiece(item.text.length);
        this.#writeProse(item.kind, item.text);
      } else if (isCallWaiting || !this.#isOpenable(item)) {
        isCallWaiting = true;
        remaining.push(item);
      } else {
        this.#openCall(item);
      }
    }
    this.#waiting = remaining;
  }

  #openCall(call: ToolCall): void {
    this.#start(call);
    this.#writeArguments(call);
    if (!call.isOver) this.#open = call;
  }

  #writeArguments(call: ToolCall): void {
    const json = call.takeArguments();
    this.#buffered.release(json.length);
    this.#writer.writeArguments(json);
  }

  /** While no call is open, only calls wait, and the first one blocks the others. */
  #isFirstOpenable(): boolean {
    const first = this.#waiting[0];
    return first !== undefined && !("kind" in first) && this.#isOpenable(first);
  }

  #isOpenable(call: ToolCall): boolean {
    if (call.id === "" || call.name === "") return false;
    return call.isNameSettled || this.#toolNames.isWhole(call.name);
  }

  #start(call: ToolCall): void {
    const id = call.id === "" || this.#usedIds.has(call.id) ? this.#createCallId() : call.id;
    this.#usedIds.add(id);
    call.isNameSettled = true;
    const carrier = this.#callReasoning.startCall(call, id);
    if (carrier !== null) this.#writer.writeCallCarrier(carrier);
    this.#writer.startToolCall(id, this.#toolNames.toClient(call.name));
  }

  #writeProse(kind: ProseKind, text: string): void {
    switch (kind) {
      case "thinking":
        this.#writer.writeThinking(text);
        break;
      case "signature":
        this.#writer.setSignature(text);
        break;
      case "text":
        this.#writer.writeText(text);
        break;
      case "refusal":
        this.#writer.writeRefusal(text);
        break;
    }
  }
}
