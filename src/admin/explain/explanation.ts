/**
 * What became of a request, for whoever asks: a sentence with the link that leads on, every check in words, and the
 * multiplication that gives the cost. Made once, for the dashboard, the command line and the management API alike.
 */
import { explainChecks, type ExplainedCheck } from "./checks.ts";
import { explainCost, type ExplainedCost } from "./cost.ts";
import type { ExplainedRequest } from "./explained-request.ts";
import { explainEnd } from "./end.ts";
import { chooseAction, type Action } from "./action.ts";

export interface Explanation {
  readonly sentence: string;
  readonly action: Action | null;
  readonly checks: readonly ExplainedCheck[];
  /** Null: no price was looked up. */
  readonly cost: ExplainedCost | null;
}

/** @param currency The organization's. */
export function explain(request: ExplainedRequest, currency: string): Explanation {
  return {
    sentence: explainEnd(request, currency),
    action: chooseAction(request),
    checks: explainChecks(request, currency),
    cost: explainCost(request),
  };
}
