import { createHash } from "node:crypto";

import { describe, expect, it } from "vitest";

import { ACCESS_LOG, CHECK, HEALTH_CHECK, HEALTH_WATCH, PROCESS } from "../../../src/envoy/messages/codec.ts";
import * as library from "../../../src/envoy/messages/generic-codec.ts";
import type { Message } from "../../../src/envoy/messages/messages.ts";

/**
 * Every field of a message set: `Required` makes the compiler complain when `proto/` gets a field that a message below lacks, and
 * the round trips fail when an encoder does not know a field or drops it.
 */
type Full<T> = T extends Buffer | Message<"Struct"> | string | number | boolean
  ? T
  : T extends (infer Item)[]
    ? Full<Item>[]
    : { [Key in keyof T]-?: Full<NonNullable<T[Key]>> };

const BODY = Buffer.alloc(32 * 1024 * 1024, "0123456789abcdef");
const STRUCT: Message<"Struct"> = {
  fields: {
    text: { stringValue: "text", kind: "stringValue" },
    number: { numberValue: 1.5, kind: "numberValue" },
    flag: { boolValue: true, kind: "boolValue" },
    nothing: { nullValue: "NULL_VALUE", kind: "nullValue" },
    list: { listValue: { values: [{ numberValue: 1, kind: "numberValue" }] }, kind: "listValue" },
    nested: {
      structValue: { fields: { a: { stringValue: "b", kind: "stringValue" } } },
      kind: "structValue",
    },
  },
};

function headers(count: number): Full<Message<"HeaderValueOption">>[] {
  const actions = [
    "ADD_IF_ABSENT",
    "OVERWRITE_IF_EXISTS_OR_ADD",
    "OVERWRITE_IF_EXISTS",
    "APPEND_IF_EXISTS_OR_ADD",
  ] as const;
  return Array.from({ length: count }, (_, index) => ({
    header: { key: `x-${index}`, value: `value ${index}`, raw_value: Buffer.from([index % 256, 0xff]) },
    append_action: actions[index % actions.length] ?? "ADD_IF_ABSENT",
  }));
}

/** The library has names for common statuses; we only send numbers. */
const NAMED_STATUS = "TooManyRequests" as unknown as number;

const HEADER_MAP = { headers: headers(100).flatMap(({ header }) => header ?? []) };
const HEADER_MUTATION = { set_headers: headers(50), remove_headers: ["a", "b"] };
const REPLACED: Message<"BodyMutation"> = { body: BODY, mutation: "body" };
const CLEARED: Message<"BodyMutation"> = { clear_body: true, mutation: "clear_body" };

/** Of a oneof, one member at a time. */
type WithoutOneofs<T> = Full<Omit<T, "body_mutation">> & { body_mutation: Message<"BodyMutation"> };

function common(mutation: Message<"BodyMutation">): WithoutOneofs<Message<"CommonResponse">> {
  return {
    status: "CONTINUE_AND_REPLACE",
    header_mutation: HEADER_MUTATION,
    body_mutation: mutation,
    clear_route_cache: true,
  };
}

const CHECK_REQUEST: Full<Message<"CheckRequest">> = {
  attributes: {
    request: {
      http: {
        id: "id",
        method: "POST",
        headers: Object.fromEntries(headers(100).map(({ header }) => [header?.key, header?.value])),
        path: "/v1/chat/completions?a=b",
        host: "gateway.example",
        scheme: "https",
        size: "9007199254740993",
        protocol: "HTTP/2",
      },
    },
    context_extensions: { route: "chat" },
    metadata_context: { filter_metadata: { "envoy.filters.http.jwt_authn": STRUCT } },
  },
};

type CheckReplies = Full<Omit<Message<"CheckResponse">, "http_response">>;
const CHECK_REPLIES = {
  status: { code: 7, message: "refused" },
  denied_response: { status: { code: NAMED_STATUS }, headers: headers(50), body: "body" },
  ok_response: { headers: headers(50), headers_to_remove: ["a", "b"], response_headers_to_add: headers(50) },
  dynamic_metadata: STRUCT,
} satisfies CheckReplies;

const REQUESTS: Full<Omit<Message<"ProcessingRequest">, "request" | "attributes" | "protocol_config">> = {
  request_headers: { headers: HEADER_MAP, end_of_stream: true },
  response_headers: { headers: HEADER_MAP, end_of_stream: true },
  request_body: { body: BODY, end_of_stream: true },
  response_body: { body: BODY, end_of_stream: true },
  request_trailers: { trailers: HEADER_MAP },
  response_trailers: { trailers: HEADER_MAP },
};

type Replies = Required<
  Omit<Message<"ProcessingResponse">, "response" | "dynamic_metadata" | "mode_override">
