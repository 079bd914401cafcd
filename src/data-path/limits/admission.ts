/** Facts about an admitted request, for all later stages. */
import type { EndpointName } from "../../shared/contract/endpoints.ts";
import type { AdmittedOrganization } from "../../shared/stored/admission.ts";
import type { EnteredRequest, RequestIdentity } from "../../shared/stored/settlement.ts";
import type { ProtocolName } from "../translation/client-protocol.ts";
import type { TokenBucketState } from "../../shared/stored/token-rate.ts";

export interface Admission {
  readonly identity: AdmittedIdentity;
  readonly caller: AdmittedCaller;
  readonly limits: AdmittedLimits;
  readonly rate: RateState;
  readonly endpoint: EndpointName;
  readonly protocol: ProtocolName;
  /** Model or request id in the path, or null. */
  readonly resource: string | null;
  /** @see formatHeadroom; names in lower case. Usually empty. */
  readonly headroom: readonly (readonly [name: string, value: string])[];
}

/** The request's own identity: `tags` of the header and of the key, `session` of the headers or of the body. */
type AdmittedIdentity = Required<
  Pick<RequestIdentity, "requestId" | "route" | "month" | "day" | "owners" | "tags" | "session">
>;

/** The API key and its organization. */
interface AdmittedCaller {
  readonly organizationId: string;
  readonly organizationName: string;
  readonly keyId: string;
  readonly keyName: string;
  readonly currency: string;
  /** Allowed models; null: every model of the catalog. */
  readonly models: readonly string[] | null;
  /** Model aliases of the organization; null: none. */
  readonly modelNames: AdmittedOrganization["modelNames"] | null;
  /** True if the organization keeps the end user in the body as a tag. */
  readonly tagsEndUser: boolean;
}

/** Names the request among its organization's open requests. */
export interface EnteredAdmission {
  readonly caller: Pick<AdmittedCaller, "organizationId" | "keyId">;
  readonly identity: Pick<RequestIdentity, "requestId" | "owners">;
  readonly limits: Pick<EnteredRequest, "takenTokens">;
}

/** Conditions for the request's record. */
interface AdmittedLimits {
  /** True if the organization's caps are strict. */
  readonly isStrict: boolean;
  /** See KnownKeyResult. */
  readonly isEntered: boolean;
  /** True if the output limit may be lowered, under strict caps, to what fits. */
  readonly shrinksOnCap: boolean;
  /** See KnownKeyResult. */
  readonly areSessionsCapped: boolean;
  /** Null: the key has no concurrency limit. */
  readonly concurrencyLimit: number | null;
  /** Budget that the client sent for the session, in cents; null: none. */
  readonly sessionBudgetCents: number | null;
  /** Tokens taken from token limits per minute; null without token limits. */
  readonly takenTokens: NonNullable<EnteredRequest["takenTokens"]> | null;
}

/** State of the key's bucket after the admission. */
export interface RateState {
  /** Requests per minute. */
  readonly limit: number;
  /** Capacity in whole requests. */
  readonly capacity: number;
  /** Whole requests left. */
  readonly remaining: number;
  /** Milliseconds until the bucket is full again. */
  readonly resetMs: number;
  /** Redis's time at the admission, Unix milliseconds. */
  readonly timeMs: number;
  /** Tightest token limit per minute of each type; empty if the key has none. */
  readonly tokens: readonly TokenBucketState[];
}
