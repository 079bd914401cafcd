/**
 * One metered request after its admission: body → model → hold → route. From there on it is a `RoutedExchange`, and then
 * one of the answers of `exchange-answers.ts`; they settle and finish it here.
 *
 * It conducts the stages and decides nothing that belongs to one of them. A request is routed only when it is on record;
 * the last piece of an answer is given out only after its final charge is, or (of a brief one) is on its way; whatever way
 * the exchange ends, it is settled exactly once. When Redis fails at the hold, the request is refused.
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
import { takeCostWish } from "../translation/cost-wish.ts";
import { measureParsed } from "../translation/json/measure-memory.ts";
import { CLIENT_GONE, describeBrokenEnd } from "./ends/broken-end.ts";
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
import { recordName } from "./record-name.ts";
import type { ExpectedEnd } from "./ends/reported-ends.ts";
import { RoutedExchange } from "./routed-exchange.ts";
import type { ExchangeHost } from "./routed-request.ts";
import { takeSession } from "./take-session.ts";
import type { Route, UpstreamCall } from "./upstream/upstream-call.ts";
import { UpstreamDraft } from "./upstream/upstream-draft.ts";
import { WayMeter } from "./ends/way-meter.ts";

export interface ExchangeOptions {
  readonly admission: Admission;
  readonly protocol: Protocol;
  /** The client asks by a header for the cost in the usage of its answer; its body may ask for it, too. */
  readonly wantsCost?: boolean;
}

export class Exchange implements UpstreamCall, ExchangeHost {
  readonly protocol: Protocol;
  readonly services: ExchangeServices;
  readonly way = new WayMeter();
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
    this.#counted = new CountedBody(services.budget, admission);
    this.#reported = services.ends.expect(admission.requestId);
  }

  get admission(): Admission {
    return this.#admission;
  }

  get settled(): Settled | null {
    return this.#settled;
  }

  get formattedCost(): string | null {
    if (this.#settled === null) return null;
    return `${formatDecimal(this.#settled.costMicrocents)} ${this.#admission.currency}`;
  }

  get modelId(): string | null {
    return this.#model?.id ?? null;
  }

  /**
   * The client's whole body has come.
   * @param query It is that of the client's path, without the question mark.
   * @throws GatewayError It rejects with it when the request is refused; nothing is held then.
   */
  async onRequestBody(body: Uint8Array, query = ""): Promise<Route> {
    const { budget, catalog, protocols, settlement, meter } = this.services;
    const startMs = performance.now();
    this.way.reach("bodyMs");
    let keptBytes = 0;
    try {
      const turn = this.#counted.begin(body);
      if (turn !== undefined) await turn;
      const { body: told, wantsCost } = takeCostWish(await this.#counted.work(this.protocol.readBody(body)));
      const requestedModel = (this.#requestedModel = recordName(told.model));
      const model = (this.#model = catalog().requireModel(told.model, this.#admission));
      const target = targetOf(model, told.model);
      const { body: read, admission } = takeSession(told, model.profile, this.#admission);
      this.#admission = admission;
      const translation = atEndpoint(chooseTranslation(this.protocol, model, protocols), admission.endpoint);
      const request = translation.parseRequest(read);
      const write = oneStep(() => new UpstreamDraft(request, target, admission.isStrict, read.value));
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
      request.letGo(target);
      keptBytes = request.keptBytes;
      meter.routed((performance.now() - startMs) / 1000);
      const call = new RoutedExchange({
        exchange: this,
        model,
        target,
        account,
        request,
        wantsCost: wantsCost || this.#wantsCost,
      });
      const { upstream, contextWindow } = model;
      const path = formatUpstreamPath(model, translation, query);
      const forwardedHeaders = listForwarded(model, translation);
      return { upstream, path, body: draft.bytes, forwardedHeaders, contextWindow, call };
    } finally {
      this.#counted.letGo(keptBytes);
    }
  }

  /** The client was told an error. One that came before the hold is put on the list of recent requests here. */
  onRefused(error: GatewayError): void {
    const told = this.#told(error);
    if (this.#account === null) {
      this.services.settlement.leave(this.#admission);
      this.#recordRefusal(told, error);
    }
    this.finish(told, error);
  }

  /** It ended while its body was on its way. */
  async onEnd(): Promise<void> {
    this.services.settlement.leave(this.#admission);
    const { result, error, cause } = describeBrokenEnd(await this.#reported.take());
    this.way.failed(cause);
    const told = error === null ? result : this.#told(error);
    if (error !== null) this.#recordRefusal(told, error);
    this.finish(told, error);
  }

  async onEndAnswered(): Promise<void> {
    this.#counted.letGo(0);
    this.#reported.drop();
    await this.settle("broken", CLIENT_GONE);
  }

  async end(outcome: Outcome, settledAs?: ClientResult): Promise<void> {
    this.#counted.letGo(0);
    if (settledAs !== undefined) await this.settle(outcome, settledAs);
    const end = await this.#reported.take();
    const { result, error, cause } = describeBrokenEnd(end, this.way.streamedBytes);
    this.way.failed(cause);
    await this.settle(outcome, result);
    this.finish(result, error);
  }

  async refuse(outcome: Outcome, error: GatewayError): Promise<never> {
    await this.settle(outcome, this.#told(error));
    throw error;
  }

  /** Nothing is charged before it is routed. */
  async settle(outcome: Outcome, { status, errorCode }: ClientResult): Promise<void> {
    if (this.#account === null) return;
    const way = this.way.read(this.#names);
    this.#settled = await this.#account.settle(outcome, { status, errorCode, way });
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
      durationMs: this.way.elapsedMs,
      firstTokenMs: this.way.firstTokenMs,
    };
    this.services.meter.finished(describeEnd(this.#admission, end));
  }

  get named(): { readonly requestId: string; readonly model: string | null } {
    return { requestId: this.#admission.requestId, model: this.modelId };
  }

  /** The list of recent requests names the request by these. */
  get #names(): NamedModel {
    return { model: this.modelId, requestedModel: this.#requestedModel };
  }

  #recordRefusal(told: ClientResult, error: GatewayError): void {
    const names = this.#names;
    const result = { ...told, way: this.way.read(names) };
    this.services.settlement.recordRefusal(this.#admission, names, result, error);
  }

  #told(error: GatewayError): ClientResult {
    return { status: error.status(this.protocol.name), errorCode: error.publicCode };
  }
}
