/** The compiled codec says what the generic one says: of every message, and of bytes that are none. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { ACCESS_LOG, CHECK, HEALTH_CHECK, HEALTH_WATCH, PROCESS } from "../../../src/envoy/messages/codec.ts";
import type {
  CheckRequest,
  CheckResponse,
  ProcessingRequest,
  ProcessingResponse,
} from "../../../src/envoy/messages/codec.ts";
import * as library from "../../../src/envoy/messages/generic-codec.ts";
import { runs } from "../../support/extent.ts";

const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 20 }),
  fc.constantFrom("", ":path", "x-request-id", "content-type", "constructor", "a".repeat(300)),
);
const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));
const texts = fc.array(text, { maxLength: 4 });
const textMap = fc.dictionary(text, text, { maxKeys: 5 });

/** Any of the fields set, the others absent. */
function some<T>(fields: { [Key in keyof T]: fc.Arbitrary<T[Key]> }): fc.Arbitrary<Partial<T>> {
  return fc.record(fields, { requiredKeys: [] }) as fc.Arbitrary<Partial<T>>;
}

/** At most one of the members of a oneof. */
function oneOf(members: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<object> {
  return fc.oneof(
    fc.constant({}),
    ...Object.entries(members).map(([name, value]) => value.map((set) => ({ [name]: set }))),
  );
}

const { struct } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    text.map((stringValue) => ({ stringValue })),
    fc.double().map((numberValue) => ({ numberValue })),
    fc.boolean().map((boolValue) => ({ boolValue })),
    fc.constant({ nullValue: "NULL_VALUE" }),
    tie("struct").map((structValue) => ({ structValue })),
    fc.array(tie("value"), { maxLength: 2 }).map((values) => ({ listValue: { values } })),
  ),
  struct: fc.oneof(
    { depthSize: "small" },
    fc.constant({}),
    fc.dictionary(text, tie("value"), { maxKeys: 4 }).map((fields) => ({ fields })),
  ),
}));

const header = some({ key: text, value: text, raw_value: bytes });
const headerOption = some({
  header,
  append_action: fc.constantFrom("APPEND_IF_EXISTS_OR_ADD", "OVERWRITE_IF_EXISTS_OR_ADD", "ADD_IF_ABSENT", 3),
});
const headerOptions = fc.array(headerOption, { maxLength: 5 });
const headerMap = some({ headers: fc.array(header, { maxLength: 6 }) });
const httpStatus = some({ code: fc.constantFrom("OK", "TooManyRequests", 529, 403, 0) });

const checkRequest = some({
  attributes: some({
    request: some({
      http: some({
        id: text,
        method: text,
        headers: textMap,
        path: text,
        host: text,
        scheme: text,
        size: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
        protocol: text,
      }),
    }),
    context_extensions: textMap,
    metadata_context: some({ filter_metadata: fc.dictionary(text, struct, { maxKeys: 3 }) }),
  }),
}) as fc.Arbitrary<CheckRequest>;

const checkResponse = fc
  .tuple(
    some({
      status: some({ code: fc.integer({ min: -2, max: 20 }), message: text }),
      dynamic_metadata: struct,
    }),
    oneOf({
      denied_response: some({ status: httpStatus, headers: headerOptions, body: text }),
      ok_response: some({
        headers: headerOptions,
        headers_to_remove: texts,
        response_headers_to_add: headerOptions,
      }),
    }),
  )
  .map(([message, member]) => ({ ...message, ...member }) as CheckResponse);

const bodyMode = fc.constantFrom("NONE", "STREAMED", "BUFFERED", "FULL_DUPLEX_STREAMED");
const httpHeaders = some({ headers: headerMap, end_of_stream: fc.boolean() });
const httpBody = some({ body: bytes, end_of_stream: fc.boolean() });
const processingRequest = fc
  .tuple(
    some({
      attributes: fc.dictionary(text, struct, { maxKeys: 3 }),
      protocol_config: some({ request_body_mode: bodyMode }),
    }),
    oneOf({
      request_headers: httpHeaders,
      response_headers: httpHeaders,
      request_body: httpBody,
      response_body: httpBody,
      request_trailers: some({ trailers: headerMap }),
      response_trailers: some({ trailers: headerMap }),
    }),
  )
  .map(([message, member]) => ({ ...message, ...member }) as ProcessingRequest);

const mutation = some({ set_headers: headerOptions, remove_headers: texts });
const phase = some({
  response: some({
    status: fc.constantFrom("CONTINUE", "CONTINUE_AND_REPLACE"),
    header_mutation: mutation,
    body_mutation: oneOf({
      body: bytes,
      clear_body: fc.boolean(),
      streamed_response: some({ body: bytes, end_of_stream: fc.boolean() }),
    }),
    clear_route_cache: fc.boolean(),
  }),
});
const headerMode = fc.constantFrom("DEFAULT", "SEND", "SKIP");
const processingResponse = fc
  .tuple(
    some({
      dynamic_metadata: struct,
      mode_override: some({
        request_header_mode: headerMode,
        response_header_mode: headerMode,
        request_body_mode: bodyMode,
        response_body_mode: bodyMode,
        request_trailer_mode: headerMode,
        response_trailer_mode: headerMode,
      }),
    }),
    oneOf({
      request_headers: phase,
      response_headers: phase,
      request_body: phase,
      response_body: phase,
      request_trailers: some({ header_mutation: mutation }),
      response_trailers: some({ header_mutation: mutation }),
      immediate_response: some({
        status: httpStatus,
        headers: mutation,
        body: bytes,
        grpc_status: some({ status: fc.nat() }),
        details: text,
      }),
    }),
  )
  .map(([message, member]) => ({ ...message, ...member }) as ProcessingResponse);

