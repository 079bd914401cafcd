import type { Answer, AnswerContext, PromptSize, RequestBody } from "../client-protocol.ts";
import { limitOutput } from "../fields/output-limit.ts";
import { measureFields } from "../json/measure-memory.ts";
import type { JsonBody } from "../json/parse-body.ts";
import { sizeOfPrompts } from "../openai/prompts.ts";
import { readAskedServiceTier, readEndUser } from "../openai/request-fields.ts";
import { wishForUsage } from "../fields/usage-wish.ts";
import { mapUsageVisibility } from "../openai/stream-options.ts";
import { createUpstreamBody } from "../openai/upstream-body.ts";
import { createCompletionsAnswer } from "./answer.ts";
import { type CompletionsFields, readCompletionsFields } from "./request/read-fields.ts";
import { ReadRequest, type UpstreamTerms } from "../read-request.ts";

const LIMIT_NAMES = ["max_tokens"];
const KEPT_FIELDS: ReadonlySet<string> = new Set(["stream_options", "user", "safety_identifier"]);
/** The length of one prompt, where prompts are repeated. */
const ECHO_BYTES = 8;

type Kept = Pick<CompletionsFields, "streamOptions" | "echo" | "choicesPerPrompt">;

interface Content {
  readonly body: JsonBody;
  readonly fields: CompletionsFields;
}

/** A client's completion request; what its upstream gets is what `createUpstreamBody` says. */
export class CompletionsRequest extends ReadRequest<Content, Kept> {
  readonly protocol = "completions";

  /** @throws GatewayError 400 naming the field and what was expected. */
  constructor(body: RequestBody) {
    const fields = readCompletionsFields(body);
    const { stream, maxOutputTokens, prompts, answersPerPrompt } = fields;
    const facts = {
      model: body.model,
      stream,
      // Some servers take 0 for no limit: how much there will be is not known.
      maxOutputTokens: maxOutputTokens === 0 ? null : maxOutputTokens,
      endUser: readEndUser(body.value),
      serviceTier: readAskedServiceTier(body.value),
      prompts: prompts.count,
      promptTokens: prompts.tokens,
      choices: prompts.count * answersPerPrompt,
      keptBytes: measureFields(body, KEPT_FIELDS) + (fields.echo?.length ?? 0) * ECHO_BYTES,
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
    const stream = this.stream ? wishForUsage(model.profile) : null;
    const limit = limitOutput(LIMIT_NAMES, fields.maxOutputTokens, terms);
    return createUpstreamBody(body, { protocol: this.protocol, model, stream, limit, isStrict });
  }

  protected override keep({ fields: { streamOptions, echo, choicesPerPrompt } }: Content): Kept {
    return { streamOptions, echo, choicesPerPrompt };
  }

  protected override answer(kept: Kept, { model, requestId }: AnswerContext): Answer {
    const { streamOptions, echo, choicesPerPrompt } = kept;
    return createCompletionsAnswer({
      model: model.id,
      stream: this.stream,
      usageVisibility: mapUsageVisibility(streamOptions, wishForUsage(model.profile)),
      echoCharacters: (choice) => (echo === null ? 0 : echoOf(echo, choice, choicesPerPrompt)),
      requestId,
    });
  }
}

/** The choices of a prompt stand together, in the order of the prompts. */
function echoOf(lengths: readonly number[], choice: unknown, choicesPerPrompt: number): number {
  if (typeof choice !== "number") return Number.POSITIVE_INFINITY;
  return lengths[Math.floor(choice / choicesPerPrompt)] ?? Number.POSITIVE_INFINITY;
}
