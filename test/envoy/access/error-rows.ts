/** Every error of the contract: how a client comes by it through the real stack, and what it must read then. */
import { Redis } from "ioredis";
import { join } from "node:path";
import { expect } from "vitest";
import type { ErrorCode } from "../../../src/shared/contract/errors.ts";
import type { ProtocolName } from "../../../src/data-path/translation/client-protocol.ts";
import type { ChatStack } from "../../support/chat-stack.ts";
import { chatBody } from "../../support/chat-stack.ts";
import { CHAT_MODEL } from "../../support/gateway-config.ts";
import { openaiError, type ScriptedAnswer } from "../../support/scripted-answer.ts";
import type { CreatedKey } from "../../support/test-key.ts";
import type { KeySettings } from "../../../src/shared/settings/key.ts";
import type { OrganizationSettings } from "../../../src/shared/settings/organization.ts";
import type { RawResponse } from "../edge/raw-client.ts";
import { useKeyOfCapped, useKeyOfDisabledUser, withKey } from "./owners-keys.ts";
import { killAllWorkers, waitUntilServed } from "./worker-processes.ts";
import { monthLimits } from "../../support/month-limits.ts";

export const WORKERS = 2;
export const MAX_BODY_BYTES = 1_048_576;
/** Has a price in USD only. */
export const DOLLAR_MODEL = "acme/dollar";
/** Its upstream speaks messages alone. */
export const NATIVE_MODEL = "acme/native";
/** Has an upstream that nobody listens for. */
export const ABSENT_MODEL = "acme/absent";

const UNKNOWN_PATHS: Readonly<Record<ProtocolName, string>> = {
  chat: "/v1/nothing",
  messages: "/v1/messages/nothing",
  responses: "/v1/responses/a/nothing",
  embeddings: "/v1/embeddings/nothing",
  completions: "/v1/completions/nothing",
};

export interface ErrorRoute {
  readonly path: string;
  readonly protocol: ProtocolName;
}

export interface Provocation {
  readonly chat: ChatStack;
  readonly route: ErrorRoute;
  /** A key with these settings of its own. */
  createKey(key?: Partial<KeySettings>, organization?: Partial<OrganizationSettings>): Promise<CreatedKey>;
  /** A raw request to the row's route: POST with a whole body, unless it says otherwise. */
  send(
    key: string | null,
    request?: {
      readonly method?: string;
      readonly path?: string;
      readonly headers?: Record<string, string>;
      readonly body?: string;
    },
  ): Promise<RawResponse>;
}

export interface ProvokedError {
  readonly provoke: (at: Provocation) => Promise<RawResponse>;
  readonly message: RegExp;
  readonly param?: string;
  /** Further fields of the error object. */
  readonly fields?: object;
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly retryAfter?: string;
  /** "none": no key is known, so remaining is 0 and no rate is named. "unread": Envoy has not read the headers either. */
  readonly caller?: "none" | "unread";
  /** For an error that only one family of routes has. */
  readonly only?: ProtocolName;
  /** For an error that one route has another for. */
  readonly except?: ProtocolName;
  /** Envoy closes the connection with it. */
  readonly closes?: true;
}

/** A body that all protocols take. */
export function validBody(fields: object = {}): string {
  return JSON.stringify(chatBody({ max_tokens: 5, input: "Hello", ...fields }));
}

const upstreamSays =
  (answer: ScriptedAnswer) =>
  (at: Provocation): Promise<RawResponse> => {
    at.chat.upstream.answer(answer);
    return at.send(at.chat.key.key);
  };

const withBody =
  (body: string) =>
  (at: Provocation): Promise<RawResponse> =>
    at.send(at.chat.key.key, { body });

async function drainBucket(at: Provocation): Promise<RawResponse> {
  const { key } = await at.createKey({ requestsPerMinute: 1, name: "ci" });
  let last = await at.send(key, { body: "{" });
  while (last.status !== 429) last = await at.send(key, { body: "{" });
  return last;
}

