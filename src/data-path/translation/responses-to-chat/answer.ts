import type { GatewayError } from "../../../shared/contract/errors.ts";
import type { JsonObject } from "../../../shared/text/json-object.ts";
import { ConversationAnswer } from "../upstream/conversation-answer.ts";
import { KEEP_ALIVE } from "../sse/encoder.ts";
import { requireMessage } from "../upstream/read-choice.ts";
import { DONE } from "../upstream/read-stream.ts";
import type { AnswerSettings } from "./answer-settings.ts";
import type { ResponseObject } from "./response.ts";
import { formatCompaction } from "./response/format-compaction.ts";
import { numberCalls } from "./response/number-calls.ts";
import { EventWriter } from "./stream/event-writer.ts";
import { StreamTranslator } from "./stream/stream-translator.ts";

/** Chunks without visible output (hidden reasoning) before a comment shows the client that the stream is alive. */
const SILENT_CHUNKS_PER_COMMENT = 32;
const DONE_EVENT = `data: ${DONE}\n\n`;

/** Translates the answer of a chat completion upstream for a Responses client. */
export class ResponsesAnswer extends ConversationAnswer {
  readonly keepAlive = KEEP_ALIVE;
  readonly #settings: AnswerSettings;
  readonly #translator: StreamTranslator;
  readonly #events: EventWriter;
  #silentChunks = 0;

  constructor(settings: AnswerSettings) {
    const { model, stream, describeCost } = settings;
    super({ protocol: "responses", model, stream, describeCost });
    this.#settings = settings;
    this.#events = new EventWriter(settings.repeatedFields);
    this.#translator = new StreamTranslator(settings, {
      // A JSON answer only needs the final response.
      onItem: (event) => {
        if (settings.stream) this.#writeEvent(this.#events.formatItemEvent(event));
      },
      onResponse: (type, response) => {
        if (settings.stream) this.#writeEvent(this.#events.formatResponseEvent(type, response));
      },
      generated: this.generated,
    });
  }

  protected override writeCompletion(completion: JsonObject): void {
    // Read first: an unusable answer costs what its usage reports.
    this.generated.readUsage(completion);
    requireMessage(completion);
    this.#translator.readChunk(numberCalls(completion, this.#settings.createId), completion);
    const response = this.#translator.end(true);
    this.write(this.#settings.stream ? DONE_EVENT : this.#formatWhole(response));
  }

  protected override writeChunk(chunk: unknown): void {
    this.#countSilence(() => this.#translator.readChunk(chunk));
  }

  protected override writeText(text: string): void {
    this.#countSilence(() => this.#translator.readText(text));
  }

  protected override writeEnd(isDone: boolean): void {
    this.#translator.end(isDone);
    this.write(DONE_EVENT);
  }

  /** SDKs raise at `error`; Codex only reads `response.failed`. */
  protected override writeFailure(error: GatewayError): void {
    this.#translator.startFailure();
    this.write(this.#events.formatError(error, this.#settings.requestId));
    this.#translator.fail(error);
    this.write(DONE_EVENT);
  }

  #formatWhole(response: ResponseObject): string {
    const { compaction, createId } = this.#settings;
    const userMessages = compaction?.userMessages ?? null;
    if (userMessages === null) return this.#events.formatResponse(response);
    return formatCompaction(response, { userMessages, createId });
  }

  #countSilence(read: () => void): void {
    this.#silentChunks += 1;
    read();
    if (this.#silentChunks > SILENT_CHUNKS_PER_COMMENT) this.#writeEvent(KEEP_ALIVE);
  }

  #writeEvent(text: string): void {
    this.#silentChunks = 0;
    this.write(text);
  }
}
