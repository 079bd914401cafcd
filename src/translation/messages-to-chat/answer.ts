import type { GatewayError } from "../../errors.ts";
import { formatJson } from "../json/exact-json.ts";
import { formatStreamError } from "./error-body.ts";
import type { StreamEvent } from "./message.ts";
import type { Answer, AnswerOutput, Observation } from "../client-protocol.ts";
import { isJsonObject } from "../../json-object.ts";
import { GeneratedText } from "../upstream/generated-text.ts";
import { isUpstreamError } from "../upstream/error-text.ts";
import { SseDecoder } from "../sse/decoder.ts";
import { formatEvent } from "../sse/encoder.ts";
import { mapErrorInAnswer } from "../upstream/map-error.ts";
import type { AnswerSettings } from "./answer-settings.ts";
import { convertCompletion } from "./response/convert-completion.ts";
import { parseJsonText } from "../json/parse-json-text.ts";
import { playMessage } from "./response/play-message.ts";
import { findChoice } from "../upstream/read-choice.ts";
import { asGatewayError, DONE, MAX_EVENT_BYTES, parseCompletion } from "../upstream/read-stream.ts";
import { StreamTranslator } from "./stream/stream-translator.ts";

/** One answer of a chat completion upstream on its way to a Messages client. */
export class MessagesAnswer implements Answer {
  readonly #settings: AnswerSettings;
  readonly #decoder = new SseDecoder({ maxEventBytes: MAX_EVENT_BYTES });
  readonly #translator: StreamTranslator;
  readonly #generated = new GeneratedText();
  #output = "";
  #isFinal = false;
  #failed: GatewayError | null = null;

  constructor(settings: AnswerSettings) {
    this.#settings = settings;
    this.#translator = new StreamTranslator(settings, {
      emit: (event) => {
        this.#write(event);
      },
      generated: this.#generated,
    });
  }

  get contentType(): "application/json" | "text/event-stream" {
    return this.#settings.stream ? "text/event-stream" : "application/json";
  }

  get observation(): Observation {
    return this.#generated;
  }

  translateBody(body: Uint8Array): AnswerOutput {
    const completion = parseCompletion(body);
    if (isUpstreamError(completion) || !isJsonObject(completion)) {
      this.#generated.readError(completion);
      throw mapErrorInAnswer(completion, { protocol: "messages", model: this.#settings.model });
    }
    this.#generated.readUsage(completion["usage"]);
    this.#generated.readMessage(findChoice(completion)?.["message"]);
    const message = convertCompletion(completion, this.#settings);
    if (this.#settings.stream) for (const event of playMessage(message)) this.#write(event);
    else this.#output = formatJson(message);
    this.#isFinal = true;
    return this.#takeOutput();
  }

  push(chunk: Uint8Array): AnswerOutput {
    return this.#advance(() => {
      for (const { data } of this.#decoder.push(chunk)) this.#readData(data);
    });
  }

  end(): AnswerOutput {
    return this.#advance(() => {
      for (const { data } of this.#decoder.end()) this.#readData(data);
      if (!this.#isFinal) this.#end(false);
    });
  }

  #advance(read: () => void): AnswerOutput {
    if (!this.#isFinal && this.#failed === null) {
      try {
        read();
      } catch (error) {
        this.#failed = asGatewayError(error);
        this.#output += formatStreamError(this.#failed, this.#settings.requestId);
      }
    }
    return this.#takeOutput();
  }

  #readData(data: string): void {
    // After [DONE] nothing counts; an event without data is a keep-alive.
    if (this.#isFinal || data === "") return;
    if (data === DONE) {
      this.#end(true);
      return;
    }
    this.#translator.readChunk(parseJsonText(data));
  }

  #end(isDone: boolean): void {
    this.#translator.end(isDone);
    this.#isFinal = true;
  }

  #write(event: StreamEvent): void {
    this.#output += formatEvent(event.type, event);
  }

  #takeOutput(): AnswerOutput {
    const bytes = Buffer.from(this.#output, "utf8");
    this.#output = "";
    return { bytes, final: this.#isFinal, failed: this.#failed };
  }
}
