/**
 * Content types that Envoy treats as gRPC: it writes its own replies to such requests in gRPC's form.
 * `application/grpc-web` is an ordinary content type.
 */
export const GRPC_TYPE = "application/grpc(?:[+].*)?";

const PATTERN = new RegExp(`^${GRPC_TYPE}$`);

export function isGrpcType(contentType: string | undefined): boolean {
  return contentType !== undefined && PATTERN.test(contentType);
}
