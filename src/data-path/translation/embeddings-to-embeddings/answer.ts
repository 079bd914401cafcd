import type { Answer, AnswerOutput, Observation } from "../client-protocol.ts";
import type { GatewayError } from "../../../shared/contract/errors.ts";
import { isJsonObject, type JsonObject } from "../../../shared/text/json-object.ts";
import { parseJsonText } from "../json/parse-json-text.ts";
import { type AnswerText, guardJson, readAnswerText, replaceMembers } from "../openai/whole-answer.ts";
import { brokenAnswer } from "../upstream/broken-answer.ts";
import { isErrorBody } from "../upstream/error-text.ts";
import { GeneratedText } from "../upstream/generated-text.ts";
import { mapErrorInAnswer } from "../upstream/map-error.ts";

const OPENING_BRACKET = "[";
const EMPTY_LIST = /^\[\s*\]$/;
const NOTHING: AnswerOutput = { bytes: new Uint8Array(0), final: false, failed: null };

/** Answer of an embeddings request that passes through. */
export class EmbeddingsAnswer implements Answer {
  readonly contentType = "application/json";
  readonly keepAlive = "";
  readonly #model: string;
  readonly #observed = new GeneratedText();

  /** @param model Value of `model` for the client. */
  constructor(model: string) {
    this.#model = model;
  }

  get observation(): Observation {
    return this.#observed;
  }

  /** Parses everything except `data`, which may have megabytes of numbers. */
  translateBody(body: Uint8Array): AnswerOutput {
    const answer = readAnswerText(body);
    const fields = parseMembersExcept(answer, "data");
    const data = answer.members.find(({ key }) => key === "data");
    if (isErrorBody({ ...fields, data })) {
      this.#observed.readError(fields);
      throw mapErrorInAnswer(fields, { protocol: "embeddings", model: this.#model });
    }
    this.#observed.readUsage({ ...fields, usage: completeUsage(fields["usage"]) });
    if (data === undefined || answer.text[data.valueStart] !== OPENING_BRACKET) {
      throw brokenAnswer("it has no `data`");
    }
    if (!EMPTY_LIST.test(answer.text.slice(data.valueStart, data.valueEnd))) this.#observed.noteVectors();
    const text = replaceMembers(answer, { model: this.#model });
    return { bytes: Buffer.from(text, "utf8"), final: true, failed: null };
  }

  /** Embeddings are never streamed: an event stream from the upstream is rejected before this is called with data. */
  push(): AnswerOutput {
    return NOTHING;
  }

  end(): AnswerOutput {
    return NOTHING;
  }

  fail(failed: GatewayError): AnswerOutput {
    return { ...NOTHING, failed };
  }
}

function parseMembersExcept({ text, members }: AnswerText, skipped: string): JsonObject {
  const values: Record<string, unknown> = {};
  for (const { key, valueStart, valueEnd } of members) {
    if (key !== skipped) values[key] = guardJson(() => parseJsonText(text.slice(valueStart, valueEnd)));
  }
  return values;
}

/** Embeddings have no completion; a usage with only a total refers to the prompt. */
function completeUsage(usage: unknown): unknown {
  if (!isJsonObject(usage)) return usage;
  const { prompt_tokens: prompt, total_tokens: total, ...rest } = usage;
  return { ...rest, prompt_tokens: prompt ?? total, completion_tokens: 0 };
}
