/**
 * One metered request after its admission, phase by phase: body → model → hold → upstream → answer → charge.
 *
 * It conducts the stages and decides nothing that belongs to one of them. A request is routed only when it is on record;
 * the last piece of an answer is given out only after its final charge is, or (of a brief one) is on its way; whatever way
 * the exchange ends, it is settled exactly once. When Redis fails at the hold, the request is refused.
 */
import type { Model } from "../catalog/catalog.ts";
import { GatewayError } from "../contract/errors.ts";
import type { Admission } from "../limits/admission.ts";
import { formatDecimal } from "../money/money.ts";
import type { ClientResult, Outcome } from "../request-log/line.ts";
import type { RequestAccount } from "../settlement/request-account.ts";
import type { Settled } from "../settlement/settled.ts";
import type { NamedModel } from "../settlement/settlement.ts";
import type {
  Answer,
  AnswerOutput,
  ClientRequest,
  ModelTarget,
  Observation,
  Protocol,
} from "../translation/client-protocol.ts";
import { takeCostWish } from "../translation/cost-wish.ts";
import { mapUpstreamError } from "../translation/upstream/map-error.ts";
import { CLIENT_GONE, describeBrokenEnd } from "./broken-end.ts";
import { howItFailed, joinOutputs } from "./answer-output.ts";
import {
  atEndpoint,
  chooseTranslation,
  formatUpstreamPath,
  listForwarded,
  targetOf,
} from "./choose-translation.ts";
import type { ExchangeServices } from "./exchange-services.ts";
import { HeldBody } from "./held-body.ts";
import { measureParsed } from "../translation/json/measure-memory.ts";
import { describeEnd } from "./describe-end.ts";
import { logFailedUpstream } from "./log-failed-upstream.ts";
import { recordName } from "./record-name.ts";
import { takeSession } from "./take-session.ts";
import { WayMeter } from "./way-meter.ts";
import { createOrderError } from "./order-error.ts";
import { formatShrunkHeader, type Header } from "./reply.ts";
import type { ExpectedEnd } from "./reported-ends.ts";
import type { ResponseMode, ResponsePiece, ResponseStart, Route, UpstreamCall } from "./upstream-call.ts";
import { writeDraft } from "./upstream-draft.ts";
import { isFromUpstream, mapLocalOutcome, withStartupTime } from "./upstream-outcome.ts";

const SUCCESS: ClientResult = { status: 200, errorCode: null };
const EMPTY = new Uint8Array(0);
const NOTHING_MORE: ResponsePiece = { bytes: EMPTY, failed: null };

/** What the upstream is expected to send next. */
type Expectation =
  | { readonly kind: "nothing" }
  | { readonly kind: "answer"; readonly answer: Answer }
  | { readonly kind: "error"; readonly status: number; readonly retryAfter: string | null };

export class Exchange implements UpstreamCall {
  admission: Admission;
  /** The client asks for the cost in the usage of its answer. */
  wantsCost = false;
  readonly #protocol: Protocol;
  readonly #services: ExchangeServices;
  #request: ClientRequest | null = null;
  #model: Model | null = null;
  /** The model under the name that the client asked for. */
  #target: ModelTarget | null = null;
  #requestedModel: string | null = null;
  #account: RequestAccount | null = null;
  #expectation: Expectation = { kind: "nothing" };
  #observation: Observation | null = null;
  #settled: Settled | null = null;
  #ended = false;
  /** From here on it is `onRequestBody` that says whether the request goes upstream. */
  #hasBody = false;
  readonly #held: HeldBody;
  readonly #way = new WayMeter();
  readonly #reported: ExpectedEnd;
  #isFinished = false;

  constructor(admission: Admission, protocol: Protocol, services: ExchangeServices) {
    this.admission = admission;
    this.#protocol = protocol;
    this.#services = services;
    this.#held = new HeldBody(services.budget, admission);
    this.#reported = services.ends.expect(admission.requestId);
  }

