/**
 * Codecs of the library, built from the API files when this module is loaded. They are the reference for the
 * compiled codecs and handle all rare messages. A worker loads them with the first message that needs
 * them.
 */
import { loadSync, type ServiceDefinition } from "@grpc/proto-loader";
import type {
  StreamAccessLogsMessage,
  CheckRequest,
  CheckResponse,
  HealthCheckRequest,
  HealthCheckResponse,
  MethodCodec,
  ProcessingRequest,
  ProcessingResponse,
} from "./codec.ts";
import { fileURLToPath } from "node:url";
import { packageFile } from "../../shared/host/package-files.ts";

/** Absolute directory of the API files. */
export const PROTO_FOLDER = fileURLToPath(packageFile("proto/"));

/** The files that define the services that Envoy calls, relative to `PROTO_FOLDER`; they import the others. */
export const SERVICE_FILES = [
  "envoy/service/auth/v3/external_auth.proto",
  "envoy/service/ext_proc/v3/external_processor.proto",
  "envoy/service/accesslog/v3/als.proto",
  "grpc/health/v1/health.proto",
] as const;

const definitions = loadSync([...SERVICE_FILES], {
  includeDirs: [PROTO_FOLDER],
  keepCase: true,
  longs: String,
  enums: String,
  oneofs: true,
  defaults: false,
});

/** ext_authz. */
export const GENERIC_CHECK = codecOf<CheckRequest, CheckResponse>(
  "envoy.service.auth.v3.Authorization",
  "Check",
);
/** ext_proc. */
export const GENERIC_PROCESS = codecOf<ProcessingRequest, ProcessingResponse>(
  "envoy.service.ext_proc.v3.ExternalProcessor",
  "Process",
);
/** Envoy's access log. */
export const GENERIC_ACCESS_LOG = codecOf<StreamAccessLogsMessage, object>(
  "envoy.service.accesslog.v3.AccessLogService",
  "StreamAccessLogs",
);
/** gRPC health checks. */
export const GENERIC_HEALTH_CHECK = codecOf<HealthCheckRequest, HealthCheckResponse>(
  "grpc.health.v1.Health",
  "Check",
);
/** gRPC health checks as a stream of changes. */
export const GENERIC_HEALTH_WATCH = codecOf<HealthCheckRequest, HealthCheckResponse>(
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
