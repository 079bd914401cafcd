/** Legacy completions of the demo model: each prompt's words, repeated. */
import { isJsonObject } from "../../shared/text/json-object.ts";
import { DemoRequestError, type DemoUsage, readTokenLimit } from "./completion.ts";
import { readPrompts } from "./embedding.ts";

export interface DemoLegacyCompletion {
  readonly model: unknown;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** Answers with their tokens; joined they are the text. */
  readonly choices: readonly {
    readonly tokens: readonly string[];
    readonly finishReason: "stop" | "length";
  }[];
  readonly usage: DemoUsage;
}

/**
 * Answers a legacy completion request.
 * @throws DemoRequestError for an invalid body.
 */
export function createDemoLegacyCompletion(body: unknown): DemoLegacyCompletion {
  if (!isJsonObject(body)) throw new DemoRequestError("The request body must be a JSON object.", null);
  const prompts = readPrompts(body["prompt"] ?? "", "prompt");
  const answers = typeof body["n"] === "number" ? body["n"] : 1;
  const choices = prompts.flatMap((words) => {
    const tokens = words.slice(0, readTokenLimit(body) ?? words.length);
    const finishReason = tokens.length < words.length ? ("length" as const) : ("stop" as const);
    return Array.from({ length: answers }, () => ({ tokens, finishReason }));
  });
  const promptTokens = prompts.reduce((sum, words) => sum + words.length, 0);
  const completionTokens = choices.reduce((sum, { tokens }) => sum + tokens.length, 0);
  const options = body["stream_options"];
  return {
    model: body["model"],
    stream: body["stream"] === true,
    includeUsage: isJsonObject(options) && options["include_usage"] === true,
    choices,
    usage: {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
    },
  };
}
