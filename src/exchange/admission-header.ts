/**
 * An admission on its way from ext_authz to ext_proc, as one request header. Clients cannot forge it: Envoy removes what
 * they send under its prefix before routing, and ext_authz overwrites it.
 */
import type { Admission } from "../limits/admission.ts";

const NON_ASCII = /[^\x20-\x7e]/g;

/** One line of ASCII JSON. */
export function formatAdmissionHeader(admission: Admission): string {
  return JSON.stringify(admission).replace(
    NON_ASCII,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * The admission that this gateway's own ext_authz wrote.
 * @throws SyntaxError when it is no JSON, which only a broken filter chain can cause.
 */
export function parseAdmissionHeader(header: string): Admission {
  // Written by formatAdmissionHeader of the same deployment, behind a header that clients cannot set.
  return JSON.parse(header) as Admission;
}
