/** Rejections by method, path and headers (404, 405 and 415), after the key and its bucket are checked. */
import { GatewayError } from "../../../shared/contract/errors.ts";
import { isGrpcType } from "../../../shared/contract/grpc-type.ts";
import { listWords } from "../../../shared/text/list-words.ts";
import type { Endpoint } from "./endpoints.ts";

interface RequestLine {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** The default hint. */
const PROTOCOLS =
  "Use `POST /v1/chat/completions`, `POST /v1/responses` or `POST /v1/messages`; `GET /` lists all endpoints.";

/** Paths that clients often request by mistake, each with a hint. */
const HINTS: readonly (readonly [prefix: string, hint: string])[] = [
  ["/v1/completions/", "This gateway doesn't store completions."],
  ["/v1/complete", "Use `client.messages.create(…)` in the Anthropic SDK."],
  ["/chat/completions", "The base URL of OpenAI clients ends with `/v1`."],
  ["/embeddings", "The base URL of OpenAI clients ends with `/v1`."],
  ["/completions", "The base URL of OpenAI clients ends with `/v1`."],
  ["/messages", "Anthropic clients need the base URL without a path, the Vercel AI SDK with `/v1`."],
  ["/v1/v1/", "Your base URL repeats `/v1`. Remove one; Anthropic clients need the base URL without a path."],
];

/** Requests for an earlier response by its id. */
const STORED_RESPONSE = /^\/v1\/responses\/[^/]+(?:\/(?:cancel|input_items))?$/;

/**
 * Rejects an unknown endpoint, a method that the endpoint does not support, and an unreadable body
 * (`describeUnreadable`).
 * @throws GatewayError 404 `unknown_endpoint` or `response_not_found`, 405 `method_not_allowed`, 415
 * `unsupported_media_type`.
 */
export function refuseEndpoint(endpoint: Endpoint, { method, path, headers }: RequestLine): void {
  if (endpoint.methods.length === 0) {
    const bare = withoutQuery(path);
    if (STORED_RESPONSE.test(bare)) throw new GatewayError("response_not_found");
    const hint = HINTS.find(([prefix]) => bare.startsWith(prefix))?.[1];
    const message = `Unknown endpoint ${method} ${bare.slice(0, 100)}. ${hint ?? PROTOCOLS}`;
    throw new GatewayError("unknown_endpoint", { message });
  }
  if (!endpoint.methods.includes(method)) {
    const allow = endpoint.methods.join(", ");
    throw new GatewayError("method_not_allowed", {
      message: `${withoutQuery(path)} accepts ${listWords(endpoint.methods)}, not ${method.slice(0, 20)}.`,
      headers: { allow },
    });
  }
  const message = describeUnreadable({ method, headers });
  if (message !== null) throw new GatewayError("unsupported_media_type", { message });
}

/** Returns the reason why a body cannot be read, by its headers; null if it can. */
export function describeUnreadable({
  method,
  headers,
}: Pick<RequestLine, "method" | "headers">): string | null {
  if (isGrpcType(headers["content-type"])) {
    return "This API is not gRPC. Send the request body as JSON, with `content-type: application/json`.";
  }
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (method !== "POST" || encoding === "identity") return null;
  return `\`content-encoding: ${encoding.slice(0, 40)}\` isn't supported. Send the request body uncompressed.`;
}

function withoutQuery(path: string): string {
  const query = path.indexOf("?");
  return query === -1 ? path : path.slice(0, query);
}
