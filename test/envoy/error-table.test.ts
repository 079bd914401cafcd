/** Every row of the contract's table of errors, as it comes over the wire: status, every header, the whole body. */
import { afterEach, describe, expect, it } from "vitest";
import { ERRORS, type ErrorCode, GatewayError } from "../../src/shared/contract/errors.ts";
import type { ProtocolName } from "../../src/data-path/translation/client-protocol.ts";
import { withChatStack } from "../support/chat-stack.ts";
import { firstOnPush } from "../support/extent.ts";
import { findFreePort } from "../support/free-port.ts";
import { catalogEntry, TEST_PRICES } from "../support/gateway-config.ts";
import {
  ABSENT_MODEL,
  DOLLAR_MODEL,
  type ErrorRoute,
  LOST_REQUEST,
  MAX_BODY_BYTES,
  NATIVE_MODEL,
  PROVOKED,
  type ProvokedError,
  WORKERS,
} from "./access/error-rows.ts";
import { createProvocation, NOT_PROVOKED } from "./access/provocation.ts";
import type { RawResponse } from "./edge/raw-client.ts";

const ROUTES: readonly ErrorRoute[] = [
  { path: "/v1/chat/completions", protocol: "chat" },
  { path: "/v1/messages?beta=true", protocol: "messages" },
  { path: "/v1/responses", protocol: "responses" },
];

const closedPort = await findFreePort();
const chat = withChatStack((upstream) => ({
  workers: WORKERS,
  upstreams: [
    { name: "local", url: upstream.url, path_prefix: "/v1" },
    { name: "absent", url: `http://127.0.0.1:${closedPort}` },
  ],
  catalog: [
    catalogEntry(),
    catalogEntry({ id: DOLLAR_MODEL, prices: { USD: TEST_PRICES.USD } }),
    catalogEntry({ id: NATIVE_MODEL, protocols: ["messages"] }),
    catalogEntry({ id: ABSENT_MODEL, upstream: "absent", startup_seconds: 17 }),
  ],
  overrides: {
    limits: { max_body_bytes: MAX_BODY_BYTES },
    settlement: { grace_seconds: 0 },
  },
}));
afterEach(() => chat.upstream.reset());

const CODES = Object.keys(ERRORS) as ErrorCode[];
const ROWS = CODES.flatMap((code) => {
  const row = PROVOKED[code];
  return row === undefined ? [] : [{ code, row }];
});

describe("the table of errors", () => {
  it("has a row, or a reason why there is none, for each code", () => {
    expect([...ROWS.map(({ code }) => code), ...Object.keys(NOT_PROVOKED)].sort()).toEqual([...CODES].sort());
  });
});

describe.each(ROUTES)("on $path", (route) => {
  const rows = ROWS.filter(
    ({ row: { only, except } }) =>
      (only === undefined || only === route.protocol) && except !== route.protocol,
  );

  it.each(rows)("$code has its status, its headers and its body", async ({ code, row }) => {
    const response = await row.provoke(createProvocation(chat, route));
    expect(read(response)).toEqual(expected(code, row, route));
  });
});

describe.each(firstOnPush(ROUTES))("on $path", (route) => {
  it("gateway_unavailable has the same when a worker dies with the request in hand", async () => {
    const response = await LOST_REQUEST.provoke(createProvocation(chat, route));
    expect(read(response)).toEqual(expected("gateway_unavailable", LOST_REQUEST, route));
  });
});

function read({ status, headers, body }: RawResponse) {
  const { "x-request-id": id, ...others } = headers;
  return { status, headers: { ...others, "x-request-id": id }, body: JSON.parse(body) as unknown };
}

const anyText = (pattern: RegExp) => expect.stringMatching(pattern) as string;
/** What Envoy makes of the time where it refused a request before it had read its headers. */
const UNREAD_REQUEST_ID = /^req_\d+$/;
const REQUEST_ID = /^req_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

function expected(code: ErrorCode, row: ProvokedError, { protocol }: ErrorRoute) {
  const error = new GatewayError(code);
  const status = error.status(protocol);
  const id = anyText(row.caller === "unread" ? UNREAD_REQUEST_ID : REQUEST_ID);
  const object = {
    message: anyText(row.message),
    type: error.type,
    code,
    param: row.param ?? null,
    request_id: id,
    doc_url: anyText(new RegExp(`/errors#${code}$`)),
    ...row.fields,
  };
  return {
    status,
    headers: {
      "content-type": "application/json",
      "content-length": anyText(/^\d+$/),
      date: anyText(/ GMT$/),
      server: "inference-gateway",
      "x-should-retry": String(status === 429 || status >= 500),
      ...formatIds(row),
      ...formatRate(row, protocol),
      ...(row.retryAfter === undefined ? {} : { "retry-after": row.retryAfter }),
      // Envoy takes each 400 of its own and of a filter for broken HTTP and closes an HTTP/1.1 connection after it.
      ...(row.closes === true || status === 400 ? { connection: "close" } : {}),
      ...row.headers,
    },
    body:
      protocol !== "messages"
        ? { error: object }
        : { type: "error", error: { ...object, details: { error_code: code } }, request_id: id },
  };
}

function formatIds(row: ProvokedError): object {
  const id = anyText(row.caller === "unread" ? UNREAD_REQUEST_ID : REQUEST_ID);
  return { "x-request-id": id, "request-id": id };
}

function formatRate(row: ProvokedError, protocol: ProtocolName): object {
  if (row.caller !== undefined) return { "x-service-ratelimit-remaining": "0" };
  const remaining = anyText(/^\d+$/);
  const always = { "x-service-ratelimit-remaining": remaining };
  return protocol !== "messages"
    ? {
        ...always,
        "x-ratelimit-limit-requests": anyText(/^\d+$/),
        "x-ratelimit-remaining-requests": remaining,
        "x-ratelimit-reset-requests": anyText(/^(?:\d+h)?(?:\d+m)?[\d.]+m?s$/),
      }
    : {
        ...always,
        "anthropic-ratelimit-requests-limit": anyText(/^\d+$/),
        "anthropic-ratelimit-requests-remaining": remaining,
        "anthropic-ratelimit-requests-reset": anyText(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      };
}
