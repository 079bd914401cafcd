import { fileURLToPath } from "node:url";

/**
 * The folder of the API files, absolute. It lies at the top of the package, three levels above this file, both as source
 * and as compiled.
 */
export const PROTO_FOLDER = fileURLToPath(new URL("../../../proto/", import.meta.url));

/** The files that define the services that Envoy calls, relative to `PROTO_FOLDER`; they import the others. */
export const SERVICE_FILES = [
  "envoy/service/auth/v3/external_auth.proto",
  "envoy/service/ext_proc/v3/external_processor.proto",
  "grpc/health/v1/health.proto",
] as const;
