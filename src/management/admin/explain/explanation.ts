/**
 * What became of a request, for whoever asks: a sentence with the link that leads on, every check in words, and the
 * multiplication that gives the cost. Made once, for the dashboard, the command line and the management API alike.
 */
import { explainChecks } from "./checks.ts";
import { explainCost } from "./cost.ts";
import type { ExplainedRequest, Explanation } from "./explained-request.ts";
import { explainEnd } from "./end.ts";
import { chooseAction } from "./action.ts";
import { reasonOf } from "./upstream.ts";

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
