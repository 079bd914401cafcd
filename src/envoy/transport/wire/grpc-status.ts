/** Status codes that we send. @see https://grpc.io/docs/guides/status-codes/ */
export const GRPC_STATUS = {
  ok: 0,
  deadlineExceeded: 4,
  notFound: 5,
  resourceExhausted: 8,
  aborted: 10,
  unimplemented: 12,
  internal: 13,
} as const;

/** One of `GRPC_STATUS`. */
export type GrpcStatusCode = (typeof GRPC_STATUS)[keyof typeof GRPC_STATUS];
