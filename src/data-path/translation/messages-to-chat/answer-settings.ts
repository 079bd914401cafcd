import type { ConversationSettings } from "../upstream/conversation-answer.ts";
import type { IdGenerator } from "./ids.ts";

/**
 * How the client sees the model's reasoning. `shown`: thinking blocks with text; `omitted`: the same blocks without
 * text, with the reasoning in their signature; `hidden`: no blocks.
 */
export type ThinkingDisplay = "shown" | "omitted" | "hidden";

/** Facts about the request that the translation of its answer needs. */
export interface AnswerSettings extends ConversationSettings {
  readonly thinking: ThinkingDisplay;
  /** Whether the next request can use reasoning that the client does not see. */
  readonly carriesReasoning: boolean;
  /** The client's own stop sequences; the model's are not reported. */
  readonly stopSequences: ReadonlySet<string>;
  readonly ids: IdGenerator;
}
