import type { GatewayError } from "../../../../shared/contract/errors.ts";
import type { JsonObject } from "../../../../shared/text/json-object.ts";
import { formatJson, formatJsonString } from "../../json/exact-json.ts";
import { formatEvent } from "../../sse/encoder.ts";
import type { ItemEvent, ResponseEventType, ResponseObject } from "../response.ts";
import { createErrorFields } from "../error-body.ts";

type TextDelta = Extract<ItemEvent, { readonly type: "response.output_text.delta" }>;

/** Numbers the events of one stream and writes them as text. */
export class EventWriter {
  /** What each response repeats of its request: it may be large, and is written as JSON once. */
  readonly #toldBack: string;
  #sequenceNumber = 0;

  constructor(toldBack: JsonObject) {
    this.#toldBack = formatJson(toldBack);
  }

  formatItemEvent(event: ItemEvent): string {
    if (event.type === "response.output_text.delta" && event.logprobs.length === 0) {
      return this.#formatTextDelta(event);
    }
    const fields = formatJson(event).slice(0, -1);
    return `event: ${event.type}\ndata: ${fields},"sequence_number":${this.#next()}}\n\n`;
  }

  formatResponseEvent(type: ResponseEventType, response: ResponseObject): string {
    const head = formatJson({ type, sequence_number: this.#next() });
    const data = `${head.slice(0, -1)},"response":${this.formatResponse(response)}}`;
    return `event: ${type}\ndata: ${data}\n\n`;
  }

  /**
   * The same text that `formatEvent` writes. Nearly every event of a stream is one of these, and of their fields the text alone is not
   * known to be plain: writing it as JSON, and not a copy of the event, takes a quarter of the time.
   */
  #formatTextDelta({ type, item_id, output_index, content_index, delta }: TextDelta): string {
    return (
      `event: ${type}\ndata: {"type":"${type}","item_id":"${item_id}","output_index":${output_index},` +
      `"content_index":${content_index},"delta":${formatJsonString(delta)},"logprobs":[],` +
      `"sequence_number":${this.#next()}}\n\n`
    );
  }

  /** The error that ends a stream; `response.failed` follows it. */
  formatError(error: GatewayError, requestId: string | null): string {
    const fields = createErrorFields(error, requestId);
    return formatEvent("error", { type: "error", sequence_number: this.#next(), ...fields });
  }

  /** A response as JSON. */
  formatResponse(response: ResponseObject): string {
    return `${formatJson(response).slice(0, -1)},${this.#toldBack.slice(1)}`;
  }

  #next(): number {
    this.#sequenceNumber += 1;
    return this.#sequenceNumber - 1;
  }
}
