/**
 * Content types of gRPC, as Envoy tells them: it writes every reply of its own to such a request in gRPC's form.
 * `application/grpc-web` is a content type like any other.
 */
export const GRPC_TYPE = "application/grpc(?:[+].*)?";

const PATTERN = new RegExp(`^${GRPC_TYPE}$`);

export function isGrpcType(contentType: string | undefined): boolean {
  return contentType !== undefined && PATTERN.test(contentType);
}
