/**
 * `POST /v1/messages/count_tokens` and `POST /v1/responses/input_tokens`. An upstream that speaks the protocol is asked;
 * where it has no such endpoint (404, 405, 501), and for upstreams that are translated to, the prompt's tokens are estimated by a
 * tokenizer. Nothing is held and nothing is charged.
 */
import type { Catalog, Model } from "../catalog/catalog.ts";
import { GatewayError } from "../contract/errors.ts";
import { isJsonObject } from "../text/json-object.ts";
import type { Admission } from "../limits/admission.ts";
import type { Logger } from "../host/logger.ts";
import type { TokenEstimator } from "../settlement/token-estimator.ts";
import { MEDIA_TOKENS } from "../settlement/prompt-bytes.ts";
import type { RequestMeter } from "../telemetry/request-meter.ts";
import type { PromptText, Protocol, ProtocolName, TokenCounting } from "../translation/client-protocol.ts";
import { mapUpstreamError } from "../translation/upstream/map-error.ts";
import { parseCompletion } from "../translation/upstream/read-stream.ts";
import type { BodyBudget } from "./body-budget.ts";
import { chooseTranslation, formatUpstreamPath, listForwarded } from "./choose-translation.ts";
import { describeBrokenEnd } from "./broken-end.ts";
import { describeEnd } from "./describe-end.ts";
import { logFailedUpstream } from "./log-failed-upstream.ts";
import { createJsonReply, type Reply } from "./reply.ts";
import type { ReachedUpstreams } from "./reached-upstreams.ts";
import type { ExpectedEnd, ReportedEnds } from "./reported-ends.ts";
import { HeldBody } from "./held-body.ts";
import { measureParsed, measureText } from "../translation/json/measure-memory.ts";
import { isFromUpstream, mapLocalOutcome } from "./upstream-outcome.ts";
import { createOrderError } from "./order-error.ts";
import { withoutSession } from "./take-session.ts";
import type { ResponseMode, ResponsePiece, ResponseStart, Route, UpstreamCall } from "./upstream-call.ts";

export interface CountServices {
  readonly catalog: () => Catalog;
  readonly protocols: Readonly<Record<ProtocolName, Protocol>>;
  readonly estimator: Pick<TokenEstimator, "countPrompt">;
  readonly budget: BodyBudget;
  readonly reached: Pick<ReachedUpstreams, "has" | "note">;
  readonly ends: Pick<ReportedEnds, "expect">;
  readonly logger: Logger<"warn">;
  readonly meter: Pick<RequestMeter, "finished">;
}

/** What is known of a request that was sent upstream. */
interface Asked {
  readonly model: Model;
  readonly counting: TokenCounting;
  readonly prompt: PromptText;
}

const EMPTY = new Uint8Array(0);
/** An upstream that has no endpoint to count at; servers that route by the path alone know it, but not its method. */
const HAS_NO_COUNT: ReadonlySet<number> = new Set([404, 405, 501]);

export class CountExchange implements UpstreamCall {
  readonly admission: Admission;
  readonly settled = null;
  /** It costs nothing, and tells nothing of it. */
  wantsCost = false;
  readonly formattedCost = null;
  readonly budgetHeaders = [];
  readonly contentType = "application/json";
  readonly #services: CountServices;
  readonly #startedMs = performance.now();
  #model: Model | null = null;
  #asked: Asked | null = null;
  #error: { readonly status: number; readonly retryAfter: string | null } | null = null;
  readonly #held: HeldBody;
  readonly #reported: ExpectedEnd;
  #isFinished = false;
  #hasEnded = false;

  constructor(admission: Admission, services: CountServices) {
    this.admission = admission;
    this.#services = services;
    this.#held = new HeldBody(services.budget, admission);
    this.#reported = services.ends.expect(admission.requestId);
  }

  get modelId(): string | null {
    return this.#model?.id ?? null;
  }

