/** Handwritten codec of gRPC health checks, which Envoy sends twice a second. */
import type { HealthCheckRequest__Output } from "./generated/grpc/health/v1/HealthCheckRequest.ts";
import type { HealthCheckResponse } from "./generated/grpc/health/v1/HealthCheckResponse.ts";
import { checkEnd, ProtobufReader, skip } from "./protobuf-reader.ts";

const SERVING = Buffer.from([0x08, 1]);
const NOT_SERVING = Buffer.from([0x08, 2]);

/** @throws Unusual if the generic decoder must read the message. */
export function decodeHealthCheck(bytes: Buffer): HealthCheckRequest__Output {
  const reader = new ProtobufReader(bytes);
  let service: string | undefined;
  while (reader.at < bytes.length) {
    const tag = reader.readUInt32();
    if (tag === 0x0a) service = reader.readText();
    else skip(reader, tag, [1]);
  }
  checkEnd(reader, bytes.length);
  return service === undefined ? {} : { service };
}

/** Returns null if the generic encoder must do it. */
export function encodeHealth({ status }: HealthCheckResponse): Buffer[] | null {
  if (status === "SERVING") return [SERVING];
  return status === "NOT_SERVING" ? [NOT_SERVING] : null;
}
