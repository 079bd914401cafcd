/** What is known of a request that was admitted, to every stage after its admission. */
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
  /** The model or request id in the path, or null. */
  readonly resource: string | null;
  readonly organizationId: string;
  readonly organizationName: string;
  readonly keyId: string;
  readonly keyName: string;
  readonly currency: string;
  /** The organization's caps are strict. */
  readonly isStrict: boolean;
  /** Whether the limit of output is lowered, under strict caps, to what fits where the request's own does not. */
  readonly shrinksOnCap: boolean;
  /** See KnownKeyResult. */
  readonly isEntered: boolean;
  /** Null: the key has no limit of them. */
  readonly concurrencyLimit: number | null;
  /** Null: every model of the catalog. */
  readonly models: readonly string[] | null;
  /** UTC month and day of the admission, to which the request's spend belongs: "2026-11", "2026-11-21". */
  readonly month: string;
  readonly day: string;
  /** Whose request it is, in the form of `store/types/owner-ids.ts`; '': nobody's. */
  readonly owners: string;
  /** The tags of the header and of the key, in the form of `tags.ts`; '': none. */
  readonly tags: string;
  /** The session that the headers name, or else the body; null: none. */
  readonly session: string | null;
  /** What the client lets the session spend, in cents; null: it has sent nothing about it. */
  readonly sessionBudgetCents: number | null;
  /** See KnownKeyResult. */
  readonly areSessionsCapped: boolean;
  /** The organization keeps the end user that the body names as a tag. */
  readonly keepsEndUser: boolean;
  /** What the organization's names of models mean; null: it has none. */
  readonly modelNames: AdmittedOrganization["modelNames"] | null;
  readonly rate: RateState;
  /** @see formatHeadroom; names in lower case. Most often none. */
  readonly headroom: readonly (readonly [name: string, value: string])[];
  /** What it has taken of limits of tokens per minute; null: it meets none. */
  readonly takenTokens: TakenTokens | null;
}
