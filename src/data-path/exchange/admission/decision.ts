/** Results of admissions. */
import type { Admission } from "../../limits/admission.ts";
import type { Reply } from "../reply.ts";

/** Access log fields of a request that ended at ext_authz. */
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

/** The API key is unknown. */
export const NO_OWNERS: RefusalLog = { keyId: null, organizationId: null, errorCode: null };
