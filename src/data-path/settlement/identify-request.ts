import type { Model } from "../catalog/catalog.ts";
import type { Admission } from "../limits/admission.ts";
import type { BilledRequest } from "../../shared/stored/settlement.ts";
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
  const { identity, caller, limits } = admission;
  const { month, session } = identity;
  const allTags = addEndUser(identity.tags ?? "", caller.tagsEndUser ? request.endUser : null);
  const tags = allTags === "" ? undefined : allTags;
  const hasCap = limits.areSessionsCapped || limits.sessionBudgetCents !== null;
  return {
    organizationId: caller.organizationId,
    keyId: caller.keyId,
    requestId: identity.requestId,
    month,
    day: identity.day,
    route: identity.route,
    currency: caller.currency,
    owners: identity.owners,
    session,
    isSessionCapped: session !== undefined && hasCap ? true : undefined,
    model: model.id,
    requestedModel,
    tags,
    tagRow: tagRows.of({ organizationId: caller.organizationId, month, tags }),
  };
}
