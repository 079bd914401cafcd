/**
 * Bytes on the wire ⇄ messages, for all transports. The API files are read once, when this module is loaded.
 *
 * What a decoded message does not set is absent, not a default; enums are their names, `bytes` are Buffers. Two traps on
 * the way out: an encoder drops fields that it does not know without a word, so replies must be built with these types
 * and never with a cast; and it takes a string in a `bytes` field for base64, so bodies and `raw_value` must be Buffers.
 */
import { loadSync, type ServiceDefinition } from "@grpc/proto-loader";

import type { CheckRequest__Output } from "./generated/envoy/service/auth/v3/CheckRequest.ts";
import type { CheckResponse as GeneratedCheckResponse } from "./generated/envoy/service/auth/v3/CheckResponse.ts";
import type { StreamAccessLogsMessage__Output } from "./generated/envoy/service/accesslog/v3/StreamAccessLogsMessage.ts";
import type { StreamAccessLogsResponse } from "./generated/envoy/service/accesslog/v3/StreamAccessLogsResponse.ts";
import type { ProcessingRequest__Output } from "./generated/envoy/service/ext_proc/v3/ProcessingRequest.ts";
import type { ProcessingResponse as GeneratedProcessingResponse } from "./generated/envoy/service/ext_proc/v3/ProcessingResponse.ts";
import type { HealthCheckRequest__Output } from "./generated/grpc/health/v1/HealthCheckRequest.ts";
import type { HealthCheckResponse as GeneratedHealthCheckResponse } from "./generated/grpc/health/v1/HealthCheckResponse.ts";
import { encodeOnce } from "./constant-replies.ts";
import { decodeCheckRequest, decodeProcessingRequest } from "./decode-requests.ts";
import { encodeCheckResponse, encodeProcessingResponse } from "./encode-replies.ts";
import { PROTO_FOLDER, SERVICE_FILES } from "./proto-files.ts";
import { Unusual } from "./protobuf-reader.ts";

/** What ext_authz asks. */
export type CheckRequest = CheckRequest__Output;
/** What ext_authz is answered. Header values go into `value`: Envoy ignores `raw_value` here. */
export type CheckResponse = GeneratedCheckResponse;
/** One message of Envoy on an ext_proc stream. Header values are in `raw_value`. */
export type ProcessingRequest = ProcessingRequest__Output;
/** One reply on an ext_proc stream. Header values go into `raw_value`: Envoy ignores `value` here. */
export type ProcessingResponse = GeneratedProcessingResponse;
/** Entries of Envoy's access log. */
export type AccessLogMessage = StreamAccessLogsMessage__Output;
/** What a gRPC health check asks. */
export type HealthCheckRequest = HealthCheckRequest__Output;
/** What a gRPC health check is answered. */
export type HealthCheckResponse = GeneratedHealthCheckResponse;

/** One method of a gRPC service: its HTTP path and its messages on the wire. */
export interface MethodCodec<Request, Response> {
  /** `:path` of the call. */
  readonly path: string;
  /** Throws when the bytes are not such a message. Bytes fields are views of the argument, not copies. */
  readonly decodeRequest: (bytes: Buffer) => Request;
  readonly encodeResponse: (response: Response) => Buffer;
  /** The same, one part after the other: large bodies are not copied. */
  readonly encodeResponseParts: (response: Response) => readonly Buffer[];
  /** The client's side, for tests and probes. */
  readonly encodeRequest: (request: Request) => Buffer;
  readonly decodeResponse: (bytes: Buffer) => Response;
}

const definitions = loadSync([...SERVICE_FILES], {
  includeDirs: [PROTO_FOLDER],
  keepCase: true,
  longs: String,
  enums: String,
  oneofs: true,
  defaults: false,
});

/** ext_authz, by the generic codec alone: what the one by hand is held equal to. */
export const GENERIC_CHECK = codecOf<CheckRequest, CheckResponse>(
  "envoy.service.auth.v3.Authorization",
  "Check",
);
/** ext_proc, by the generic codec alone: what the one by hand is held equal to. */
export const GENERIC_PROCESS = codecOf<ProcessingRequest, ProcessingResponse>(
  "envoy.service.ext_proc.v3.ExternalProcessor",
  "Process",
);
/** ext_authz. */
export const CHECK = byHand(GENERIC_CHECK, decodeCheckRequest, encodeCheckResponse);
/** ext_proc. */
export const PROCESS = withConstants(
  byHand(GENERIC_PROCESS, decodeProcessingRequest, encodeProcessingResponse),
);
/** Envoy's access log: a stream of messages that none answers. */
export const ACCESS_LOG = codecOf<AccessLogMessage, StreamAccessLogsResponse>(
  "envoy.service.accesslog.v3.AccessLogService",
  "StreamAccessLogs",
);
/** gRPC health checks. */
export const HEALTH_CHECK = codecOf<HealthCheckRequest, HealthCheckResponse>(
  "grpc.health.v1.Health",
  "Check",
);
/** gRPC health checks as a stream of changes. */
export const HEALTH_WATCH = codecOf<HealthCheckRequest, HealthCheckResponse>(
  "grpc.health.v1.Health",
  "Watch",
);

function codecOf<Request, Response>(service: string, method: string): MethodCodec<Request, Response> {
  const methods = definitions[service] as ServiceDefinition | undefined;
  const definition = methods?.[method];
  if (definition === undefined) throw new Error(`${service}/${method} is not in ${PROTO_FOLDER}`);
  const encodeResponse = definition.responseSerialize as (response: Response) => Buffer;
  return {
    path: definition.path,
    decodeRequest: definition.requestDeserialize as (bytes: Buffer) => Request,
    encodeResponse,
    encodeResponseParts: (response) => [encodeResponse(response)],
    encodeRequest: definition.requestSerialize as (request: Request) => Buffer,
    decodeResponse: definition.responseDeserialize as (bytes: Buffer) => Response,
  };
}

/** What was marked as constant is encoded once. */
function withConstants(
  codec: MethodCodec<ProcessingRequest, ProcessingResponse>,
): MethodCodec<ProcessingRequest, ProcessingResponse> {
  return {
    ...codec,
    encodeResponse: (response) => join(encodeOnce(response, codec.encodeResponseParts)),
    encodeResponseParts: (response) => encodeOnce(response, codec.encodeResponseParts),
  };
}

/** Decoder and encoder by hand for what is usual; the generic ones for the rest. */
function byHand<Request, Response>(
  generic: MethodCodec<Request, Response>,
  decode: (bytes: Buffer) => Request,
  encode: (response: Response) => Buffer[] | null,
): MethodCodec<Request, Response> {
  const encodeResponseParts = (response: Response): readonly Buffer[] =>
    encode(response) ?? [generic.encodeResponse(response)];
  return {
    ...generic,
    decodeRequest(bytes) {
      try {
        return decode(bytes);
      } catch (error) {
        if (error instanceof Unusual || error instanceof RangeError) return generic.decodeRequest(bytes);
        throw error;
      }
    },
    encodeResponse: (response) => join(encodeResponseParts(response)),
    encodeResponseParts,
  };
}

function join(parts: readonly Buffer[]): Buffer {
  const [first, ...others] = parts;
  return first !== undefined && others.length === 0 ? first : Buffer.concat(parts);
}
