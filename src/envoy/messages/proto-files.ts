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
