import type { GatewayError } from "../../../../shared/contract/errors.ts";
import type { JsonObject } from "../../../../shared/text/json-object.ts";
import { formatJson, formatJsonString } from "../../json/exact-json.ts";
import { formatEvent } from "../../sse/encoder.ts";
import type { ItemEvent, ResponseEventType, ResponseObject } from "../response.ts";
import { createErrorFields } from "../error-body.ts";

type TextDelta = Extract<ItemEvent, { readonly type: "response.output_text.delta" }>;

/** Numbers and formats the events of one stream. */
export class EventWriter {
  /** Request fields that each response repeats. They may be large, so they are formatted once. */
  readonly #repeatedFields: string;
  #sequenceNumber = 0;

  constructor(repeatedFields: JsonObject) {
    this.#repeatedFields = formatJson(repeatedFields);
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
   * Equivalent to `formatEvent` for text deltas, which are nearly all events of a stream. Only their text may need
   * escapes, so formatting it alone takes a quarter of the time.
   */
  #formatTextDelta({ type, item_id, output_index, content_index, delta }: TextDelta): string {
    return (
      `event: ${type}\ndata: {"type":"${type}","item_id":"${item_id}","output_index":${output_index},` +
      `"content_index":${content_index},"delta":${formatJsonString(delta)},"logprobs":[],` +
      `"sequence_number":${this.#next()}}\n\n`
    );
  }

  /** Formats the error that ends a stream; `response.failed` follows it. */
  formatError(error: GatewayError, requestId: string | null): string {
    const fields = createErrorFields(error, requestId);
    return formatEvent("error", { type: "error", sequence_number: this.#next(), ...fields });
  }

  formatResponse(response: ResponseObject): string {
    return `${formatJson(response).slice(0, -1)},${this.#repeatedFields.slice(1)}`;
  }

  #next(): number {
    this.#sequenceNumber += 1;
    return this.#sequenceNumber - 1;
  }
}
