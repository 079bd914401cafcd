import { CallReasoning } from "../../upstream/call-reasoning.ts";
import type { AnswerSettings } from "../answer-settings.ts";

/**
 * Creates the reader of reasoning next to calls. Its data is carried unless the client hides reasoning, even if the
 * model shows none, because the server would reject a call without its signature.
 */
export function createCallReasoning({ model, carriesReasoning, thinking }: AnswerSettings): CallReasoning {
  return new CallReasoning({ model, carriesReasoning: carriesReasoning && thinking !== "hidden" });
}
