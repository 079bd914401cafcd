import { docUrlOf } from "../../shared/contract/error-reference.ts";
import type { GatewayError } from "../../shared/contract/errors.ts";

/** The object under `error` in every error of the gateway, on every route. */
export interface ErrorObject {
  readonly message: string;
  readonly type: string;
  readonly code: string;
  readonly param: string | null;
  readonly request_id: string | null;
  readonly doc_url: string;
  /** Extra fields of an error: `scope`, `spent_cents`, …. */
  readonly [field: string]: string | number | boolean | null;
}

/** Creates the object, the same for all protocols. It contains public values only. */
export function createErrorObject(error: GatewayError, requestId: string | null): ErrorObject {
  return {
    message: error.message,
    type: error.type,
    code: error.publicCode,
    param: error.param,
    request_id: requestId,
    // An upstream's own code has no documentation entry; the gateway's code has.
    doc_url: docUrlOf(error.ownCode),
    ...error.fields,
  };
}
