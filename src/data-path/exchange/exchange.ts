/**
 * One metered request after its admission: body → model → record → route. A `RoutedExchange` then takes over, followed
 * by one of the responses of `exchange-answers.ts`; they settle and finish the request here.
 *
 * Runs the stages in order and leaves each decision to its stage. A request is routed only after its record exists.
 * The last piece of a response is sent only after the final charge, or, for a short-lived request, while the charge
 * is on its way. Every exchange is settled exactly once, however it ends. If Redis fails to open its record, the request is
 * rejected.
 */
import type { Model } from "../catalog/catalog.ts";
import type { GatewayError } from "../../shared/contract/errors.ts";
import { oneStep } from "../../shared/event-loop/steps.ts";
import type { Admission } from "../limits/admission.ts";
import { formatDecimal } from "../../shared/money/money.ts";
import type { ClientResult, Outcome } from "../request-log/line.ts";
import type { RequestAccount } from "../settlement/request-account.ts";
import type { Settled } from "../settlement/settled.ts";
import type { NamedModel } from "../settlement/settlement.ts";
import type { Observation, Protocol } from "../translation/client-protocol.ts";
import { takeCostRequest } from "../translation/cost-request.ts";
import { measureParsed } from "../translation/json/measure-memory.ts";
import { CLIENT_DISCONNECTED, describeBrokenEnd } from "./ends/broken-end.ts";
import {
  atEndpoint,
  chooseTranslation,
  formatUpstreamPath,
  listForwarded,
  targetOf,
} from "./admission/choose-translation.ts";
import { describeEnd } from "./ends/describe-end.ts";
import type { ExchangeServices } from "./exchange-services.ts";
import { CountedBody } from "./bodies/counted-body.ts";
import { sanitizeModelName } from "./sanitize-model-name.ts";
import type { ExpectedEnd } from "./ends/reported-ends.ts";
import { RoutedExchange } from "./routed-exchange.ts";
import type { ExchangeHost } from "./routed-request.ts";
import { takeSession } from "./take-session.ts";
import { chooseServerHeaders } from "./upstream/server-headers.ts";
import { NO_HEADERS, type Route, type UpstreamCall } from "./upstream/upstream-call.ts";
import { UpstreamDraft } from "./upstream/upstream-draft.ts";
import { RequestTimer } from "./ends/request-timer.ts";

export interface ExchangeOptions {
  readonly admission: Admission;
  readonly protocol: Protocol;
  /** A request header asks for the cost in the response's usage. The body can ask for it as well. */
  readonly wantsCost?: boolean;
}

export class Exchange implements UpstreamCall, ExchangeHost {
  readonly protocol: Protocol;
  readonly services: ExchangeServices;
  readonly timer = new RequestTimer();
  readonly #wantsCost: boolean;
  readonly #counted: CountedBody;
  readonly #reported: ExpectedEnd;
  #admission: Admission;
  #settled: Settled | null = null;
  #model: Model | null = null;
  #requestedModel: string | null = null;
  #account: RequestAccount | null = null;
  #observation: Observation | null = null;

  constructor({ admission, protocol, wantsCost = false }: ExchangeOptions, services: ExchangeServices) {
    this.#admission = admission;
    this.protocol = protocol;
    this.services = services;
    this.#wantsCost = wantsCost;
    this.#counted = new CountedBody(services.budget, admission.caller);
    this.#reported = services.ends.expect(admission.identity.requestId);
  }

  get admission(): Admission {
    return this.#admission;
  }

  get settled(): Settled | null {
    return this.#settled;
  }