  async onRequestBody(body: Uint8Array, query: string): Promise<Route | Reply> {
    const { budget, catalog, protocols } = this.#services;
    let keptBytes = 0;
    try {
      const turn = this.#held.begin(body);
      if (turn !== undefined) await turn;
      const protocol = protocols[this.admission.protocol];
      const told = await this.#held.work(protocol.readBody(body));
      const model = catalog().requireModel(told.model, this.admission);
      const read = withoutSession(told, model.profile);
      this.#model = model;
      const translation = chooseTranslation(protocol, model, protocols);
      const { counting, forwardedQuery = [] } = translation;
      const forwardedHeaders = listForwarded(model, translation);
      if (counting === null) throw new GatewayError("unknown_endpoint");
      const prompt = await this.#held.work(counting.readPrompt(read, model));
      const asked = { model, counting, prompt };
      const promptBytes = measureText(asked.prompt.text);
      this.#held.made(measureParsed(read) + promptBytes);
      if (counting.upstream === null) {
        this.#held.letGo(promptBytes);
        return await this.#estimate(asked);
      }
      this.#asked = asked;
      keptBytes = promptBytes;
      const { upstreamPath, createBody } = counting.upstream;
      const path = formatUpstreamPath(model, { upstreamPath, forwardedQuery }, query);
      const upstreamBody = createBody(read, model);
      budget.checkUpstreamBody(upstreamBody.byteLength);
      const { upstream, contextWindow } = model;
      return { upstream, path, body: upstreamBody, forwardedHeaders, contextWindow };
    } finally {
      this.#held.letGo(this.#hasEnded ? 0 : keptBytes);
    }
  }

  async onResponseStart(start: ResponseStart): Promise<ResponseMode | Reply> {
    const { model } = this.#requireAsked();
    const { reached } = this.#services;
    if (!isFromUpstream(start.codeDetails)) {
      const { startupSeconds } = model;
      const wasEverReached = reached.has(model.upstream);
      throw mapLocalOutcome(start, { startupSeconds, wasEverReached }).error;
    }
    reached.note(model.upstream);
    const { status, endOfStream } = start;
    if (HAS_NO_COUNT.has(status)) return this.#estimate(this.#requireAsked());
    if (status >= 200 && status <= 299 && !endOfStream) return "whole";
    this.#error = { status, retryAfter: start.retryAfter ?? null };
    return endOfStream ? this.onErrorBody(EMPTY) : "error";
  }

  async onWholeBody(body: Uint8Array): Promise<Uint8Array> {
    const counted = parseCompletion(body);
    if (!isJsonObject(counted) || !Number.isSafeInteger(counted["input_tokens"])) {
      const cause = new Error("the upstream's count has no `input_tokens`");
      throw new GatewayError("upstream_error", { cause });
    }
    this.#finished(200, null);
    return body;
  }

  async onErrorBody(body: Uint8Array): Promise<never> {
    if (this.#error === null) throw createOrderError("an error's body came without its start");
    throw this.#upstreamError(this.#error.status, this.#error.retryAfter, body);
  }

  async onBodyRefused(error: GatewayError): Promise<never> {
    throw error;
  }

  /** A count is no stream. */
  onChunk(): ResponsePiece {
    return { bytes: EMPTY, failed: null };
  }

  get keepAlive(): string {
    return "";
  }

  async onSilence(): Promise<ResponsePiece> {
    return this.onChunk();
  }

  onRefused(error: GatewayError): void {
    this.#finished(error.status(this.admission.protocol), error);
  }

  async onEnd(): Promise<void> {
    this.#hasEnded = true;
    this.#held.letGo(0);
    if (this.#isFinished) {
      this.#reported.drop();
      return;
    }
    const { result, error } = describeBrokenEnd(await this.#reported.take());
    this.#finished(result.status, error);
  }

  async #estimate({ model, counting, prompt }: Asked): Promise<Reply> {
    const subject = { model: model.id, organizationId: this.admission.organizationId };
    const tokens = await this.#services.estimator.countPrompt(subject, prompt.text);
    const count = counting.formatCount(tokens + prompt.media * MEDIA_TOKENS);
    this.#finished(200, null);
    return createJsonReply(200, count, this.admission);
  }

  #upstreamError(status: number, retryAfter: string | null, body: Uint8Array): GatewayError {
    const { model } = this.#requireAsked();
    const { startupSeconds, id } = model;
    const { protocol, requestId } = this.admission;
    const error = mapUpstreamError({ status, retryAfter, body, startupSeconds, model: id, protocol });
    logFailedUpstream(this.#services.logger, { requestId, model: id }, error, status);
    return error;
  }

  #requireAsked(): Asked {
    if (this.#asked !== null) return this.#asked;
    throw createOrderError("a response began before a request was routed");
  }

  /** The first call counts. */
  #finished(status: number, error: GatewayError | null): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    const durationMs = performance.now() - this.#startedMs;
    this.#services.meter.finished(describeEnd(this.admission, { status, error, durationMs }));
  }
}
