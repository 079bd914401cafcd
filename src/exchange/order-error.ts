import { GatewayError } from "../contract/errors.ts";

/** Envoy's messages came in an order that they never come in. */
export function createOrderError(message: string): GatewayError {
  return new GatewayError("internal_error", { cause: new Error(message) });
}