  get formattedCost(): string | null {
    if (this.#settled === null) return null;
    return `${formatDecimal(this.#settled.costMicrocents)} ${this.#admission.caller.currency}`;
  }

  get modelId(): string | null {
    return this.#model?.id ?? null;
  }

  /**
   * Handles the client's complete body.
   * @param query Query of the client's path, without the question mark.
   * @throws GatewayError (as a rejection) if the request is rejected; nothing is reserved then.
   */
  async onRequestBody(body: Uint8Array, query = "", headers = NO_HEADERS): Promise<Route> {
    const { budget, catalog, protocols, settlement, meter } = this.services;
    const startMs = performance.now();
    this.timer.reach("bodyMs");
    let retainedBytes = 0;
    try {
      const turn = this.#counted.begin(body);
      if (turn !== undefined) await turn;
      const { body: parsed, wantsCost } = takeCostRequest(
        await this.#counted.work(this.protocol.readBody(body)),
      );
      const requestedModel = (this.#requestedModel = sanitizeModelName(parsed.model));
      const model = (this.#model = catalog().requireModel(parsed.model, this.#admission.caller));
      const target = targetOf(model, parsed.model);
      const { body: read, admission } = takeSession(parsed, model.profile, this.#admission);
      this.#admission = admission;
      const translation = atEndpoint(chooseTranslation(this.protocol, model, protocols), admission.endpoint);
      const request = translation.parseRequest(read);
      const write = oneStep(() => new UpstreamDraft(request, target, admission.limits.isStrict, read.value));
      const draft = await this.#counted.work(write);
      budget.checkUpstreamBody(draft.byteLength);
      this.#counted.made(measureParsed(read) + draft.byteLength);
      const account = await settlement.open({
        admission,
        model,
        requestedModel,
        request,
        bodyBytes: body.byteLength,
        upstream: draft,
      });
      this.#account = account;
      request.release(target);
      retainedBytes = request.retainedBytes;
      meter.routed((performance.now() - startMs) / 1000);
      const wants = wantsCost || this.#wantsCost;
      const call = new RoutedExchange({ exchange: this, model, target, account, request, wantsCost: wants });
      const { upstream, contextWindow } = model;
      const path = formatUpstreamPath(model, translation, query);
      const forwardedHeaders = listForwarded(model, translation);
      const server = chooseServerHeaders(model, { admission, headers, body: parsed.value });
      this.timer.pinned(server.pinnedBy);
      const serverHeaders = server.headers;
      return { upstream, path, body: draft.bytes, forwardedHeaders, serverHeaders, contextWindow, call };
    } finally {
      this.#counted.release(retainedBytes);
    }
  }

  /** The client got an error. Errors before its record are added to the list of recent requests here. */
  onRefused(error: GatewayError): void {
    const clientResult = this.#resultOf(error);
    if (this.#account === null) {
      this.services.settlement.abandon(this.#admission);
      this.#recordRefusal(clientResult, error);
    }
    this.finish(clientResult, error);
  }

  /** The call ended while the body was still arriving. */
  async onEnd(): Promise<void> {
    this.services.settlement.abandon(this.#admission);
    const { result, error, cause } = describeBrokenEnd(await this.#reported.take());
    this.timer.failed(cause);
    const clientResult = error === null ? result : this.#resultOf(error);
    if (error !== null) this.#recordRefusal(clientResult, error);
    this.finish(clientResult, error);
  }

  async onEndAnswered(): Promise<void> {
    this.#counted.release(0);
    this.#reported.drop();
    await this.settle("broken", CLIENT_DISCONNECTED);
  }

  async end(outcome: Outcome, settledAs?: ClientResult): Promise<void> {
    this.#counted.release(0);
    if (settledAs !== undefined) await this.settle(outcome, settledAs);
    const end = await this.#reported.take();
    const { result, error, cause } = describeBrokenEnd(end, this.timer.streamedBytes);
    this.timer.failed(cause);
    await this.settle(outcome, result);
    this.finish(result, error);
  }

  async refuse(outcome: Outcome, error: GatewayError): Promise<never> {
    await this.settle(outcome, this.#resultOf(error));
    throw error;
  }

  /** Nothing is charged before routing. */
  async settle(outcome: Outcome, { status, errorCode }: ClientResult): Promise<void> {
    if (this.#account === null) return;
    const trace = this.timer.read(this.#names);
    this.#settled = await this.#account.settle(outcome, { status, errorCode, trace });
  }

  observe(observation: Observation): void {
    this.#observation = observation;
  }

  finish({ status }: ClientResult, error: GatewayError | null = null): void {
    const end = {
      status,
      error,
      model: this.modelId,
      settled: this.#settled,
      usageContradiction: this.#observation?.usageContradiction ?? null,
      unknownFinishReason: this.#observation?.unknownFinishReason ?? null,
      durationMs: this.timer.elapsedMs,
      firstTokenMs: this.timer.firstTokenMs,
    };
    this.services.meter.finished(describeEnd(this.#admission, end));
  }

  get named(): { readonly requestId: string; readonly model: string | null } {
    return { requestId: this.#admission.identity.requestId, model: this.modelId };
  }

  /** Names of the request in the list of recent requests. */
  get #names(): NamedModel {
    return { model: this.modelId, requestedModel: this.#requestedModel };
  }

  #recordRefusal(clientResult: ClientResult, error: GatewayError): void {
    const names = this.#names;
    const result = { ...clientResult, trace: this.timer.read(names) };
    this.services.settlement.recordRefusal(this.#admission, names, result, error);
  }

  #resultOf(error: GatewayError): ClientResult {
    return { status: error.status(this.protocol.name), errorCode: error.publicCode };
  }
}
