/** Upstream responses to a metered request: whole, streamed, or an error. Each ends with the request's charge. */
import type { Model } from "../catalog/catalog.ts";
import { GatewayError } from "../../shared/contract/errors.ts";
import type { ClientResult } from "../request-log/line.ts";
import type { Answer, AnswerOutput } from "../translation/client-protocol.ts";
import { mapUpstreamError } from "../translation/upstream/map-error.ts";
import { howItFailed, joinOutputs } from "./answer-output.ts";
import { logFailedUpstream } from "./ends/log-failed-upstream.ts";
import type { Header } from "./reply.ts";
import type { ExchangeHost, RoutedRequest } from "./routed-request.ts";
import type {
  ErrorResponse,
  ResponseStart,
  StreamedResponse,
  WholeResponse,
} from "./upstream/upstream-call.ts";
import { withStartupTime } from "./upstream/upstream-outcome.ts";

const SUCCESS: ClientResult = { status: 200, errorCode: null };

/** Everything known when a response has begun. */
export interface BegunAnswer {
  readonly exchange: ExchangeHost;
  readonly model: Model;
  readonly answer: Answer;
  readonly budgetHeaders: readonly Header[];
}

/** Common part of whole and streamed responses. */
abstract class SuccessfulAnswer {
  protected readonly begun: BegunAnswer;

  constructor(begun: BegunAnswer) {
    this.begun = begun;
  }

  get contentType(): string {
    return this.begun.answer.contentType;
  }

  get budgetHeaders(): readonly Header[] {
    return this.begun.budgetHeaders;
  }
}

export class WholeAnswer extends SuccessfulAnswer implements WholeResponse {
  readonly kind = "whole";

  async onBody(body: Uint8Array): Promise<Uint8Array> {
    const { exchange, model, answer } = this.begun;
    let output: AnswerOutput;
    try {
      output = answer.translateBody(body);
    } catch (thrown) {
      const error = withStartupTime(GatewayError.from(thrown), model);
      exchange.timer.failed(error.cause);
      return exchange.refuse(howItFailed(answer), error);
    }
    await exchange.settle("complete", SUCCESS);
    exchange.finish(SUCCESS);
    return output.bytes;
  }

  async onBodyRefused(error: GatewayError): Promise<never> {
    const { exchange } = this.begun;
    exchange.timer.failed(error.cause ?? error.code);
    return exchange.refuse("broken", error);
  }
}

export class StreamedAnswer extends SuccessfulAnswer implements StreamedResponse {
  readonly kind = "stream";

  get keepAlive(): string {
    return this.begun.answer.keepAlive;
  }

  onChunk(chunk: Uint8Array, endOfStream: boolean): Uint8Array | Promise<Uint8Array> {
    const startMs = performance.now();
    const { answer, exchange } = this.begun;
    const pushed = answer.push(chunk);
    const output =
      endOfStream && !pushed.final && pushed.failed === null ? joinOutputs(pushed, answer.end()) : pushed;
    const isOver = output.failed !== null || output.final || endOfStream;
    const isAnswer = output.bytes.byteLength > 0 && output.isKeepAlive !== true;
    if (isAnswer || isOver) exchange.timer.reach("firstTokenMs");
    if (isOver) return this.#finish(output);
    exchange.timer.streamed(output.bytes.byteLength);
    exchange.services.meter.chunk((performance.now() - startMs) / 1000);
    return output.bytes;
  }

  onSilence(): Promise<Uint8Array> {
    const cause = new Error("the upstream stopped sending in the middle of its response");
    return this.#finish(this.begun.answer.fail(new GatewayError("upstream_timeout", { cause })));
  }

  async #finish({ bytes, failed }: AnswerOutput): Promise<Uint8Array> {
    const { answer, exchange } = this.begun;
    const result = { status: SUCCESS.status, errorCode: failed?.publicCode ?? null };
    if (failed !== null) {
      exchange.timer.failed(failed.cause);
      logFailedUpstream(exchange.services.logger, exchange.named, failed);
    }
    await exchange.settle(failed === null ? "complete" : howItFailed(answer), result);
    exchange.finish(result, failed);
    return bytes;
  }
}

/** An error response of an upstream. Nothing was generated, so the request is free. */
export class FailedAnswer implements ErrorResponse {
  readonly kind = "error";
  readonly #routed: RoutedRequest;
  readonly #status: number;
  readonly #retryAfter: string | null;

  constructor(routed: RoutedRequest, { status, retryAfter }: ResponseStart) {
    this.#routed = routed;
    this.#status = status;
    this.#retryAfter = retryAfter ?? null;
  }

  async onBody(body: Uint8Array): Promise<never> {
    const { exchange, model, target } = this.#routed;
    const error = mapUpstreamError({
      status: this.#status,
      retryAfter: this.#retryAfter,
      body,
      startupSeconds: model.startupSeconds,
      model: target.id,
      protocol: exchange.protocol.name,
    });
    exchange.timer.failed(error.cause);
    logFailedUpstream(exchange.services.logger, exchange.named, error, this.#status);
    return exchange.refuse("refused_by_upstream", error);
  }

  onEnd(): Promise<void> {
    return this.#routed.exchange.end("refused_by_upstream");
  }
}
