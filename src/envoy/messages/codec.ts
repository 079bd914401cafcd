/**
 * Codecs of messages, for all transports. Messages of every request have compiled codecs; the others use
 * the library, which is loaded with the first message that needs it: that takes 0.1 s of CPU.
 * Fields that a decoded message does not set are absent, without defaults; enums are names, `bytes` are
 * Buffers. Two traps when encoding: unknown fields are silently dropped, so build replies with these types
 * and without casts; and a string in a `bytes` field is read as base64, so bodies and `raw_value` must be
 * Buffers.
 */
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { programModule } from "../../shared/host/package-files.ts";
import { encodeOnce } from "./constant-replies.ts";
import { decoderOf } from "./decode-messages.ts";
import { encoderOf } from "./encode-messages.ts";
import type { Message } from "./messages.ts";
import { Unusual } from "./protobuf-reader.ts";

export type CheckRequest = Message<"CheckRequest">;
/** Reply to ext_authz. Header values go into `value`: Envoy ignores `raw_value` here. */
export type CheckResponse = Message<"CheckResponse">;
/** One message of Envoy on an ext_proc stream. Header values are in `raw_value`. */
export type ProcessingRequest = Message<"ProcessingRequest">;
/** Reply on an ext_proc stream. Header values go into `raw_value`: Envoy ignores `value` here. */
export type ProcessingResponse = Message<"ProcessingResponse">;
/** Entries of Envoy's access log. */
export type StreamAccessLogsMessage = Message<"StreamAccessLogsMessage">;
/** Request of a gRPC health check. */
export type HealthCheckRequest = Message<"HealthCheckRequest">;
/** Response to a gRPC health check. */
export type HealthCheckResponse = Message<"HealthCheckResponse">;

/** One method of a gRPC service: its HTTP path and its messages on the wire. */
export interface MethodCodec<Request, Response> {
  /** `:path` of the call. */
  readonly path: string;
  /** Throws if the bytes are not such a message. Bytes fields are views of the argument, not copies. */
  readonly decodeRequest: (bytes: Buffer) => Request;
  readonly encodeResponse: (response: Response) => Buffer;
  /** Encodes to consecutive parts: large bodies are not copied. */
  readonly encodeResponseParts: (response: Response) => readonly Buffer[];
  /** Client's side, for tests and probes. */
  readonly encodeRequest: (request: Request) => Buffer;
  readonly decodeResponse: (bytes: Buffer) => Response;
}

/** Exports of generic-codec.ts, which needs this module's types. */
interface GenericCodecs {
  readonly GENERIC_CHECK: MethodCodec<CheckRequest, CheckResponse>;
  readonly GENERIC_PROCESS: MethodCodec<ProcessingRequest, ProcessingResponse>;
  readonly GENERIC_ACCESS_LOG: MethodCodec<StreamAccessLogsMessage, object>;
  readonly GENERIC_HEALTH_CHECK: MethodCodec<HealthCheckRequest, HealthCheckResponse>;
  readonly GENERIC_HEALTH_WATCH: MethodCodec<HealthCheckRequest, HealthCheckResponse>;
}

let loaded: GenericCodecs | undefined;

function generic(): GenericCodecs {
  return (loaded ??= loadGeneric());
}

function loadGeneric(): GenericCodecs {
  const path = fileURLToPath(programModule("envoy/messages/generic-codec"));
  return createRequire(path)(path) as GenericCodecs;
}

/** ext_authz. */
export const CHECK = compiled({
  path: "/envoy.service.auth.v3.Authorization/Check",
  generic: () => generic().GENERIC_CHECK,
  decode: decoderOf("CheckRequest"),
  encode: encoderOf("CheckResponse"),
});
/** ext_proc. */
export const PROCESS = withConstants(
  compiled({
    path: "/envoy.service.ext_proc.v3.ExternalProcessor/Process",
    generic: () => generic().GENERIC_PROCESS,
    decode: decoderOf("ProcessingRequest"),
    encode: encoderOf("ProcessingResponse"),
  }),
);
/** Envoy's access log: a stream of messages without replies. */
export const ACCESS_LOG = compiled({
  path: "/envoy.service.accesslog.v3.AccessLogService/StreamAccessLogs",
  generic: () => generic().GENERIC_ACCESS_LOG,
  decode: decoderOf("StreamAccessLogsMessage"),
  encode: () => null,
});
/** gRPC health checks. */
export const HEALTH_CHECK = compiled({
  path: "/grpc.health.v1.Health/Check",
  generic: () => generic().GENERIC_HEALTH_CHECK,
  decode: decoderOf("HealthCheckRequest"),
  encode: encoderOf("HealthCheckResponse"),
});
/** gRPC health checks as a stream of changes. */
export const HEALTH_WATCH = compiled({
  path: "/grpc.health.v1.Health/Watch",
  generic: () => generic().GENERIC_HEALTH_WATCH,
  decode: decoderOf("HealthCheckRequest"),
  encode: encoderOf("HealthCheckResponse"),
});

/** Encodes constant replies only once. */
function withConstants(
  codec: MethodCodec<ProcessingRequest, ProcessingResponse>,
): MethodCodec<ProcessingRequest, ProcessingResponse> {
  return {
    ...codec,
    encodeResponse: (response) => join(encodeOnce(response, codec.encodeResponseParts)),
    encodeResponseParts: (response) => encodeOnce(response, codec.encodeResponseParts),
  };
}

interface CompiledCodec<Request, Response> {
  readonly path: string;
  readonly generic: () => MethodCodec<Request, Response>;
  /** @throws Unusual, or RangeError at the end of the bytes */
  readonly decode: (bytes: Buffer) => Request;
  /** Returns null for rare messages. */
  readonly encode: (response: Response) => Buffer[] | null;
}

/** Uses the compiled decoder and encoder for common messages, and the generic ones for the rest. */
function compiled<Request, Response>(
  messages: CompiledCodec<Request, Response>,
): MethodCodec<Request, Response> {
  const { path, generic: codec, decode, encode } = messages;
  const encodeResponseParts = (response: Response): readonly Buffer[] =>
    encode(response) ?? [codec().encodeResponse(response)];
  return {
    path,
    decodeRequest(bytes) {
      try {
        return decode(bytes);
      } catch (error) {
        if (error instanceof Unusual || error instanceof RangeError) return codec().decodeRequest(bytes);
        throw error;
      }
    },
    encodeResponse: (response) => join(encodeResponseParts(response)),
    encodeResponseParts,
    encodeRequest: (request) => codec().encodeRequest(request),
    decodeResponse: (bytes) => codec().decodeResponse(bytes),
  };
}

function join(parts: readonly Buffer[]): Buffer {
  const [first, ...rest] = parts;
  return first !== undefined && rest.length === 0 ? first : Buffer.concat(parts);
}
