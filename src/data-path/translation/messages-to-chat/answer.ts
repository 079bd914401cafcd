import type { GatewayError } from "../../../shared/contract/errors.ts";
import type { JsonObject } from "../../../shared/text/json-object.ts";
import { ConversationAnswer } from "../upstream/conversation-answer.ts";
import { formatJson } from "../json/exact-json.ts";
import { KEEP_ALIVE, PING } from "../sse/encoder.ts";
import { findChoice, readFinishReason } from "../upstream/read-choice.ts";
import type { AnswerSettings } from "./answer-settings.ts";
import { formatStreamError } from "./error-body.ts";
import { formatStreamEvent } from "./stream/format-event.ts";
import { convertCompletion } from "./response/convert-completion.ts";
import { playMessage } from "./response/play-message.ts";
import { StreamTranslator } from "./stream/stream-translator.ts";

/** Translates the answer of a chat completion upstream for a Messages client. */
export class MessagesAnswer extends ConversationAnswer {
  readonly #settings: AnswerSettings;
  readonly #translator: StreamTranslator;

  constructor(settings: AnswerSettings) {
    const { model, stream, describeCost } = settings;
    super({ protocol: "messages", model, stream, describeCost });
    this.#settings = settings;
    this.#translator = new StreamTranslator(settings, {
      emit: (event) => this.write(formatStreamEvent(event)),
      generated: this.generated,
    });
  }

  /** `message_start` must be the first event. */
  override get keepAlive(): string {
    return this.#translator.hasStarted ? PING : KEEP_ALIVE;
  }

  protected override writeCompletion(completion: JsonObject): void {
    this.generated.readUsage(completion);
    this.generated.readChoices(completion["choices"]);
    const choice = findChoice(completion);
    const message = convertCompletion(completion, this.#settings);
    if (choice !== null) this.generated.noteFinishReason(readFinishReason(choice));
    const cost = this.generated.describeCost();
    if (this.#settings.stream) this.write(playMessage(message, cost));
    else this.write(formatJson({ ...message, usage: { ...message.usage, ...cost } }));
  }

  protected override writeChunk(chunk: unknown): void {
    this.#translator.readChunk(chunk);
  }

  protected override writeText(text: string): void {
    this.#translator.readText(text);
  }

  protected override writeEnd(isDone: boolean): void {
    this.#translator.end(isDone);
  }

  protected override writeFailure(error: GatewayError): void {
    this.write(formatStreamError(error, this.#settings.requestId));
  }
}
