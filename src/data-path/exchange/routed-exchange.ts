/** A metered request that is recorded and routed: handles the upstream's response, or an earlier end. */
import { type ErrorOptions, GatewayError } from "../../shared/contract/errors.ts";
import type { Outcome } from "../request-log/line.ts";
import { CLIENT_DISCONNECTED } from "./ends/broken-end.ts";
import { describeCoding, isDecodable } from "./upstream/content-coding.ts";
import { FailedAnswer, StreamedAnswer, WholeAnswer } from "./exchange-answers.ts";
import { formatShrunkHeader, type Header } from "./reply.ts";
import type { RoutedRequest } from "./routed-request.ts";
import type { ResponseStart, RoutedCall, UpstreamResponse } from "./upstream/upstream-call.ts";
import { isFromUpstream, mapLocalOutcome } from "./upstream/upstream-outcome.ts";

const EMPTY = new Uint8Array(0);

export class RoutedExchange implements RoutedCall {
  readonly #routed: RoutedRequest;

  constructor(routed: RoutedRequest) {
    this.#routed = routed;
  }

  onSent(): void {
    const { exchange, model } = this.#routed;
    exchange.timer.handOver(model.upstream);
  }

  onEndUnsent(): Promise<void> {
    return this.#routed.exchange.end("not_sent", CLIENT_DISCONNECTED);
  }

  /** @throws GatewayError the client's error. The request is settled before it is thrown. */
  onResponseStart(start: ResponseStart): UpstreamResponse | Promise<never> {
    const { exchange, model, request } = this.#routed;
    const { services, timer } = exchange;
    if (start.attempts > 1) services.meter.retried(model.upstream);
    if (!isFromUpstream(start.codeDetails)) return this.#onLocalOutcome(start);
    services.reached.note(model.upstream);
    timer.answered(start.status);
    if (start.status < 200 || start.status > 299) return this.#onErrorStart(start);
    const { coding, contentType = "" } = start;
    if (coding !== null && !isDecodable(coding)) {
      return this.#refuseUnusable({ message: describeCoding(coding) });
    }
    const isStream = /^text\/event-stream\b/i.test(contentType);
    const problem =
      (isStream && !request.stream && "an event stream for a request without `stream`") ||
      (start.endOfStream && "no body");
    if (problem !== false) {
      return this.#refuseUnusable({ cause: new Error(`the upstream returned ${problem}`) });
    }
    return this.#onAnswerStart(isStream);
  }

  #refuseUnusable(reason: Pick<ErrorOptions, "message" | "cause">): Promise<never> {
    const { exchange } = this.#routed;
    exchange.timer.failed(reason.cause ?? reason.message);
    return exchange.refuse("broken", new GatewayError("upstream_error", reason));
  }

  onEnd(outcome: Outcome = "broken"): Promise<void> {
    return this.#routed.exchange.end(outcome);
  }

  #onAnswerStart(isStream: boolean): UpstreamResponse {
    const { exchange, model, target, account, request, wantsCost } = this.#routed;
    const answer = request.createAnswer({
      model: target,
      estimatedInputTokens: account.estimatedInputTokens,
      nowMs: exchange.services.nowMs,
      requestId: exchange.admission.identity.requestId,
      describeCost: wantsCost ? account.describeCost : null,
    });
    account.observe(answer);
    exchange.observe(answer.observation);
    const begun = { exchange, model, answer, budgetHeaders: this.#budgetHeaders };
    return isStream ? new StreamedAnswer(begun) : new WholeAnswer(begun);
  }

  get #budgetHeaders(): readonly Header[] {
    const { exchange, account } = this.#routed;
    return [...exchange.admission.headroom, ...formatShrunkHeader(account.shrunk)];
  }

  /** Envoy responded in place of the upstream. */
  #onLocalOutcome(start: ResponseStart): Promise<never> {
    const { exchange, model } = this.#routed;
    const { upstream, startupSeconds } = model;
    const { reached } = exchange.services;
    exchange.timer.failed(start.codeDetails);
    const wasEverReached = reached.has(upstream);
    const reply = { ...start, sinceSentMs: exchange.timer.sinceRoutedMs };
    const { error, outcome } = mapLocalOutcome(reply, { startupSeconds, wasEverReached });
    if (outcome !== "not_sent") reached.note(upstream);
    return exchange.refuse(outcome, error);
  }

  #onErrorStart(start: ResponseStart): UpstreamResponse | Promise<never> {
    const failed = new FailedAnswer(this.#routed, start);
    return start.endOfStream ? failed.onBody(EMPTY) : failed;
  }
}
