import type { JsonObject } from "../../../../shared/text/json-object.ts";
import type { OutputItem } from "../response.ts";
import type { StartedCall } from "./call-writer.ts";

/** Writes the upstream's output as items of one response, in the order of the calls. */
export interface ItemsWriter {
  writeReasoning(text: string): void;
  writeText(text: string, logprobs: readonly JsonObject[]): void;
  writeRefusal(text: string): void;
  /** Writes data that the client sends back to the upstream. */
  writeCallCarrier(carrier: string): void;
  /** @returns The output index, used to write to the call and to close it. */
  startCall(call: StartedCall): number;
  /** Writes the next piece of a call's arguments; never empty. */
  writeArguments(index: number, json: string): void;
  closeCall(index: number): void;
  /**
   * Ends the answer.
   * @param isIncomplete The answer was cut off.
   * @returns All items.
   * @throws GatewayError if the output is not what was requested.
   */
  end(isIncomplete: boolean): OutputItem[];
  /** Returns the items of a failed response; no event closes open items. */
  abandon(): OutputItem[];
}
