/** 404, 405 and 415: requests that are refused by their first line and headers, after the key and its bucket. */
import { GatewayError } from "../contract/errors.ts";
import type { Endpoint } from "./endpoints.ts";

interface RequestLine {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

const PROTOCOLS =
  "This gateway speaks three protocols: OpenAI chat completions at `POST /v1/chat/completions`, OpenAI responses at `POST /v1/responses` and Anthropic messages at `POST /v1/messages`; models that have them also serve `POST /v1/embeddings` and `POST /v1/completions`.";

/** Paths that clients ask for by habit or mistake, and what helps. */
const HINTS: readonly (readonly [prefix: string, hint: string])[] = [
  ["/v1/completions/", "A completion is not kept: its answer is all there is of it."],
  ["/v1/complete", "Use `client.messages.create(…)` in the Anthropic SDK."],
  ["/chat/completions", "The base URL of OpenAI clients ends in `/v1`."],
  ["/embeddings", "The base URL of OpenAI clients ends in `/v1`."],
  ["/completions", "The base URL of OpenAI clients ends in `/v1`."],
  ["/messages", "Anthropic clients take the base URL without a path, the Vercel AI SDK takes it with `/v1`."],
  ["/v1/v1/", "The base URL has `/v1` once too often: Anthropic clients take it without a path."],
];

/** What clients ask for by the id of an earlier response. */
const STORED_RESPONSE = /^\/v1\/responses\/[^/]+(?:\/(?:cancel|input_items))?$/;

/**
 * Refuses what is no endpoint, a method that it does not take, and a compressed body.
 * @throws GatewayError 404 `unknown_endpoint` or `response_not_found`, 405 `method_not_allowed`, 415 `unsupported_media_type`.
 */
export function refuseEndpoint(endpoint: Endpoint, { method, path, headers }: RequestLine): void {
  if (endpoint.methods.length === 0) {
    const bare = withoutQuery(path);
    if (STORED_RESPONSE.test(bare)) throw new GatewayError("response_not_found");
    const hint = HINTS.find(([prefix]) => bare.startsWith(prefix))?.[1];
    const message = `There is no endpoint ${method} ${bare.slice(0, 100)}. ${PROTOCOLS}`;
    throw new GatewayError("unknown_endpoint", {
      message: hint === undefined ? message : `${message} ${hint}`,
    });
  }
  if (!endpoint.methods.includes(method)) {
    const allow = endpoint.methods.join(", ");
    throw new GatewayError("method_not_allowed", {
      message: `${withoutQuery(path)} takes ${allow}, not ${method.slice(0, 20)}.`,
      headers: { allow },
    });
  }
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (method === "POST" && encoding !== "identity") {
    throw new GatewayError("unsupported_media_type", {
      message: `Send the request body uncompressed: \`content-encoding: ${encoding.slice(0, 40)}\` is not supported.`,
    });
  }
}

function withoutQuery(path: string): string {
  const query = path.indexOf("?");
  return query === -1 ? path : path.slice(0, query);
}
