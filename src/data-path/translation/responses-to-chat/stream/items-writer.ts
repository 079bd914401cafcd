import type { JsonObject } from "../../../../shared/text/json-object.ts";
import type { OutputItem } from "../response.ts";
import type { StartedCall } from "./call-writer.ts";

/** Writes what the upstream generates as items of one response, in the order of the calls. */
export interface ItemsWriter {
  writeReasoning(text: string): void;
  writeText(text: string, logprobs: readonly JsonObject[]): void;
  writeRefusal(text: string): void;
  /** What the client carries for the upstream. */
  writeCallCarrier(carrier: string): void;
  /** @returns the output index, by which the call is written to and closed. */
  startCall(call: StartedCall): number;
  /** The next piece of a call's arguments; not empty. */
  writeArguments(index: number, json: string): void;
  closeCall(index: number): void;
  /**
   * The answer is over.
   * @param isIncomplete It was cut short.
   * @returns all items.
   * @throws GatewayError where they are no answer to what was asked.
   */
  end(isIncomplete: boolean): OutputItem[];
  /** The items of a response that failed; no event says that what was open is done. */
  abandon(): OutputItem[];
}
