import { LIMIT_PERIODS } from "../../../shared/settings/limits.ts";
import type { GatewayError } from "../../../shared/contract/errors.ts";
import type { Admission } from "../../limits/admission.ts";
import type { FinishedRequest } from "../../../shared/telemetry/request-meter.ts";

/** Whose request it was; what is left out was not known when it ended. */
export type Ended = Pick<Admission, "requestId" | "endpoint"> &
  Partial<Pick<FinishedRequest, "organizationId" | "keyId" | "currency">>;

/** How it ended; what is left out it did not come to. */
export type End = Pick<FinishedRequest, "status" | "durationMs"> & {
  readonly error: Pick<GatewayError, "publicCode" | "ownCode" | "fields"> | null;
} & Partial<
    Pick<FinishedRequest, "model" | "settled" | "usageContradiction" | "unknownFinishReason" | "firstTokenMs">
  >;

/** The one event that metrics and the log know a request by, made where its end is known. */
export function describeEnd(ended: Ended, end: End): FinishedRequest {
  const { requestId, endpoint, organizationId = null, keyId = null, currency = null } = ended;
  const {
    model = null,
    settled = null,
    usageContradiction = null,
    unknownFinishReason = null,
    firstTokenMs = null,
  } = end;
  return {
    requestId,
    route: endpoint,
    organizationId,
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
