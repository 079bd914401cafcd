import { CallReasoning } from "../../upstream/call-reasoning.ts";
import type { AnswerSettings } from "../answer-settings.ts";

/** Reasoning that is hidden is not carried either; without its signature a call would be refused, whatever is shown. */
export function createCallReasoning({ model, carriesReasoning, thinking }: AnswerSettings): CallReasoning {
  return new CallReasoning({ model, carriesReasoning: carriesReasoning && thinking !== "hidden" });
}
