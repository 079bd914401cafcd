/**
 * `POST /v1/messages/count_tokens` and `POST /v1/responses/input_tokens`. Forwards the count to an upstream that
 * speaks the protocol. If the upstream cannot count, or the model needs a translation, estimates the prompt's tokens
 * with a tokenizer. Counts are free: no reservation, no charge.
 */
import type { Model } from "../catalog/catalog.ts";
import { GatewayError } from "../../shared/contract/errors.ts";
import { asBuffer } from "../../shared/text/as-buffer.ts";
import { isJsonObject } from "../../shared/text/json-object.ts";
import type { Admission } from "../limits/admission.ts";
import type { TokenEstimator } from "../settlement/tokens/token-estimator.ts";
import { MEDIA_TOKENS } from "../settlement/tokens/estimate-prompt.ts";
import type { RequestMeter } from "../../shared/telemetry/request-meter.ts";
import type { PromptText, TokenCounting } from "../translation/client-protocol.ts";
import { mapUpstreamError } from "../translation/upstream/map-error.ts";
import { tryParseJsonText } from "../translation/json/parse-json-text.ts";
import { chooseTranslation, formatUpstreamPath, listForwarded } from "./admission/choose-translation.ts";
import { describeBrokenEnd } from "./ends/broken-end.ts";
import { describeEnd } from "./ends/describe-end.ts";
import type { ExchangeServices } from "./exchange-services.ts";
import { logFailedUpstream } from "./ends/log-failed-upstream.ts";
import { createJsonReply, type Reply } from "./reply.ts";
import type { ExpectedEnd } from "./ends/reported-ends.ts";
import { CountedBody } from "./bodies/counted-body.ts";
import { measureParsed, measureText } from "../translation/json/measure-memory.ts";
import { chooseServerHeaders } from "./upstream/server-headers.ts";
import { isFromUpstream, mapLocalOutcome } from "./upstream/upstream-outcome.ts";
import { withoutSession } from "./take-session.ts";
import {
  NO_HEADERS,
  type ResponseStart,
  type RoutedCall,
  type Route,
  type UpstreamCall,
  type UpstreamResponse,
} from "./upstream/upstream-call.ts";

export interface CountServices extends Pick<
  ExchangeServices,
  "catalog" | "protocols" | "budget" | "reached" | "ends" | "logger"
> {
  readonly estimator: Pick<TokenEstimator, "countPrompt">;
  readonly meter: Pick<RequestMeter, "finished">;
}

/** A count request that was sent upstream. */
interface CountRequest {
  readonly model: Model;
  readonly counting: TokenCounting;
  readonly prompt: PromptText;
}

const EMPTY = new Uint8Array(0);
/**
 * Error statuses that are passed to the client, because they concern the request, the operator's account or a
 * temporary condition (unless the text says that the upstream cannot count). Any other status means that the upstream
 * cannot count.
 */
