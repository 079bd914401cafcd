/** What agents send their model, and answers that follow the turns of their tools. */
import type { ScriptedAnswer } from "../support/scripted-answer.ts";
import type { RecordedRequest, ScriptedUpstream } from "../support/upstream.ts";

export interface SentMessage {
  readonly role: string;
  readonly content: string | null;
  readonly reasoning_content?: string;
  readonly tool_call_id?: string;
}

export function sentMessages(request: RecordedRequest): SentMessage[] {
  return request.body?.["messages"] as SentMessage[];
}

/** Results of tools, by the id of the call. */
export function sentResults(request: RecordedRequest): Record<string, string | null> {
  const results = sentMessages(request).filter(({ role }) => role === "tool");
  return Object.fromEntries(results.map(({ tool_call_id, content }) => [tool_call_id ?? "", content]));
}

/** Answers by how many results of tools the request carries; the last script for all that come later. */
export function answerByTurn(
  upstream: ScriptedUpstream,
  ...turns: ((request: RecordedRequest) => ScriptedAnswer)[]
): void {
  upstream.answer((request) => {
    const results = Object.keys(sentResults(request)).length;
    return turns[Math.min(results, turns.length - 1)]!(request);
  });
}
