import type { Admission } from "../limits/admission.ts";
import { readSessionName, refuseBudgetWithoutSession, SESSION_FIELD } from "../limits/session.ts";
import type { RequestBody } from "../translation/client-protocol.ts";
import type { ModelProfile } from "../../shared/contract/model-profile.ts";
import { withoutField } from "../translation/without-field.ts";

type Profile = Pick<ModelProfile, "passthroughFields">;

/**
 * Takes the session from the body if no header names one, and removes it from the body.
 * @throws GatewayError 400 `invalid_parameter` if the name is invalid, or a session budget has no session.
 */
export function takeSession(
  body: RequestBody,
  profile: Profile,
  admission: Admission,
): { readonly body: RequestBody; readonly admission: Admission } {
  const named = body.value[SESSION_FIELD] ?? null;
  const { identity, limits } = admission;
  const session = identity.session ?? (named === null ? undefined : readSessionName(named, SESSION_FIELD));
  refuseBudgetWithoutSession({ session, sessionBudgetCents: limits.sessionBudgetCents });
  return {
    body: withoutSession(body, profile),
    admission:
      session === identity.session ? admission : { ...admission, identity: { ...identity, session } },
  };
}

/** Removes the gateway's own field, which goes upstream only if the model's profile passes it through. */
export function withoutSession(body: RequestBody, { passthroughFields }: Profile): RequestBody {
  return passthroughFields.includes(SESSION_FIELD) ? body : withoutField(body, SESSION_FIELD);
}
