import { GatewayError } from "../../../shared/contract/errors.ts";

/** The upstream's answer is unusable; `problem` is logged. */
export function brokenAnswer(problem: string, cause?: unknown): GatewayError {
  return new GatewayError("upstream_error", {
    cause: new Error(`the upstream's response is unusable: ${problem}`, { cause }),
  });
}
