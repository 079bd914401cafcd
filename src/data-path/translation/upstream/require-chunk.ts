import { GatewayError } from "../../../shared/contract/errors.ts";
import { isJsonObject, type JsonObject } from "../../../shared/text/json-object.ts";
import type { ProtocolName } from "../client-protocol.ts";
import { isUpstreamError } from "./error-text.ts";
import type { GeneratedText } from "./generated-text.ts";
import { mapErrorInAnswer } from "./map-error.ts";

/**
 * Asserts that the value is a chunk of a chat completion, and reads its usage.
 * @throws GatewayError The upstream's error, or `upstream_error` if it violates the protocol.
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
