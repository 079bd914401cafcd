import { LIMIT_PERIODS } from "../../../shared/settings/limits.ts";
import type { GatewayError } from "../../../shared/contract/errors.ts";
import type { Admission } from "../../limits/admission.ts";
import type { FinishedRequest } from "../../../shared/telemetry/request-meter.ts";

/** Identity of a request; unknown fields are omitted. */
export interface Ended extends Pick<Admission, "endpoint"> {
  readonly identity: Pick<FinishedRequest, "requestId">;
  readonly caller: Partial<FinishedRequest>;
}

/** Result of a request; fields of stages that it did not reach are omitted. */
export type End = Pick<FinishedRequest, "status" | "durationMs"> & {
  readonly error: Pick<GatewayError, "publicCode" | "ownCode" | "fields"> | null;
} & Partial<
    Pick<FinishedRequest, "model" | "settled" | "usageContradiction" | "unknownFinishReason" | "firstTokenMs">
  >;

/** Builds the one event from which metrics and the request log learn of a request. */
export function describeEnd(ended: Ended, end: End): FinishedRequest {
  const { organizationId = null, organizationName = null, keyId = null, currency = null } = ended.caller;
  const {
    model = null,
    settled = null,
    usageContradiction = null,
    unknownFinishReason = null,
    firstTokenMs = null,
  } = end;
  return {
    requestId: ended.identity.requestId,
    route: ended.endpoint,
    organizationId,
    organizationName,
    keyId,
    currency,
    model,
    status: end.status,
    code: end.error?.publicCode ?? null,
    ownCode: end.error?.ownCode ?? null,
    capPeriod: LIMIT_PERIODS.find((period) => period === end.error?.fields["period"]) ?? null,
    settled,
    usageContradiction,
    unknownFinishReason,
    durationMs: end.durationMs,
    firstTokenMs,
  };
}
