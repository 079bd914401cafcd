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

/** More white space than this at the beginning of a text is no template's leftover, but what the model writes. */
const MAX_BUFFERED_CHARACTERS = 1_024;

const CALL_IDS: Readonly<Record<ToolKind, IdKind>> = { function: "fc", custom: "ctc", tool_search: "tsc" };

/**
 * Writes the items of one response and keeps them for its end. A message or reasoning is closed before the next item
 * begins; calls may be open side by side. White space at the beginning of a text waits for what comes next, and is
 * dropped when that is a call.
 */
export class OutputWriter implements ItemsWriter {
  readonly #emit: (event: ItemEvent) => void;
  readonly #settings: WriterSettings;
  readonly #budget = new AnswerBudget();
  /** Items by their output index; null while the item is open. */
  readonly #items: (OutputItem | null)[] = [];
  readonly #open = new Map<number, OpenItem>();
  #prose: { readonly index: number; readonly writer: MessageWriter | ReasoningWriter } | null = null;
  /** The output index of what the model said last. */
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

  /** What the client carries for the upstream: an item of reasoning without a text. */
  writeCallCarrier(carrier: string): void {
    this.#endProse();
    const last = this.#lastIndex;
    const { id, outputIndex } = this.#begin("rs");
    // What comes behind a call that was cut short does not hide that.
    this.#lastIndex = last;
    const added: ReasoningItem = { id, type: "reasoning", status: "in_progress", summary: [] };
    const done: ReasoningItem = { ...added, status: "completed", encrypted_content: carrier };
    this.#items[outputIndex] = done;
    this.#emit({ type: "response.output_item.added", output_index: outputIndex, item: added });
    this.#emit({ type: "response.output_item.done", output_index: outputIndex, item: done });
  }

  /** @returns the output index, by which the call is written to and closed. */
  startCall(call: StartedCall): number {
    this.#endProse();
    this.#hasCall = true;
    const context = this.#begin(CALL_IDS[call.tool.kind]);
    this.#open.set(context.outputIndex, new CallWriter(context, call));
    return context.outputIndex;
  }

  /** The next piece of a call's arguments; not empty. */
  writeArguments(index: number, json: string): void {
    const call = this.#open.get(index);
    if (call instanceof CallWriter) call.write(json);
  }

  closeCall(index: number): void {
    this.#close(index, "completed");
  }

  /**
   * The answer is over.
   * @param isIncomplete It was cut short: the last item, if it is still open, says so.
   * @returns all items.
   */
  end(isIncomplete: boolean): OutputItem[] {
    if (!this.#hasCall) this.#releaseSpace();
    const last = this.#lastIndex;
    for (const index of this.#open.keys()) {
      this.#close(index, isIncomplete && index === last ? "incomplete" : "completed");
    }
    return this.#finished();
  }

  /** The items of a response that failed: what was open stays as far as it came, and no event says that it is done. */
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

  /** Before a call: white space that waits is dropped. */
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
