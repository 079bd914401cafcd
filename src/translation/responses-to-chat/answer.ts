import type { GatewayError } from "../../errors.ts";
import { isJsonObject } from "../../json-object.ts";
import type { Answer, AnswerOutput, Observation } from "../client-protocol.ts";
import { parseJsonText } from "../json/parse-json-text.ts";
import { SseDecoder } from "../sse/decoder.ts";
import { isUpstreamError } from "../upstream/error-text.ts";
import { GeneratedText } from "../upstream/generated-text.ts";
import { mapErrorInAnswer } from "../upstream/map-error.ts";
import { asGatewayError, DONE, MAX_EVENT_BYTES, parseCompletion } from "../upstream/read-stream.ts";
import type { AnswerSettings } from "./answer-settings.ts";
import { numberCalls } from "./response/number-calls.ts";
import { EventWriter } from "./stream/event-writer.ts";
import { StreamTranslator } from "./stream/stream-translator.ts";

/** After so many chunks of which the client sees nothing (hidden reasoning) a comment tells it that the answer goes on. */
const SILENT_CHUNKS_PER_COMMENT = 32;
const DONE_EVENT = `data: ${DONE}\n\n`;
const COMMENT = ": in progress\n\n";

/** One answer of a chat completion upstream on its way to a Responses client. */
export class ResponsesAnswer implements Answer {
  readonly #settings: AnswerSettings;
  readonly #decoder = new SseDecoder({ maxEventBytes: MAX_EVENT_BYTES });
  readonly #translator: StreamTranslator;
  readonly #events: EventWriter;
  readonly #generated = new GeneratedText();
  #output = "";
  #isFinal = false;
  #failed: GatewayError | null = null;
  #silentChunks = 0;

  constructor(settings: AnswerSettings) {
    this.#settings = settings;
    this.#events = new EventWriter(settings.toldBack);
    this.#translator = new StreamTranslator(settings, {
      // Of a JSON answer only the response at its end is wanted.
      onItem: (event) => {
        if (settings.stream) this.#output += this.#events.formatItemEvent(event);
      },
      onResponse: (type, response) => {
        if (settings.stream) this.#output += this.#events.formatResponseEvent(type, response);
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
      throw mapErrorInAnswer(completion, { protocol: "responses", model: this.#settings.model });
    }
    this.#translator.readChunk(numberCalls(completion, this.#settings.createId));
    const response = this.#translator.end(true);
    if (this.#settings.stream) this.#output += DONE_EVENT;
    else this.#output = this.#events.formatResponse(response);
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
        this.#fail(asGatewayError(error));
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
    const before = this.#output.length;
    this.#translator.readChunk(parseJsonText(data));
    this.#commentAfterSilence(this.#output.length > before);
  }

  #end(isDone: boolean): void {
    this.#translator.end(isDone);
    this.#output += DONE_EVENT;
    this.#isFinal = true;
  }

  /** SDKs raise at `error`, Codex reads `response.failed` alone. */
  #fail(error: GatewayError): void {
    this.#failed = error;
    this.#translator.startFailure();
    this.#output += this.#events.formatError(error, this.#settings.requestId);
    this.#translator.fail(error);
    this.#output += DONE_EVENT;
  }

  #commentAfterSilence(hasOutput: boolean): void {
    this.#silentChunks = hasOutput ? 0 : this.#silentChunks + 1;
    if (this.#silentChunks <= SILENT_CHUNKS_PER_COMMENT) return;
    this.#silentChunks = 0;
    this.#output += COMMENT;
  }

  #takeOutput(): AnswerOutput {
    const bytes = Buffer.from(this.#output, "utf8");
    this.#output = "";
    return { bytes, final: this.#isFinal, failed: this.#failed };
  }
}
