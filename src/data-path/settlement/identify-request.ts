import type { Model } from "../catalog/catalog.ts";
import type { Admission } from "../limits/admission.ts";
import type { BilledRequest } from "../store/types/settlement.ts";
import { addEndUser } from "../../shared/usage/tags.ts";
import type { ClientRequest } from "../translation/client-protocol.ts";
import type { TagRows } from "./tag-rows.ts";

export interface IdentifiedRequest {
  readonly admission: Admission;
  readonly model: Model;
  /** Model name in the request, sanitized. */
  readonly requestedModel: string;
  readonly request: Pick<ClientRequest, "endUser">;
}

/**
 * Returns the identity that every command of a request carries. Sets every field each time, so that all
 * objects have the same shape.
 */
export function identifyRequest(
  { admission, model, requestedModel, request }: IdentifiedRequest,
  tagRows: Pick<TagRows, "of">,
): BilledRequest {
  const { organizationId, month, keepsEndUser } = admission;
  const allTags = addEndUser(admission.tags, keepsEndUser ? request.endUser : null);
  const tags = allTags === "" ? undefined : allTags;
  const { session, sessionBudgetCents, areSessionsCapped } = admission;
  const isSessionCapped = session !== null && (areSessionsCapped || sessionBudgetCents !== null);
  return {
    organizationId,
    keyId: admission.keyId,
    requestId: admission.requestId,
    month,
    day: admission.day,
    route: admission.route,
    currency: admission.currency,
    owners: admission.owners === "" ? undefined : admission.owners,
    session: session ?? undefined,
    isSessionCapped: isSessionCapped ? true : undefined,
    model: model.id,
    requestedModel,
    tags,
    tagRow: tagRows.of({ organizationId, month, tags }),
  };
}
