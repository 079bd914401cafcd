/**
 * What became of a request, for whoever asks: a sentence with the link that leads on, every check in words, and the
 * multiplication that gives the cost. Made once, for the dashboard, the command line and the management API alike.
 */
import type { Actor } from "../../envoy-reasons/reason.ts";
import { explainChecks, type ExplainedCheck } from "./checks.ts";
import { explainCost, type ExplainedCost } from "./cost.ts";
import type { ExplainedRequest } from "./explained-request.ts";
import { explainEnd } from "./end.ts";
import { type Action, chooseAction } from "./action.ts";
import { reasonOf } from "./upstream.ts";

export interface Explanation {
  readonly sentence: string;
  /** Where Envoy says why it failed: who must act, and how. */
  readonly remedy: { readonly actor: Actor; readonly todo: string } | null;
  /** `url`: null where the operator has not said how people reach the dashboard. */
  readonly action: (Action & { readonly url: string | null }) | null;
  readonly checks: readonly ExplainedCheck[];
  /** Null: no price was looked up. */
  readonly cost: ExplainedCost | null;
}

/**
 * @param currency The organization's.
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
