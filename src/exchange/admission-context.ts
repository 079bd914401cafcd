/**
 * What admission knows of a request, handed from ext_authz to ext_proc in one request header. Clients cannot forge it:
 * Envoy removes what they send under its prefix before routing, and the admission overwrites it.
 */
import type { RateState } from "../limits/rate-headers.ts";
import type { ProtocolName } from "../translation/client-protocol.ts";
import type { EndpointName } from "./endpoints.ts";

export interface AdmissionContext {
  /** `req_` + UUID v7. */
  readonly requestId: string;
  readonly endpoint: EndpointName;
  readonly protocol: ProtocolName;
  /** "POST /v1/messages", for the list of recent requests. */
  readonly route: string;
  /** The model or request id in the path, or null. */
  readonly resource: string | null;
  readonly organizationId: string;
  readonly organizationName: string;
  readonly keyId: string;
  readonly keyName: string;
  readonly currency: string;
  readonly strictCaps: boolean;
  /** Left out: the key has no limit of them. */
  readonly maxConcurrentRequests?: number;
  /** Null: every model of the catalog. */
  readonly allowedModels: readonly string[] | null;
  /** UTC month and day of the admission, to which the request's spend belongs: "2026-11", "2026-11-21". */
  readonly month: string;
  readonly day: string;
  readonly rate: RateState;
}

const NON_ASCII = /[^\x20-\x7e]/g;

/** One line of ASCII JSON. */
export function formatAdmissionContext(context: AdmissionContext): string {
  return JSON.stringify(context).replace(
    NON_ASCII,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * The context that this gateway's own admission wrote.
 * @throws SyntaxError when it is no JSON, which only a broken filter chain can cause.
 */
export function parseAdmissionContext(header: string): AdmissionContext {
  // Written by formatAdmissionContext of the same deployment, behind a header that clients cannot set.
  return JSON.parse(header) as AdmissionContext;
}