const accessLog = some({
  http_logs: some({
    log_entry: fc.array(
      some({
        common_properties: some({ custom_tags: fc.dictionary(text, text, { maxKeys: 3 }) }),
        request: some({ request_id: text }),
        response: some({
          response_code: some({ value: fc.integer({ min: 0, max: 2 ** 32 - 1 }) }),
          response_code_details: text,
        }),
      }),
      { maxLength: 3 },
    ),
  }),
});
const health = some({ service: text });
const healthReply = some({
  status: fc.constantFrom("UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"),
});

/** What a decoder makes of bytes, whether a message or an error. */
function outcome(decode: (bytes: Buffer) => unknown, of: Buffer): unknown {
  try {
    return decode(of);
  } catch {
    return "refused";
  }
}

const RUNS = { numRuns: runs(1_000) };

describe.each([
  { name: "CheckRequest", by: CHECK, generic: library.GENERIC_CHECK, messages: checkRequest },
  { name: "ProcessingRequest", by: PROCESS, generic: library.GENERIC_PROCESS, messages: processingRequest },
  {
    name: "StreamAccessLogsMessage",
    by: ACCESS_LOG,
    generic: library.GENERIC_ACCESS_LOG,
    messages: accessLog,
  },
  { name: "HealthCheckRequest", by: HEALTH_CHECK, generic: library.GENERIC_HEALTH_CHECK, messages: health },
] as const)("decoding a $name", ({ by, generic, messages }) => {
  const encode = generic.encodeRequest as (message: unknown) => Buffer;

  it("gives what the generic decoder gives", () => {
    fc.assert(
      fc.property(messages as fc.Arbitrary<unknown>, (message) => {
        const encoded = encode(message);
        expect(by.decodeRequest(encoded)).toEqual(generic.decodeRequest(encoded));
      }),
      RUNS,
    );
  });

  it("gives the same of bytes that are broken, or of no message at all", () => {
    const broken = fc
      .tuple(messages as fc.Arbitrary<unknown>, fc.nat(), fc.nat({ max: 255 }))
      .map(([message, at, byte]) => {
        const encoded = Buffer.from(encode(message));
        if (encoded.length > 0) encoded[at % encoded.length] = byte;
        return encoded;
      });
    fc.assert(
      fc.property(fc.oneof(broken, bytes), (encoded) => {
        expect(outcome(by.decodeRequest, encoded)).toEqual(outcome(generic.decodeRequest, encoded));
      }),
      RUNS,
    );
  });
});

describe.each([
  { name: "CheckResponse", by: CHECK, generic: library.GENERIC_CHECK, messages: checkResponse },
  { name: "ProcessingResponse", by: PROCESS, generic: library.GENERIC_PROCESS, messages: processingResponse },
  {
    name: "HealthCheckResponse",
    by: HEALTH_WATCH,
    generic: library.GENERIC_HEALTH_WATCH,
    messages: healthReply,
  },
] as const)("encoding a $name", ({ by, generic, messages }) => {
  it("gives the bytes that the generic encoder gives", () => {
    const encode = (codec: typeof by) => codec.encodeResponse as (message: unknown) => Buffer;
    fc.assert(
      fc.property(messages as fc.Arbitrary<unknown>, (message) => {
        expect(encode(by)(message).toString("hex")).toBe(encode(generic)(message).toString("hex"));
      }),
      RUNS,
    );
  });
});

describe("encoding a large body", () => {
  const metadata = { fields: { a: { stringValue: "b" } } };
  it.each([
    { name: "whole", mutation: (body: Buffer) => ({ body }) },
    { name: "streamed", mutation: (body: Buffer) => ({ streamed_response: { body, end_of_stream: true } }) },
  ])("leaves one that is $name as it is, among the bytes that the generic encoder gives", ({ mutation }) => {
    for (const length of [1, 16_383, 16_384, 70_000]) {
      const body = Buffer.alloc(length, "body");
      const reply = {
        response_body: {
          response: {
            header_mutation: { remove_headers: ["x-a"] },
            body_mutation: mutation(body),
            clear_route_cache: true,
          },
        },
        dynamic_metadata: metadata,
      };
      const parts = PROCESS.encodeResponseParts(reply);
      expect(Buffer.concat(parts).equals(library.GENERIC_PROCESS.encodeResponse(reply))).toBe(true);
      expect(PROCESS.encodeResponse(reply).equals(Buffer.concat(parts))).toBe(true);
      expect(parts.includes(body)).toBe(length >= 16_384);
    }
  });
});