  get formattedCost(): string | null {
    if (this.#settled === null) return null;
    return `${formatDecimal(this.#settled.costMicrocents)} ${this.admission.currency}`;
  }

  get protocol(): Protocol {
    return this.#protocol;
  }

  get modelId(): string | null {
    return this.#model?.id ?? null;
  }

  get settled(): Settled | null {
    return this.#settled;
  }

  get budgetHeaders(): readonly Header[] {
    return [...this.admission.headroom, ...formatShrunkHeader(this.#account?.shrunk ?? null)];
  }

  get contentType(): string {
    return this.#expectation.kind === "answer" ? this.#expectation.answer.contentType : "application/json";
  }

  /**
   * The client's whole body.
   * @param query Of the client's path, without the question mark.
   * @throws GatewayError when the request is refused; nothing is held then.
   */
  async onRequestBody(body: Uint8Array, query = ""): Promise<Route> {
    const { budget, catalog, protocols, settlement, meter } = this.#services;
    const startMs = performance.now();
    this.#way.reach("bodyMs");
    this.#hasBody = true;
    let keptBytes = 0;
    try {
      const turn = this.#held.begin(body);
      if (turn !== undefined) await turn;
      const { body: told, wantsCost } = takeCostWish(await this.#held.work(this.#protocol.readBody(body)));
      if (wantsCost) this.wantsCost = true;
      const requestedModel = (this.#requestedModel = recordName(told.model));
      const model = (this.#model = catalog().requireModel(told.model, this.admission));
      this.#target = targetOf(model, told.model);
      const { body: read, admission } = takeSession(told, model.profile, this.admission);
      this.admission = admission;
      const translation = atEndpoint(chooseTranslation(this.#protocol, model, protocols), admission.endpoint);
      const request = translation.parseRequest(read);
      const draft = await this.#held.work(writeDraft(request, this.#target, admission, read));
      budget.checkUpstreamBody(draft.byteLength);
      this.#held.made(measureParsed(read) + draft.byteLength);
      const account = await settlement.open({
        admission,
        model,
        requestedModel,
        request,
        bodyBytes: body.byteLength,
        upstream: draft,
      });
      request.letGo(this.#target);
      keptBytes = request.keptBytes;
      this.#request = request;
      this.#account = account;
      // The client went away while the hold was being placed: nothing will be sent.
      if (this.#ended) await this.#settle("not_sent", CLIENT_GONE);
      this.#way.handOver(model.upstream);
      meter.routed((performance.now() - startMs) / 1000);
      const forwardedHeaders = listForwarded(model, translation);
      const path = formatUpstreamPath(model, translation, query);
      const { upstream, contextWindow } = model;
      return { upstream, path, body: draft.bytes, forwardedHeaders, contextWindow };
    } catch (thrown) {
      if (this.#account === null) settlement.leave(this.admission);
      throw thrown;
    } finally {
      this.#held.letGo(this.#ended ? 0 : keptBytes);
    }
  }

  /**
   * The upstream's response has begun. A promise only where it is refused: what is read goes on at once.
   * @throws GatewayError what the client is told instead; the request is settled then.
   */
  onResponseStart(start: ResponseStart): ResponseMode | Promise<ResponseMode> {
    const { model, target, account, request } = this.#opened();
    if (start.attempts > 1) this.#services.meter.retried(model.upstream);
    if (!isFromUpstream(start.codeDetails)) return this.#onLocalOutcome(start, model);
    this.#services.reached.note(model.upstream);
    this.#way.answered(start.status);
    if (start.status < 200 || start.status > 299) return this.#onErrorStart(start);
    const { contentType = "", contentEncoding: encoding = "identity" } = start;
    const isStream = /^text\/event-stream\b/i.test(contentType);
    const problem =
      (encoding !== "identity" && `content-encoding ${encoding}`) ||
      (isStream && !request.stream && "an event stream in answer to a request without `stream`") ||
      (start.endOfStream && "no body");
    if (problem !== false) {
      const cause = new Error(`the upstream answered with ${problem}`);
      this.#way.failed(cause);
      return this.#refuseResponse("broken", new GatewayError("upstream_error", { cause }));
    }
    const answer = request.createAnswer({
      model: target,
      estimatedInputTokens: account.estimatedInputTokens,
      nowMs: this.#services.nowMs,
      requestId: this.admission.requestId,
      describeCost: this.wantsCost ? account.describeCost : null,
    });
    account.observe(answer);
    this.#observation = answer.observation;
    this.#expectation = { kind: "answer", answer };
    return isStream ? "stream" : "whole";
  }

  /**
   * The whole body of a response that is not streamed.
   * @throws GatewayError what the client is told instead; the request is settled then.
   */
  async onWholeBody(body: Uint8Array): Promise<Uint8Array> {
    const expectation = this.#expectation;
    if (expectation.kind !== "answer") return EMPTY;
    let output: AnswerOutput;
    try {
      output = expectation.answer.translateBody(body);
    } catch (thrown) {
      const error = withStartupTime(GatewayError.from(thrown), this.#opened().model);
      this.#way.failed(error.cause);
      await this.#settle(howItFailed(expectation.answer), this.#told(error));
      throw error;
    }
    await this.#settle("complete", SUCCESS);
    this.#finished(SUCCESS);
    return output.bytes;
  }

  async onErrorBody(body: Uint8Array): Promise<never> {
    const { status, retryAfter } = this.#failedStart();
    throw await this.#upstreamError(status, retryAfter, body);
  }

  async onBodyRefused(error: GatewayError): Promise<never> {
    this.#way.failed(error.cause ?? error.code);
    return this.#refuseResponse("broken", error);
  }

  /**
   * The next bytes of a streamed response. Never throws after the stream has begun: errors are events in it. A promise
   * only where the answer's last piece waits for its charge.
   */
  onChunk(chunk: Uint8Array, endOfStream: boolean): ResponsePiece | Promise<ResponsePiece> {
    if (this.#expectation.kind !== "answer") return NOTHING_MORE;
    const startMs = performance.now();
    const { answer } = this.#expectation;
    const pushed = answer.push(chunk);
    const output =
      endOfStream && !pushed.final && pushed.failed === null ? joinOutputs(pushed, answer.end()) : pushed;
    const isOver = output.failed !== null || output.final || endOfStream;
    const isAnswer = output.bytes.byteLength > 0 && output.isKeepAlive !== true;
    if (isAnswer || isOver) this.#way.reach("firstTokenMs");
    if (!isOver) {
      this.#services.meter.chunk((performance.now() - startMs) / 1000);
      return { bytes: output.bytes, failed: null };
    }
    // What comes after the last piece, or after an error event, is nobody's any more.
    this.#expectation = { kind: "nothing" };
    return this.#finishStream(answer, output);
  }

  get keepAlive(): string {
    return this.#expectation.kind === "answer" ? this.#expectation.answer.keepAlive : "";
  }

  async onSilence(): Promise<ResponsePiece> {
    if (this.#expectation.kind !== "answer") return NOTHING_MORE;
    const { answer } = this.#expectation;
    this.#expectation = { kind: "nothing" };
    const cause = new Error("the upstream was silent for too long in mid-answer");
    return this.#finishStream(answer, answer.fail(new GatewayError("upstream_timeout", { cause })));
  }

  /** The client was told an error. One that came before the hold is put on the list of recent requests here. */
  onRefused(error: GatewayError): void {
    const told = this.#told(error);
    if (this.#account === null) {
      this.#services.settlement.recordRefusal(
        this.admission,
        this.#names,
        { ...told, way: this.#way.read(this.#names) },
        error,
      );
    }
    this.#finished(told, error);
  }

  /**
   * The exchange is over, whichever way: Envoy finished it, the client went away, or the upstream broke off. Settles
   * what is not settled yet. Never throws.
   */
  async onEnd(): Promise<void> {
    this.#ended = true;
    if (this.#request !== null) this.#held.letGo(0);
    if (!this.#hasBody) this.#services.settlement.leave(this.admission);
    if (this.#isFinished) {
      this.#reported.drop();
      await this.#settle("broken", CLIENT_GONE);
      return;
    }
    const { result, error, cause } = describeBrokenEnd(await this.#reported.take());
    this.#way.failed(cause);
    if (error !== null && this.#account === null) this.onRefused(error);
    await this.#settle(this.#expectation.kind === "error" ? "refused_by_upstream" : "broken", result);
    this.#finished(result, error);
  }

  async #finishStream(answer: Answer, output: AnswerOutput): Promise<ResponsePiece> {
    const result = { status: SUCCESS.status, errorCode: output.failed?.publicCode ?? null };
    if (output.failed !== null) {
      this.#way.failed(output.failed.cause);
      logFailedUpstream(this.#services.logger, this.#named, output.failed);
    }
    await this.#settle(output.failed === null ? "complete" : howItFailed(answer), result);
    this.#finished(result, output.failed);
    return { bytes: output.bytes, failed: output.failed };
  }

  /** Envoy's own answer, in the upstream's place. */
  #onLocalOutcome(start: ResponseStart, { upstream, startupSeconds }: Model): Promise<never> {
    const { reached } = this.#services;
    this.#way.failed(start.codeDetails);
    const wasEverReached = reached.has(upstream);
    const { error, outcome } = mapLocalOutcome(start, { startupSeconds, wasEverReached });
    if (outcome !== "not_sent") reached.note(upstream);
    return this.#refuseResponse(outcome, error);
  }

  async #refuseResponse(outcome: Outcome, error: GatewayError): Promise<never> {
    await this.#settle(outcome, this.#told(error));
    throw error;
  }

  #onErrorStart(start: ResponseStart): ResponseMode | Promise<never> {
    this.#expectation = { kind: "error", status: start.status, retryAfter: start.retryAfter ?? null };
    return start.endOfStream ? this.onErrorBody(EMPTY) : "error";
  }

  /** An upstream that answers with an error status has generated nothing: the request costs nothing. */
  async #upstreamError(status: number, retryAfter: string | null, body: Uint8Array): Promise<GatewayError> {
    const { model, target } = this.#opened();
    const error = mapUpstreamError({
      status,
      retryAfter,
      body,
      startupSeconds: model.startupSeconds,
      model: target.id,
      protocol: this.#protocol.name,
    });
    this.#way.failed(error.cause);
    logFailedUpstream(this.#services.logger, this.#named, error, status);
    await this.#settle("refused_by_upstream", this.#told(error));
    return error;
  }

  async #settle(outcome: Outcome, { status, errorCode }: ClientResult): Promise<void> {
    if (this.#account === null) return;
    const way = this.#way.read(this.#names);
    this.#settled = await this.#account.settle(outcome, { status, errorCode, way });
  }

  /** The first call counts: what comes later is the end of what was told already. */
  #finished({ status }: ClientResult, error: GatewayError | null = null): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    const end = {
      status,
      error,
      model: this.modelId,
      settled: this.#settled,
      usageContradiction: this.#observation?.usageContradiction ?? null,
      durationMs: this.#way.elapsedMs,
      firstTokenMs: this.#way.firstTokenMs,
    };
    this.#services.meter.finished(describeEnd(this.admission, end));
  }

  /** What the list of recent requests says of an error. */
  get #names(): NamedModel {
    return { model: this.modelId, requestedModel: this.#requestedModel };
  }

  get #named(): { readonly requestId: string; readonly model: string | null } {
    return { requestId: this.admission.requestId, model: this.modelId };
  }

  #told(error: GatewayError): ClientResult {
    return { status: error.status(this.#protocol.name), errorCode: error.publicCode };
  }

  #opened(): { model: Model; target: ModelTarget; account: RequestAccount; request: ClientRequest } {
    const [model, target, account, request] = [this.#model, this.#target, this.#account, this.#request];
    if (model === null || target === null || account === null || request === null) {
      throw createOrderError("a response began before a request was routed");
    }
    return { model, target, account, request };
  }

  #failedStart(): Extract<Expectation, { kind: "error" }> {
    if (this.#expectation.kind === "error") return this.#expectation;
    throw createOrderError("an error's body came without its start");
  }
}