async function drainTokens(at: Provocation): Promise<RawResponse> {
  const { key } = await at.createKey({ tokensPerMinute: 1, name: "ci" });
  await at.send(key);
  return at.send(key);
}

async function fillPlaces(at: Provocation): Promise<RawResponse> {
  const { key } = await at.createKey({ maxConcurrentRequests: 1, name: "ci" });
  at.chat.upstream.answer({ kind: "json", before: 1_000, body: {} });
  const first = at.send(key);
  await at.chat.upstream.waitForRequests(1);
  const second = await at.send(key);
  await first;
  return second;
}

async function pauseRedis(at: Provocation): Promise<RawResponse> {
  const redis = new Redis(join(at.chat.stack.dir, "run/redis.sock"));
  try {
    // Scripts wait; the client's own commands do not, so that it can end the pause.
    await redis.call("CLIENT", "PAUSE", "60000", "WRITE");
    return await at.send(at.chat.key.key);
  } finally {
    await redis.call("CLIENT", "UNPAUSE");
    redis.disconnect();
    const request = { method: "GET", path: "/v1/models", body: "" };
    await waitUntilServed(WORKERS, () => at.send(at.chat.key.key, request));
  }
}

async function killWorkers(at: Provocation): Promise<RawResponse> {
  const { upstream, stack } = at.chat;
  upstream.answer({ kind: "hang" });
  const answer = at.send(at.chat.key.key);
  await upstream.waitForRequests(1);
  await killAllWorkers(stack.configFile, join(stack.dir, "run"));
  return answer;
}

/** When a window of days ends. */
const MIDNIGHT: unknown = expect.stringMatching(/T00:00:00Z$/);
const CHALLENGE = { "www-authenticate": "Bearer" };
const ERROR_BODY = openaiError("only for the log");

