import type { DescribeCost } from "../client-protocol.ts";
import type { IdGenerator } from "./ids.ts";
import type { ToolNames } from "../conversation/tool-names.ts";

/**
 * What the client sees of the model's reasoning: `shown`, thinking blocks with its text; `omitted`, the same blocks
 * without text, the reasoning carried in their signature; `hidden`, nothing.
 */
export type ThinkingDisplay = "shown" | "omitted" | "hidden";

/** All that the answer's translation needs to know of the request. */
export interface AnswerSettings {
  /** Catalog id, what the client reads as `model`. */
  readonly model: string;
  readonly stream: boolean;
  readonly thinking: ThinkingDisplay;
  /** Whether reasoning that the client does not read is of use in the next request. */
  readonly carriesReasoning: boolean;
  /** The client's own: a stop text of the model itself is none of its business. */
  readonly stopSequences: ReadonlySet<string>;
  readonly toolNames: ToolNames;
  readonly estimatedInputTokens: number;
  /** Errors inside a stream name it. */
  readonly requestId: string;
  readonly describeCost: DescribeCost | null;
  readonly ids: IdGenerator;
}