>;
const REPLIES = {
  request_headers: { response: common(REPLACED) },
  response_headers: { response: common(CLEARED) },
  request_body: { response: common(REPLACED) },
  response_body: { response: common(CLEARED) },
  request_trailers: { header_mutation: HEADER_MUTATION },
  response_trailers: { header_mutation: HEADER_MUTATION },
  immediate_response: {
    status: { code: NAMED_STATUS },
    headers: HEADER_MUTATION,
    body: BODY,
    grpc_status: { status: 8 },
    details: "gateway",
  } satisfies Full<NonNullable<Message<"ProcessingResponse">["immediate_response"]>>,
} satisfies Replies;

const REPLY_EXTRAS: Full<Pick<Message<"ProcessingResponse">, "dynamic_metadata" | "mode_override">> = {
  dynamic_metadata: STRUCT,
  mode_override: {
    request_header_mode: "SEND",
    response_header_mode: "SKIP",
    request_body_mode: "BUFFERED",
    response_body_mode: "STREAMED",
    request_trailer_mode: "SEND",
    response_trailer_mode: "SKIP",
  },
};

describe("codec", () => {
  it("carries a whole CheckRequest", () => {
    expect(CHECK.decodeRequest(CHECK.encodeRequest(CHECK_REQUEST))).toEqual(CHECK_REQUEST);
  });

  it.each(["denied_response", "ok_response"] as const)("carries a whole CheckResponse with %s", (member) => {
    const { status, dynamic_metadata } = CHECK_REPLIES;
    const response = { status, dynamic_metadata, [member]: CHECK_REPLIES[member], http_response: member };
    expect(CHECK.decodeResponse(CHECK.encodeResponse(response))).toEqual(response);
  });

  it.each(Object.keys(REQUESTS) as (keyof typeof REQUESTS)[])(
    "carries a whole ProcessingRequest with %s",
    (member) => {
      const attributes = { "envoy.filters.http.ext_proc": STRUCT };
      const protocol_config = { request_body_mode: "FULL_DUPLEX_STREAMED" } as const;
      const request = { attributes, protocol_config, [member]: REQUESTS[member], request: member };
      const carried = PROCESS.decodeRequest(PROCESS.encodeRequest(request));
      expect(withDigests(carried)).toEqual(withDigests(request));
    },
  );

  it.each(Object.keys(REPLIES) as (keyof typeof REPLIES)[])(
    "carries a whole ProcessingResponse with %s",
    (member) => {
      const response = { ...REPLY_EXTRAS, [member]: REPLIES[member], response: member };
      const carried = PROCESS.decodeResponse(PROCESS.encodeResponse(response));
      expect(withDigests(carried)).toEqual(withDigests(response));
    },
  );

  it("carries health checks", () => {
    expect(HEALTH_CHECK.decodeRequest(HEALTH_CHECK.encodeRequest({ service: "a" }))).toEqual({
      service: "a",
    });
    const response = { status: "NOT_SERVING" } as const;
    expect(HEALTH_WATCH.decodeResponse(HEALTH_WATCH.encodeResponse(response))).toEqual(response);
  });

  it("leaves out what is not set", () => {
    expect(PROCESS.decodeRequest(Buffer.alloc(0))).toEqual({});
    expect(CHECK.decodeRequest(Buffer.alloc(0))).toEqual({});
  });

  it("takes Uint8Array for bytes", () => {
    const response = { immediate_response: { body: new TextEncoder().encode("body") } };
    const decoded = PROCESS.decodeResponse(PROCESS.encodeResponse(response));
    expect(decoded.immediate_response?.body?.toString()).toBe("body");
  });

  it("carries a status that Envoy's enum does not list", () => {
    const response = { immediate_response: { status: { code: 529 as 503 } } };
    const decoded = PROCESS.decodeResponse(PROCESS.encodeResponse(response));
    expect(decoded.immediate_response?.status?.code).toBe(529);
  });

  it("decodes bodies as views of the message, without a copy", () => {
    const bytes = PROCESS.encodeRequest({ request_body: { body: BODY } });
    const { request_body } = PROCESS.decodeRequest(bytes);
    expect(Buffer.isBuffer(request_body?.body)).toBe(true);
    expect(request_body?.body?.buffer).toBe(bytes.buffer);
  });

  it("refuses bytes that are no message", () => {
    expect(() => PROCESS.decodeRequest(Buffer.from([0xff, 0xff, 0xff]))).toThrow(RangeError);
  });

  it("knows the paths of the API files", () => {
    const byHand = [CHECK, PROCESS, ACCESS_LOG, HEALTH_CHECK, HEALTH_WATCH].map(({ path }) => path);
    expect(byHand).toEqual(
      [
        library.GENERIC_CHECK,
        library.GENERIC_PROCESS,
        library.GENERIC_ACCESS_LOG,
        library.GENERIC_HEALTH_CHECK,
        library.GENERIC_HEALTH_WATCH,
      ].map(({ path }) => path),
    );
  });
});

/** `toEqual` compares buffers byte by byte in JavaScript, seconds at 32 MiB; their digests tell the same. */
function withDigests(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return createHash("sha256").update(value).digest("hex");
  if (Array.isArray(value)) return value.map(withDigests);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withDigests(item)]));
}
