import type { IdGenerator } from "../anthropic/ids.ts";
import type { ToolNames } from "./tool-names.ts";

/** All that the answer's translation needs to know of the request. */
export interface AnswerSettings {
  /** Catalog id, what the client reads as `model`. */
  readonly model: string;
  readonly stream: boolean;
  /** Whether the client wants to read the model's reasoning. */
  readonly showsThinking: boolean;
  /** The client's own: a stop text of the model itself is none of its business. */
  readonly stopSequences: ReadonlySet<string>;
  readonly toolNames: ToolNames;
  readonly estimatedInputTokens: number;
  /** For errors inside a stream. */
  readonly requestId: string;
  readonly ids: IdGenerator;
}
