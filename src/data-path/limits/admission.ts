/** Facts about an admitted request, for all later stages. */
import type { EndpointName } from "../../shared/contract/endpoints.ts";
import type { AdmittedOrganization } from "../store/types/admission.ts";
import type { ProtocolName } from "../translation/client-protocol.ts";
import type { TakenTokens } from "../store/types/token-rate.ts";
import type { RateState } from "./rate-headers.ts";

export interface Admission {
  /** `req_` + UUID v7. */
  readonly requestId: string;
  readonly endpoint: EndpointName;
  readonly protocol: ProtocolName;
  /** "POST /v1/messages", for the list of recent requests. */
  readonly route: string;
  /** Model or request id in the path, or null. */
  readonly resource: string | null;
  readonly organizationId: string;
  readonly organizationName: string;
  readonly keyId: string;
  readonly keyName: string;
  readonly currency: string;
  /** True if the organization's caps are strict. */
  readonly isStrict: boolean;
  /** True if the output limit may be lowered, under strict caps, to what fits. */
  readonly shrinksOnCap: boolean;
  /** See KnownKeyResult. */
  readonly isEntered: boolean;
  /** Null: the key has no concurrency limit. */
  readonly concurrencyLimit: number | null;
  /** Allowed models; null: every model of the catalog. */
  readonly models: readonly string[] | null;
  /** UTC month and day of the admission, to which the request's spend belongs: "2026-11", "2026-11-21". */
  readonly month: string;
  readonly day: string;
  /** Owners of the request, in the form of `store/types/owner-ids.ts`; '': none. */
  readonly owners: string;
  /** Tags of the header and of the key, in the form of `tags.ts`; '': none. */
  readonly tags: string;
  /** Session named by the headers, or otherwise by the body; null: none. */
  readonly session: string | null;
  /** Budget that the client sent for the session, in cents; null: none. */
  readonly sessionBudgetCents: number | null;
  /** See KnownKeyResult. */
  readonly areSessionsCapped: boolean;
  /** True if the organization keeps the end user in the body as a tag. */
  readonly keepsEndUser: boolean;
  /** Model aliases of the organization; null: none. */
  readonly modelNames: AdmittedOrganization["modelNames"] | null;
  readonly rate: RateState;
  /** @see formatHeadroom; names in lower case. Usually empty. */
  readonly headroom: readonly (readonly [name: string, value: string])[];
  /** Tokens taken from token limits per minute; null without token limits. */
  readonly takenTokens: TakenTokens | null;
}
