import type { JsonObject } from "../../../../shared/text/json-object.ts";
import { BufferedCharacters } from "../../upstream/buffered-characters.ts";
import type { CallReasoning } from "../../upstream/call-reasoning.ts";
import type { ToolCall } from "../../upstream/tool-call.ts";
import type { UpdatedCall } from "../../upstream/tool-call-table.ts";
import type { AnswerSettings } from "../answer-settings.ts";
import type { ItemsWriter } from "./items-writer.ts";

type SequencerSettings = Pick<AnswerSettings, "toolNames" | "toolTable" | "createId">;

/** Content that is written at once, without buffering. */
interface Prose {
  readonly kind: "reasoning" | "text" | "refusal";
  text: string;
  readonly logprobs: JsonObject[];
}

/**
 * Orders deltas for the protocol. Calls are written side by side, each once its id and name are known, and closed once
 * its arguments are a whole object. Other content waits until no call is open, because a client must not take it for a
 * part of a call.
 */
export class ItemSequencer {
  readonly #writer: ItemsWriter;
  readonly #settings: SequencerSettings;
  readonly #callReasoning: CallReasoning;
  readonly #buffered = new BufferedCharacters();
  readonly #usedIds = new Set<string>();
  /** Calls whose id or name is unknown. */
  readonly #nameless = new Set<ToolCall>();
  /** Started calls and their output indexes. */
  readonly #open = new Map<ToolCall, number>();
  #prose: Prose[] = [];

  constructor(writer: ItemsWriter, settings: SequencerSettings, callReasoning: CallReasoning) {
    this.#callReasoning = callReasoning;
    this.#writer = writer;
    this.#settings = settings;
  }

  /** @throws GatewayError if too much would have to be buffered. */
  addProse(kind: Prose["kind"], text: string, logprobs: readonly JsonObject[] = []): void {
    if (this.#open.size === 0) {
      this.#write({ kind, text, logprobs });
      return;
    }
    const last = this.#prose.at(-1);
    if (last?.kind === kind) {
      last.text += text;
      last.logprobs.push(...logprobs);
      this.#buffered.buffer(text.length);
    } else {
      this.#prose.push({ kind, text, logprobs: [...logprobs] });
      this.#buffered.bufferPiece(text.length);
    }
  }

  /** @throws GatewayError if too much would have to be buffered. */
  updateCall({ call, isNew, growth }: UpdatedCall): void {
    this.#buffered.buffer(growth);
    if (isNew) this.#nameless.add(call);
    if (this.#nameless.has(call)) {
      if (!this.#isOpenable(call)) return;
      this.#start(call);
    }
    this.#advance(call);
  }

  /** Writes everything that is left, except calls without a name, which cannot be run. */
  end(): void {
    for (const call of this.#nameless) if (call.name !== "") this.#start(call);
    for (const call of this.#open.keys()) {
      call.settle();
      this.#advance(call);
    }
    for (const carrier of this.#callReasoning.end()) this.#writer.writeCallCarrier(carrier);
    if (this.#prose.length > 0) for (const call of this.#open.keys()) this.#close(call);
    this.#writeProse();
    const signature = this.#callReasoning.endMessage();
    if (signature !== null) this.#writer.writeCallCarrier(signature);
  }

  #start(call: ToolCall): void {
    const { toolNames, toolTable, createId } = this.#settings;
    const callId = call.id === "" || this.#usedIds.has(call.id) ? createId("call") : call.id;
    this.#usedIds.add(callId);
    call.isNameSettled = true;
    this.#nameless.delete(call);
    const carrier = this.#callReasoning.startCall(call, callId);
    if (carrier !== null) this.#writer.writeCallCarrier(carrier);
    const tool = toolTable.find(toolNames.toClient(call.name));
    this.#open.set(call, this.#writer.startCall({ callId, tool }));
  }

  #advance(call: ToolCall): void {
    this.#writeArguments(call);
    if (!call.isOver || !this.#open.has(call)) return;
    this.#close(call);
    if (this.#open.size === 0) this.#writeProse();
  }

  #writeArguments(call: ToolCall): void {
    const index = this.#open.get(call);
    if (index === undefined) return;
    const json = call.takeText();
    this.#buffered.release(json.length);
    if (json !== "") this.#writer.writeArguments(index, json);
  }

  #close(call: ToolCall): void {
    const index = this.#open.get(call);
    if (index !== undefined) this.#writer.closeCall(index);
    this.#open.delete(call);
  }

  #writeProse(): void {
    const waiting = this.#prose;
    this.#prose = [];
    for (const prose of waiting) {
      this.#buffered.releasePiece(prose.text.length);
      this.#write(prose);
    }
  }

  #write({ kind, text, logprobs }: { kind: Prose["kind"]; text: string; logprobs: readonly JsonObject[] }) {
    if (kind === "reasoning") this.#writer.writeReasoning(text);
    else if (kind === "text") this.#writer.writeText(text, logprobs);
    else this.#writer.writeRefusal(text);
  }

  #isOpenable(call: ToolCall): boolean {
    if (call.id === "" || call.name === "") return false;
    return call.isNameSettled || this.#settings.toolNames.isWhole(call.name);
  }
}
