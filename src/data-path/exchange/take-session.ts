import type { Admission } from "../limits/admission.ts";
import { readSessionName, refuseBudgetWithoutSession, SESSION_FIELD } from "../limits/session.ts";
import type { RequestBody } from "../translation/client-protocol.ts";
import type { ModelProfile } from "../../shared/contract/model-profile.ts";
import { withoutField } from "../translation/without-field.ts";

type Profile = Pick<ModelProfile, "passthroughFields">;

/**
 * A request with the session that its body names where no header does, and its body without the name.
 * @throws GatewayError 400 `invalid_parameter` when that is no name of a session, or a budget is for none.
 */
export function takeSession(
  body: RequestBody,
  profile: Profile,
  admission: Admission,
): { readonly body: RequestBody; readonly admission: Admission } {
  const named = body.value[SESSION_FIELD] ?? null;
  const session = admission.session ?? (named === null ? null : readSessionName(named, SESSION_FIELD));
  refuseBudgetWithoutSession({ session, sessionBudgetCents: admission.sessionBudgetCents });
  return {
    body: withoutSession(body, profile),
    admission: session === admission.session ? admission : { ...admission, session },
  };
}

/** It is the gateway's: no upstream sees it but one whose profile passes the field. */
export function withoutSession(body: RequestBody, { passthroughFields }: Profile): RequestBody {
  return passthroughFields.includes(SESSION_FIELD) ? body : withoutField(body, SESSION_FIELD);
}
