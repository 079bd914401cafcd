/** What became of a request's admission. */
import type { Admission } from "../../limits/admission.ts";
import type { Reply } from "../reply.ts";

/** What the access log tells of a request that ended at ext_authz. */
export interface RefusalLog {
  readonly keyId: string | null;
  readonly organizationId: string | null;
  readonly errorCode: string | null;
}

export interface Refusal {
  readonly kind: "refused";
  readonly reply: Reply;
  readonly log: RefusalLog;
}

export type Decision = { readonly kind: "admitted"; readonly admission: Admission } | Refusal;

/** No key is known. */
export const NOBODY: RefusalLog = { keyId: null, organizationId: null, errorCode: null };
