import type { Answer, AnswerContext, PromptSize, RequestBody } from "../client-protocol.ts";
import { limitOutput } from "../fields/output-limit.ts";
import { measureFields } from "../json/measure-memory.ts";
import type { JsonBody } from "../json/parse-body.ts";
import { sizeOfPrompts } from "../openai/prompts.ts";
import { readRequestedTier, readEndUser } from "../openai/request-fields.ts";
import { createUsageRequest } from "../fields/usage-request.ts";
import { mapUsageVisibility } from "../openai/stream-options.ts";
import { createUpstreamBody } from "../openai/upstream-body.ts";
import { type CompletionsFields, readCompletionsFields } from "./request/read-fields.ts";
import { ReadRequest, type UpstreamTerms } from "../read-request.ts";
import type { JsonObject } from "../../../shared/text/json-object.ts";
import { ChoicesAnswer, type ChoicesAnswerOptions } from "../openai/choices-answer.ts";
import { formatEvent } from "../sse/encoder.ts";

const LIMIT_NAMES = ["max_tokens"];
const RETAINED_FIELDS: ReadonlySet<string> = new Set(["stream_options", "user", "safety_identifier"]);
/** Bytes of one prompt length, retained for `echo`. */
const ECHO_BYTES = 8;

type Retained = Pick<CompletionsFields, "streamOptions" | "echo" | "choicesPerPrompt">;

interface Content {
  readonly body: JsonBody;
  readonly fields: CompletionsFields;
}

/** A client's completion request, sent upstream as edited by `createUpstreamBody`. */
export class CompletionsRequest extends ReadRequest<Content, Retained> {
  readonly protocol = "completions";

  /** @throws GatewayError 400 naming the field and what was expected. */
  constructor(body: RequestBody) {
    const fields = readCompletionsFields(body);
    const { stream, maxOutputTokens, prompts, answersPerPrompt } = fields;
    const facts = {
      model: body.model,
      stream,
      // Some servers read 0 as unlimited, so the amount of output is unknown.
      maxOutputTokens: maxOutputTokens === 0 ? null : maxOutputTokens,
      endUser: readEndUser(body.value),
      serviceTier: readRequestedTier(body.value),
      prompts: prompts.count,
      promptTokens: prompts.tokens,
      choices: prompts.count * answersPerPrompt,
      retainedBytes: measureFields(body, RETAINED_FIELDS) + (fields.echo?.length ?? 0) * ECHO_BYTES,
    };
    super(facts, { body, fields });
  }

  override limitNames(): readonly string[] {
    return LIMIT_NAMES;
  }

  protected override measure({ body, fields }: Content): PromptSize {
    return sizeOfPrompts(body, fields.prompts.hasMedia);
  }

  protected override convert({ body, fields }: Content, terms: UpstreamTerms): Uint8Array {
    const { model, isStrict } = terms;
    const stream = this.stream ? createUsageRequest(model.profile) : null;
    const limit = limitOutput(LIMIT_NAMES, fields.maxOutputTokens, terms);
    return createUpstreamBody(body, { protocol: this.protocol, model, stream, limit, isStrict });
  }

  protected override retain({ fields: { streamOptions, echo, choicesPerPrompt } }: Content): Retained {
    return { streamOptions, echo, choicesPerPrompt };
  }

  protected override answer(retained: Retained, { model, requestId }: AnswerContext): Answer {
    const { streamOptions, echo, choicesPerPrompt } = retained;
    return createCompletionsAnswer({
      model: model.id,
      stream: this.stream,
      usageVisibility: mapUsageVisibility(streamOptions, createUsageRequest(model.profile)),
      echoCharacters: (choice) => (echo === null ? 0 : echoOf(echo, choice, choicesPerPrompt)),
      requestId,
    });
  }
}

/** Returns the echoed characters of a choice. Choices of one prompt are adjacent, in the order of the prompts. */
function echoOf(lengths: readonly number[], choice: unknown, choicesPerPrompt: number): number {
  if (typeof choice !== "number") return Number.POSITIVE_INFINITY;
  return lengths[Math.floor(choice / choicesPerPrompt)] ?? Number.POSITIVE_INFINITY;
}

interface CompletionsAnswerOptions extends Omit<ChoicesAnswerOptions, "describeCost"> {
  /** Returns the characters of the prompt that precede the text of a choice. */
  readonly echoCharacters: (choice: unknown) => number;
}

/** Creates the answer of a completion request, which passes through. */
function createCompletionsAnswer({ echoCharacters, ...options }: CompletionsAnswerOptions): Answer {
  /** Choices whose echo has passed. */
  const echoed = new Set<unknown>();
  /**
   * Removes the echo of the prompt, with which servers begin the first piece of a choice, to leave the generated text.
   */
  const readChoice = (choice: JsonObject): JsonObject => {
    const { text, index } = choice;
    const characters = echoCharacters(index);
    if (characters === 0 || typeof text !== "string" || echoed.has(index)) return choice;
    echoed.add(index);
    return { ...choice, text: text.slice(characters) };
  };
  return new ChoicesAnswer(
    { ...options, describeCost: null },
    // The generated part of a choice depends on earlier chunks, so each chunk must be parsed.
    { name: "completions", readChoice, usesTemplates: false, play: playStream },
  );
}

/** Formats a whole completion as the stream that the client requested. Chunks have the same form as the answer. */
function playStream(completion: JsonObject, model: string, isUsageWanted: boolean): string {
  const { usage, ...answer } = completion;
  let text = formatEvent(null, { ...answer, model });
  if (isUsageWanted && usage !== undefined) {
    text += formatEvent(null, { ...answer, model, choices: [], usage });
  }
  return `${text}data: [DONE]\n\n`;
}
