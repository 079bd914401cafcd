import type { ConversationSettings } from "../upstream/conversation-answer.ts";
import type { IdGenerator } from "./ids.ts";

/**
 * What the client sees of the model's reasoning: `shown`, thinking blocks with its text; `omitted`, the same blocks
 * without text, the reasoning carried in their signature; `hidden`, nothing.
 */
export type ThinkingDisplay = "shown" | "omitted" | "hidden";

/** All that the answer's translation needs to know of the request. */
export interface AnswerSettings extends ConversationSettings {
  readonly thinking: ThinkingDisplay;
  /** Whether reasoning that the client does not read is of use in the next request. */
  readonly carriesReasoning: boolean;
  /** The client's own: a stop text of the model itself is none of its business. */
  readonly stopSequences: ReadonlySet<string>;
  readonly ids: IdGenerator;
}