const PASSED_STATUSES: ReadonlySet<number> = new Set([400, 401, 402, 413, 422, 429, 503, 529]);
/** Bedrock's "The provided model doesn't support counting tokens." and similar texts. */
const CANNOT_COUNT =
  /(?=.*(?:count|input_tokens|endpoint|route))(?=.*(?:not|n['’]t|un)[ -]?(?:support|implement|available|recogni|found|known))/is;

export class CountExchange implements UpstreamCall {
  readonly admission: Admission;
  readonly services: CountServices;
  readonly settled = null;
  /** Counts are free and report no cost. */
  readonly formattedCost = null;
  readonly #startedMs = performance.now();
  readonly #counted: CountedBody;
  readonly #reported: ExpectedEnd;
  #model: Model | null = null;

  constructor(admission: Admission, services: CountServices) {
    this.admission = admission;
    this.services = services;
    this.#counted = new CountedBody(services.budget, admission.caller);
    this.#reported = services.ends.expect(admission.identity.requestId);
  }

  get modelId(): string | null {
    return this.#model?.id ?? null;
  }

  async onRequestBody(body: Uint8Array, query: string, headers = NO_HEADERS): Promise<Route | Reply> {
    const { budget, catalog, protocols } = this.services;
    let retainedBytes = 0;
    try {
      const turn = this.#counted.begin(body);
      if (turn !== undefined) await turn;
      const protocol = protocols[this.admission.protocol];
      const parsed = await this.#counted.work(protocol.readBody(body));
      const model = catalog().requireModel(parsed.model, this.admission.caller);
      const read = withoutSession(parsed, model.profile);
      this.#model = model;
      const translation = chooseTranslation(protocol, model, protocols);
      const { counting, forwardedQuery = [] } = translation;
      const forwardedHeaders = listForwarded(model, translation);
      if (counting === null) throw new GatewayError("unknown_endpoint");
      const prompt = await this.#counted.work(counting.readPrompt(read, model));
      const count = { model, counting, prompt };
      const promptBytes = measureText(count.prompt.text);
      this.#counted.made(measureParsed(read) + promptBytes);
      if (counting.upstream === null) {
        this.#counted.release(promptBytes);
        return await this.estimate(count);
      }
      retainedBytes = promptBytes;
      const { upstreamPath, createBody } = counting.upstream;
      const path = formatUpstreamPath(model, { upstreamPath, forwardedQuery }, query);
      const upstreamBody = createBody(read, model);
      budget.checkUpstreamBody(upstreamBody.byteLength);
      const { upstream, contextWindow } = model;
      const call = new RoutedCount(this, count);
      const { headers: serverHeaders } = chooseServerHeaders(model, {
        admission: this.admission,
        headers,
        body: parsed.value,
      });
      return { upstream, path, body: upstreamBody, forwardedHeaders, serverHeaders, contextWindow, call };
    } finally {
      this.#counted.release(retainedBytes);
    }
  }

  onRefused(error: GatewayError): void {
    this.finish(error.status(this.admission.protocol), error);
  }

  /** The call ended before the client got a response; Envoy's log has the reason. */
  async onEnd(): Promise<void> {
    this.#counted.release(0);
    const { result, error } = describeBrokenEnd(await this.#reported.take());
    this.finish(result.status, error);
  }

  async onEndAnswered(): Promise<void> {
    this.#counted.release(0);
    this.#reported.drop();
  }

  async estimate(count: CountRequest): Promise<Reply> {
    return createJsonReply(200, await this.estimateCount(count), this.admission);
  }

  /** Response body for the client. */
  async estimateCount({ model, counting, prompt }: CountRequest): Promise<object> {
    const subject = { model: model.id, organizationId: this.admission.caller.organizationId };
    const tokens = await this.services.estimator.countPrompt(subject, prompt.text);
    this.finish(200, null);
    return counting.formatCount(tokens + prompt.media * MEDIA_TOKENS);
  }

  /** Records the client's result. Call once, in the phase that decides it. */
  finish(status: number, error: GatewayError | null): void {
    const durationMs = performance.now() - this.#startedMs;
    this.services.meter.finished(describeEnd(this.admission, { status, error, durationMs }));
  }
}

/** A count that is answered by the upstream. */
class RoutedCount implements RoutedCall {
  readonly #exchange: CountExchange;
  readonly #count: CountRequest;

  constructor(exchange: CountExchange, count: CountRequest) {
    this.#exchange = exchange;
    this.#count = count;
  }

  onSent(): void {}

  onEndUnsent(): Promise<void> {
    return this.#exchange.onEnd();
  }

  onEnd(): Promise<void> {
    return this.#exchange.onEnd();
  }

  onResponseStart(start: ResponseStart): UpstreamResponse | Promise<Reply> {
    const { model } = this.#count;
    const { reached } = this.#exchange.services;
    if (!isFromUpstream(start.codeDetails)) {
      const { startupSeconds } = model;
      const wasEverReached = reached.has(model.upstream);
      // A count is free, so the time at which its connection was lost does not matter.
      const reply = { ...start, sinceSentMs: 0 };
      throw mapLocalOutcome(reply, { startupSeconds, wasEverReached }).error;
    }
    reached.note(model.upstream);
    const { status, endOfStream } = start;
    if (status >= 200 && status <= 299 && !endOfStream) return this.#whole;
    if (!PASSED_STATUSES.has(status)) return this.#exchange.estimate(this.#count);
    if (endOfStream) throw this.#upstreamError(start, EMPTY);
    return {
      kind: "error",
      onBody: async (body) => {
        const error = this.#upstreamError(start, body);
        if (!CANNOT_COUNT.test(error.message)) throw error;
        return this.#exchange.estimate(this.#count);
      },
      onEnd: () => this.#exchange.onEnd(),
    };
  }

  get #whole(): UpstreamResponse {
    return {
      kind: "whole",
      contentType: "application/json",
      budgetHeaders: [],
      onBody: async (body) => {
        const counted = tryParseJsonText(asBuffer(body).toString("utf8"));
        if (!isJsonObject(counted) || !Number.isSafeInteger(counted["input_tokens"])) {
          return Buffer.from(JSON.stringify(await this.#exchange.estimateCount(this.#count)));
        }
        this.#exchange.finish(200, null);
        return body;
      },
      onBodyRefused: async (error) => {
        throw error;
      },
    };
  }

  #upstreamError({ status, ...start }: ResponseStart, body: Uint8Array): GatewayError {
    const retryAfter = start.retryAfter ?? null;
    const { startupSeconds, id } = this.#count.model;
    const { admission, services } = this.#exchange;
    const { protocol, identity } = admission;
    const error = mapUpstreamError({ status, retryAfter, body, startupSeconds, model: id, protocol });
    logFailedUpstream(services.logger, { requestId: identity.requestId, model: id }, error, status);
    return error;
  }
}