export const PROVOKED: Readonly<Partial<Record<ErrorCode, ProvokedError>>> = {
  invalid_json: { provoke: withBody("{"), message: /^The request body is not valid JSON: / },
  missing_required_parameter: { provoke: withBody('{"max_tokens": 5}'), message: /model/, param: "model" },
  invalid_parameter: {
    provoke: withBody(validBody({ stream: "yes" })),
    message: /stream/,
    param: "stream",
  },
  unsupported_parameter: {
    provoke: withBody(validBody({ container: "c" })),
    message: /^container: containers are not supported by this model$/,
    param: "container",
    only: "messages",
  },
  model_not_found: {
    provoke: withBody(validBody({ model: "acme/echo-smal" })),
    message: /^Unknown model `acme\/echo-smal`\. Nearest: .*`acme\/echo-small`/,
    param: "model",
  },
  endpoint_not_available_for_model: {
    provoke: withBody(validBody({ model: NATIVE_MODEL })),
    message:
      /^The model `acme\/native` isn't available at this endpoint\. It is available at `POST \/v1\/messages`\.$/,
    param: "model",
    except: "messages",
  },
  missing_api_key: {
    provoke: (at) => at.send(null),
    message: /^No API key sent\. /,
    headers: CHALLENGE,
    caller: "none",
  },
  invalid_api_key: {
    provoke: (at) => at.send("sk-igw-nobody"),
    message: /^Invalid API key\. Keys of this gateway start with `sk-igw-`\. /,
    headers: CHALLENGE,
    caller: "none",
  },
  hard_cap_reached: {
    provoke: withKey({ limits: monthLimits({ cap: 0 }), name: "ci" }),
    message: /^Monthly hard cap of 0\.00 USD for API key "ci" reached: 0\.00 USD spent in \w+ \d{4}\. Raise /,
    fields: { scope: "key", period: "month", resets_at: MIDNIGHT, spent_cents: 0, hard_cap_cents: 0 },
  },
  user_hard_cap_reached: {
    provoke: useKeyOfCapped("user", "Zoë"),
    message:
      /^Daily hard cap of 0\.00 USD for user "Zoë" reached: 0\.00 USD spent on \d{4}-\d\d-\d\d\. Raise the cap on the Users page\.$/,
    fields: { scope: "user", period: "day", resets_at: MIDNIGHT, spent_cents: 0, hard_cap_cents: 0 },
  },
  group_hard_cap_reached: {
    provoke: useKeyOfCapped("group", "Search"),
    message:
      /^Daily hard cap of 0\.00 USD for group "Search" reached: .* Raise the cap on the Groups page\.$/,
    fields: { scope: "group", period: "day", resets_at: MIDNIGHT, spent_cents: 0, hard_cap_cents: 0 },
  },
  org_hard_cap_reached: {
    provoke: withKey({}, { limits: monthLimits({ cap: 0 }) }),
    message:
      /^Monthly hard cap of 0\.00 USD for organization "Test [-0-9a-f]+" reached: .*organization's inference settings/,
    fields: {
      scope: "organization",
      period: "month",
      resets_at: MIDNIGHT,
      spent_cents: 0,
      hard_cap_cents: 0,
    },
  },
  session_cap_reached: {
    provoke: withKey({ sessionCapCents: 0, name: "ci" }, {}, validBody({ session_id: "run 1" })),
    message:
      /^The cap of 0\.00 USD for session "run 1" of API key "ci" is reached: 0\.00 USD spent\. Raise the session cap of the key or organization, /,
    fields: { scope: "session", period: "session", resets_at: null, spent_cents: 0, hard_cap_cents: 0 },
  },
  key_disabled: { provoke: withKey({ disabled: true }), message: /^API key "[^"]+" is disabled\. / },
  key_expired: {
    provoke: withKey({ expiresAtMs: 1_000 }),
    message: /^API key "[^"]+" expired at 1970-01-01T00:00:01\.000Z\. /,
  },
  user_disabled: {
    provoke: useKeyOfDisabledUser,
    message: /^User "[^"]+" of API key "[^"]+" is disabled\. /,
  },
  organization_suspended: { provoke: withKey({}, { suspended: true }), message: / is suspended\. / },
  model_not_allowed: {
    provoke: withKey({ allowedModels: [DOLLAR_MODEL] }),
    message: /^This API key can't use the model `acme\/echo-small`\. /,
    param: "model",
  },
  model_not_available_in_currency: {
    provoke: withKey({}, { currency: "EUR" }, validBody({ model: DOLLAR_MODEL })),
    message: /^The model `acme\/dollar` has no price in EUR/,
    param: "model",
  },
  upgrade_not_supported: {
    provoke: (at) =>
      at.send(at.chat.key.key, {
        method: "GET",
        headers: { connection: "upgrade", upgrade: "websocket" },
        body: "",
      }),
    message: /^Protocol upgrades aren't supported\. Send the request over plain HTTP\/1\.1 or HTTP\/2\.$/,
    caller: "none",
    except: "responses",
    closes: true,
  },
  websocket_not_supported: {
    provoke: (at) =>
      at.send(at.chat.key.key, {
        method: "GET",
        headers: { connection: "upgrade", upgrade: "websocket" },
        body: "",
      }),
    message: /^WebSocket isn't supported\. Send `POST \/v1\/responses` over HTTP\.$/,
    caller: "none",
    only: "responses",
    closes: true,
  },
  unknown_endpoint: {
    provoke: (at) =>
      at.send(at.chat.key.key, {
        path: UNKNOWN_PATHS[at.route.protocol],
      }),
    message: /^Unknown endpoint POST \/v1\/\S*nothing\. Use `POST \/v1\/chat\/completions`, /,
  },
  request_not_found: {
    provoke: (at) => at.send(at.chat.key.key, { method: "GET", path: "/v1/requests/req_nobody", body: "" }),
    message: /^Unknown request: /,
    only: "chat",
  },
  response_not_found: {
    provoke: (at) => at.send(at.chat.key.key, { method: "GET", path: "/v1/responses/resp_1", body: "" }),
    message: /^This gateway doesn't store responses\. Send the whole input with every request\.$/,
    only: "responses",
  },
  method_not_allowed: {
    provoke: (at) => at.send(at.chat.key.key, { method: "PUT" }),
    message: /^\S+ accepts POST, not PUT\.$/,
    headers: { allow: "POST" },
  },
  request_too_large: {
    provoke: (at) =>
      at.send(at.chat.key.key, { body: validBody({ padding: "x".repeat(2 * MAX_BODY_BYTES) }) }),
    message: /^The request body has more than 1048576 bytes, the most that this gateway accepts\.$/,
    closes: true,
  },
  unsupported_media_type: {
    provoke: (at) => at.send(at.chat.key.key, { headers: { "content-encoding": "gzip" } }),
    message: /^`content-encoding: gzip` isn't supported\. Send the request body uncompressed\.$/,
  },
  rate_limit_exceeded: {
    provoke: drainBucket,
    message: /^Rate limit of 1 request per minute for API key "ci" reached\. Try again in \d\d seconds\.$/,
    retryAfter: "59",
  },
  token_rate_limit_exceeded: {
    provoke: drainTokens,
    message: /^Rate limit of 1 token per minute for API key "ci" reached\. Try again in \d+ seconds\.$/,
    // On the other routes in token-limits.test.ts: the headers have other names there.
    only: "chat",
    fields: { scope: "key", limit_type: "total" },
    headers: {
      "retry-after": expect.stringMatching(/^\d+$/),
      "x-ratelimit-limit-tokens": "1",
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-tokens": expect.stringMatching(/^\d+m/),
    },
  },
  concurrency_limit_exceeded: {
    provoke: fillPlaces,
    message: /^API key "ci" has reached its limit of 1 concurrent request\. /,
    retryAfter: "1",
  },
  request_header_fields_too_large: {
    provoke: (at) => at.send(at.chat.key.key, { headers: { large: "x".repeat(70_000) } }),
    message: /^The request headers are too large\. Remove headers, such as cookies\.$/,
    caller: "unread",
    only: "chat",
    closes: true,
  },
  upstream_error: {
    provoke: upstreamSays({ kind: "json", status: 500, body: ERROR_BODY }),
    message:
      /^The model server returned an unusable response\. Try again; if it persists, send the request ID to the operator\.$/,
  },
  upstream_authentication_failed: {
    provoke: upstreamSays({ kind: "json", status: 401, body: ERROR_BODY }),
    message: /^The model server rejected the gateway's credential\. /,
  },
  upstream_model_not_found: {
    provoke: upstreamSays({ kind: "json", status: 404, body: ERROR_BODY }),
    message: /^The model server doesn't have this model or endpoint\. /,
  },
  model_starting: {
    provoke: upstreamSays({ kind: "json", status: 503, headers: { "retry-after": "9" }, body: ERROR_BODY }),
    message: /^The model is starting\. /,
    retryAfter: "9",
  },
  model_unreachable: {
    provoke: (at) => at.send(at.chat.key.key, { body: validBody({ model: ABSENT_MODEL }) }),
    message: /^The model server can't be reached\. /,
    retryAfter: "17",
  },
  model_overloaded: {
    provoke: upstreamSays({ kind: "json", status: 429, headers: { "retry-after": "7" }, body: ERROR_BODY }),
    message: /^The model is overloaded\. /,
    retryAfter: "7",
  },
  gateway_unavailable: {
    provoke: pauseRedis,
    message: /^The gateway can't check API keys at the moment\. /,
    retryAfter: "1",
    caller: "none",
  },
  upstream_timeout: {
    provoke: upstreamSays({ kind: "json", status: 504, body: ERROR_BODY }),
    message: /^The model server didn't respond in time\. Try again, or ask for a shorter response\.$/,
  },
};

/** A worker dies with a request that it has sent upstream: it is not the answer of the error's own row. */
export const LOST_REQUEST: ProvokedError = {
  provoke: killWorkers,
  message: /^The gateway lost this request\. Try again in a moment\.$/,
  retryAfter: "1",
};

export const MODELS = [CHAT_MODEL, DOLLAR_MODEL, ABSENT_MODEL];
