import { docUrlOf } from "../../shared/contract/error-reference.ts";
import type { GatewayError } from "../../shared/contract/errors.ts";

/** The object under `error` that every error of this gateway has, on every route. */
export interface ErrorObject {
  readonly message: string;
  readonly type: string;
  readonly code: string;
  readonly param: string | null;
  readonly request_id: string | null;
  readonly doc_url: string;
  /** What the error adds: `scope`, `spent_cents` …. */
  readonly [field: string]: string | number | boolean | null;
}

/** The same for all protocols; only public values are in it. */
export function createErrorObject(error: GatewayError, requestId: string | null): ErrorObject {
  return {
    message: error.message,
    type: error.type,
    code: error.publicCode,
    param: error.param,
    request_id: requestId,
    // An upstream's own code has no entry: the one of the gateway's code says what to do.
    doc_url: docUrlOf(error.ownCode),
    ...error.fields,
  };
}
