/**
 * Explanation of a request: a sentence with a link to the next step, every check as a text, and the
 * calculation of the cost. The dashboard, the command line and the management API share it.
 */
import { explainChecks } from "./checks.ts";
import { explainCost } from "./cost.ts";
import {
  type ExplainedRequest,
  type Explanation,
  failedCheckOf,
  periodOf,
  reasonOf,
} from "./explained-request.ts";
import { explainEnd } from "./end.ts";
import { REFUSAL_FIELDS } from "../../../data-path/limits/errors/refusal-fields.ts";
import { capScopeOf } from "../../../data-path/limits/errors/spend-cap.ts";
import type { LimitSubject } from "../../../shared/contract/pages.ts";
import { formatLimitPath } from "../../../shared/settings/limit-words.ts";

/**
 * @param currency Currency of the organization.
 * @param dashboardUrl `dashboard.base_url`.
 */
export function explain(
  request: ExplainedRequest,
  currency: string,
  dashboardUrl: string | null,
): Explanation {
  const action = chooseAction(request);
  const reason = reasonOf(request);
  return {
    sentence: explainEnd(request, currency),
    remedy: reason === null ? null : { actor: reason.actor, todo: reason.todo },
    action:
      action === null
        ? null
        : { ...action, url: dashboardUrl === null ? null : `${dashboardUrl}${action.path}` },
    checks: explainChecks(request, currency),
    cost: explainCost(request),
  };
}

/** Action after a rejection, and the dashboard's page for it. */
interface Action {
  readonly label: string;
  readonly path: string;
}

/** Actions by error code, on the key's page or another page of the organization. */
const ACTIONS: Readonly<Record<string, { readonly label: string; readonly page: string }>> = {
  ...Object.fromEntries(
    Object.entries(REFUSAL_FIELDS).map(([code, { label, field }]) => [
      code,
      { label, page: `/keys/{key}#${field}` },
    ]),
  ),
  key_disabled: { label: "Enable this key", page: "/keys/{key}" },
  model_not_found: { label: "See the models", page: "/models" },
  model_not_available_in_currency: { label: "See the models and their prices", page: "/models" },
};

type ActedOn = Pick<
  ExplainedRequest,
  | "error_code"
  | "organization_id"
  | "checks"
  | "key_id"
  | "key_deleted"
  | "user_id"
  | "user_deleted"
  | "group_id"
  | "group_deleted"
>;

/** Null if no page of the organization can change it, for example because the key was deleted. */
function chooseAction(request: ActedOn): Action | null {
  const scope = capScopeOf(request.error_code);
  if (scope !== null) return changeCap(scope, request);
  const action = ACTIONS[request.error_code ?? ""];
  if (action === undefined || (request.key_deleted && action.page.includes("{key}"))) return null;
  const page = action.page.replace("{key}", request.key_id);
  return { label: action.label, path: `/organizations/${request.organization_id}${page}` };
}

function changeCap(scope: LimitSubject["scope"], request: ActedOn): Action | null {
  if (scope !== "organization" && request[`${scope}_deleted`]) return null;
  const subject = {
    scope,
    organizationId: request.organization_id,
    keyId: scope === "key" ? request.key_id : null,
    ownerId: scope === "user" || scope === "group" ? request[`${scope}_id`] : null,
    period: periodOf(failedCheckOf(request)?.figures ?? {}),
  };
  return { label: "Change this cap", path: formatLimitPath(subject) };
}
