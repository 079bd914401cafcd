import { GatewayError } from "../../errors.ts";
import type { Answer, AnswerOutput, ModelTarget, Observation } from "../client-protocol.ts";
import { parseExactJson } from "../json/exact-json.ts";
import { applyEdits, findMembers, type MemberSpan } from "../json/object-spans.ts";
import { isJsonObject } from "../../json-object.ts";
import { mapErrorInAnswer } from "../upstream/map-error.ts";
import { AnswerStream } from "./stream/answer-stream.ts";
import { ChunkRewriter } from "./stream/chunk-rewriter.ts";
import { GeneratedText } from "../upstream/generated-text.ts";
import { playStream } from "./response/play-completion.ts";
import type { UsageVisibility } from "./request/stream-options.ts";
import { isUpstreamError } from "../upstream/error-text.ts";

export interface ChatAnswerOptions {
  readonly model: ModelTarget;
  /** Whether the client asked for a stream. */
  readonly stream: boolean;
  readonly usageVisibility: UsageVisibility;
  readonly requestId: string;
}

/** The answer to one chat completion request, passed through. */
export class ChatAnswer implements Answer {
  readonly contentType: Answer["contentType"];
  readonly #options: ChatAnswerOptions;
  readonly #generated = new GeneratedText();
  readonly #stream: AnswerStream;

  constructor(options: ChatAnswerOptions) {
    this.#options = options;
    this.contentType = options.stream ? "text/event-stream" : "application/json";
    this.#stream = new AnswerStream(
      new ChunkRewriter({
        model: options.model.id,
        usageVisibility: options.usageVisibility,
        generated: this.#generated,
      }),
      options.requestId,
    );
  }

  get observation(): Observation {
    return this.#generated;
  }

  translateBody(body: Uint8Array): AnswerOutput {
    const { model, stream, usageVisibility } = this.#options;
    const { text, completion, members } = parseCompletion(body);
    if (isUpstreamError(completion)) {
      this.#generated.readError(completion);
      throw mapErrorInAnswer(completion, { protocol: "chat", model: model.id });
    }
    const { choices } = completion;
    // First of all: an answer that cannot be used costs what its usage says.
    this.#generated.readUsage(completion);
    if (!Array.isArray(choices)) throw brokenAnswer("it has no `choices`");
    for (const choice of choices) {
      if (isJsonObject(choice)) this.#generated.readMessage(choice["message"]);
    }
    const output = stream
      ? playStream(completion, model.id, usageVisibility !== "none")
      : replaceModel(text, members, model.id);
    return { bytes: Buffer.from(output, "utf8"), final: true, failed: null };
  }

  push(chunk: Uint8Array): AnswerOutput {
    return this.#stream.push(chunk);
  }

  end(): AnswerOutput {
    return this.#stream.end();
  }
}

function parseCompletion(body: Uint8Array): {
  text: string;
  completion: Readonly<Record<string, unknown>>;
  members: readonly MemberSpan[];
} {
  const decoded = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
  const text = decoded.startsWith("\uFEFF") ? decoded.slice(1) : decoded;
  try {
    const members = findMembers(text);
    const completion = parseExactJson(text);
    if (isJsonObject(completion) && members !== null) return { text, completion, members };
  } catch (error) {
    throw brokenAnswer("it is not JSON", error);
  }
  throw brokenAnswer("it is not a JSON object");
}

function replaceModel(text: string, members: readonly MemberSpan[], model: string): string {
  const replacement = JSON.stringify(model);
  const edits = members
    .filter(({ key }) => key === "model")
    .map(({ valueStart, valueEnd }) => ({ start: valueStart, end: valueEnd, replacement }));
  return applyEdits(text, edits);
}

function brokenAnswer(problem: string, cause?: unknown): GatewayError {
  return new GatewayError("upstream_error", {
    cause: new Error(`the upstream's answer is unusable: ${problem}`, { cause }),
  });
}
