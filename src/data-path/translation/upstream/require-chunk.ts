import { GatewayError } from "../../../shared/contract/errors.ts";
import { isJsonObject, type JsonObject } from "../../../shared/text/json-object.ts";
import type { ProtocolName } from "../client-protocol.ts";
import { isUpstreamError } from "./error-text.ts";
import type { GeneratedText } from "./generated-text.ts";
import { mapErrorInAnswer } from "./map-error.ts";

/**
 * Makes sure that it is a chunk of a chat completion, whose usage is read.
 * @throws GatewayError what the upstream reports instead, or that it broke the protocol.
 */
export function requireChunk(
  chunk: unknown,
  generated: GeneratedText,
  about: { protocol: ProtocolName; model: string },
): asserts chunk is JsonObject {
  if (isUpstreamError(chunk)) {
    generated.readError(chunk);
    throw mapErrorInAnswer(chunk, about);
  }
  if (!isJsonObject(chunk)) {
    throw new GatewayError("upstream_error", { cause: new Error("a chunk that is no JSON object") });
  }
  generated.readUsage(chunk);
}
