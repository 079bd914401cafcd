import type { JsonObject } from "../../../../shared/text/json-object.ts";
import type { AnswerSettings } from "../answer-settings.ts";
import type { IdKind } from "../ids.ts";
import type { ItemEvent, ItemStatus, OutputItem, ReasoningItem } from "../response.ts";
import type { ToolKind } from "../tool-table.ts";
import { CallWriter, type StartedCall } from "./call-writer.ts";
import { AnswerBudget } from "./collected-text.ts";
import type { ItemsWriter } from "./items-writer.ts";
import { MessageWriter } from "./message-writer.ts";
import type { ItemContext, OpenItem } from "./open-item.ts";
import { ReasoningWriter } from "./reasoning-writer.ts";

type WriterSettings = Pick<AnswerSettings, "reasoning" | "carriesReasoning" | "createId">;

/** More leading white space than this is written by the model, not left over from a template. */
const MAX_BUFFERED_CHARACTERS = 1_024;

const CALL_IDS: Readonly<Record<ToolKind, IdKind>> = { function: "fc", custom: "ctc", tool_search: "tsc" };

/**
 * Writes the items of one response and keeps them for its last event. Closes a message or reasoning before the next
 * item; calls may be open side by side. Holds back leading white space of a text, and drops it if a call follows.
 */
export class OutputWriter implements ItemsWriter {
  readonly #emit: (event: ItemEvent) => void;
  readonly #settings: WriterSettings;
  readonly #budget = new AnswerBudget();
  /** Items by their output index; null while the item is open. */
  readonly #items: (OutputItem | null)[] = [];
  readonly #open = new Map<number, OpenItem>();
  #prose: { readonly index: number; readonly writer: MessageWriter | ReasoningWriter } | null = null;
  /** Output index of the model's last item. */
  #lastIndex = -1;
  #bufferedSpace = "";
  #heldLogprobs: JsonObject[] = [];
  #hasCall = false;

  constructor(emit: (event: ItemEvent) => void, settings: WriterSettings) {
    this.#emit = emit;
    this.#settings = settings;
  }

  writeReasoning(text: string): void {
    const open = this.#prose?.writer;
    const writer = open instanceof ReasoningWriter ? open : this.#startReasoning();
    writer.write(text);
  }

  writeText(text: string, logprobs: readonly JsonObject[]): void {
    const open = this.#prose?.writer;
    if (open instanceof MessageWriter) {
      open.writeText(text, logprobs);
      return;
    }
    this.#bufferedSpace += text;
    for (const entry of logprobs) this.#heldLogprobs.push(entry);
    if (this.#bufferedSpace.length > MAX_BUFFERED_CHARACTERS || /\S/.test(text)) this.#releaseSpace();
  }

  writeRefusal(text: string): void {
    this.#releaseSpace();
    const open = this.#prose?.writer;
    const writer = open instanceof MessageWriter ? open : this.#startMessage();
    writer.writeRefusal(text);
  }

  /** Writes carried data as a reasoning item without text. */
  writeCallCarrier(carrier: string): void {
    this.#endProse();
    const last = this.#lastIndex;
    const { id, outputIndex } = this.#begin("rs");
    // An item after a call that was cut off must not hide that.
    this.#lastIndex = last;
    const added: ReasoningItem = { id, type: "reasoning", status: "in_progress", summary: [] };
    const done: ReasoningItem = { ...added, status: "completed", encrypted_content: carrier };
    this.#items[outputIndex] = done;
    this.#emit({ type: "response.output_item.added", output_index: outputIndex, item: added });
    this.#emit({ type: "response.output_item.done", output_index: outputIndex, item: done });
  }

  /** @returns The output index, used to write to the call and to close it. */
  startCall(call: StartedCall): number {
    this.#endProse();
    this.#hasCall = true;
    const context = this.#begin(CALL_IDS[call.tool.kind]);
    this.#open.set(context.outputIndex, new CallWriter(context, call));
    return context.outputIndex;
  }

  /** Writes the next piece of a call's arguments; never empty. */
  writeArguments(index: number, json: string): void {
    const call = this.#open.get(index);
    if (call instanceof CallWriter) call.write(json);
  }

  closeCall(index: number): void {
    this.#close(index, "completed");
  }

  /**
   * Ends the answer.
   * @param isIncomplete The answer was cut off: marks the last item, if it is still open.
   * @returns All items.
   */
  end(isIncomplete: boolean): OutputItem[] {
    if (!this.#hasCall) this.#releaseSpace();
    const last = this.#lastIndex;
    for (const index of this.#open.keys()) {
      this.#close(index, isIncomplete && index === last ? "incomplete" : "completed");
    }
    return this.#finished();
  }

  /** Returns the items of a failed response; open items are incomplete, without a closing event. */
  abandon(): OutputItem[] {
    for (const [index, item] of this.#open) this.#items[index] = item.abandon();
    this.#open.clear();
    return this.#finished();
  }

  #finished(): OutputItem[] {
    return this.#items.filter((item): item is OutputItem => item !== null);
  }

  #startReasoning(): ReasoningWriter {
    this.#closeProse("completed");
    const context = this.#begin("rs");
    return this.#setProse(context, new ReasoningWriter(context, this.#settings));
  }

  #startMessage(): MessageWriter {
    this.#closeProse("completed");
    const context = this.#begin("msg");
    return this.#setProse(context, new MessageWriter(context));
  }

  #setProse<Writer extends MessageWriter | ReasoningWriter>(
    { outputIndex }: ItemContext,
    writer: Writer,
  ): Writer {
    this.#open.set(outputIndex, writer);
    this.#prose = { index: outputIndex, writer };
    return writer;
  }

  #releaseSpace(): void {
    if (this.#bufferedSpace === "") return;
    const text = this.#bufferedSpace;
    const logprobs = this.#heldLogprobs;
    this.#bufferedSpace = "";
    this.#heldLogprobs = [];
    this.#startMessage().writeText(text, logprobs);
  }

  #begin(kind: IdKind): ItemContext {
    const outputIndex = this.#items.length;
    this.#items.push(null);
    this.#lastIndex = outputIndex;
    return { id: this.#settings.createId(kind), outputIndex, emit: this.#emit, budget: this.#budget };
  }

  /** Drops held white space before a call. */
  #endProse(): void {
    this.#bufferedSpace = "";
    this.#heldLogprobs = [];
    this.#closeProse("completed");
  }

  #closeProse(status: ItemStatus): void {
    if (this.#prose !== null) this.#close(this.#prose.index, status);
  }

  #close(index: number, status: ItemStatus): void {
    const item = this.#open.get(index)?.close(status);
    if (item === undefined) return;
    this.#open.delete(index);
    if (this.#prose?.index === index) this.#prose = null;
    this.#items[index] = item;
    this.#emit({ type: "response.output_item.done", output_index: index, item });
  }
}
