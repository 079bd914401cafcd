import type { GatewayError } from "../../../shared/contract/errors.ts";
import type { Logger } from "../../../shared/host/logger.ts";

/**
 * Logs an upstream's failure.
 * @param status The upstream's status, if it gave one.
 */
export function logFailedUpstream(
  logger: Logger<"warn">,
  request: { readonly requestId: string; readonly model: string | null },
  error: GatewayError,
  status?: number,
): void {
  logger.warn(
    {
      request_id: request.requestId,
      model: request.model,
      code: error.code,
      upstream_status: status,
      err: error.cause,
    },
    "upstream failed",
  );
}
