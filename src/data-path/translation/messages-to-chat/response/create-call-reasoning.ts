import { CallReasoning } from "../../upstream/call-reasoning.ts";
import type { AnswerSettings } from "../answer-settings.ts";

/**
 * Hidden reasoning is not carried either. Otherwise data is carried even if no reasoning is shown, because the server
 * would reject a call without its signature.
 */
export function createCallReasoning({ model, carriesReasoning, thinking }: AnswerSettings): CallReasoning {
  return new CallReasoning({ model, carriesReasoning: carriesReasoning && thinking !== "hidden" });
}
