import type { GatewayError } from "../errors.ts";
import type { FinishedRequest, RequestMeter } from "../telemetry/request-meter.ts";
import type { Protocol } from "../translation/client-protocol.ts";
import type { AdmissionContext } from "./admission-context.ts";
import { Exchange, type ExchangeServices, type ResponsePiece, type Route } from "./exchange.ts";

/** An exchange with a stopwatch: tells the meter once how it ended. */
export class MeasuredExchange extends Exchange {
  readonly #meter: RequestMeter;
  readonly #startedMs = performance.now();
  #firstPieceMs: number | null = null;
  #isReported = false;

  constructor(
    context: AdmissionContext,
    protocol: Protocol,
    services: ExchangeServices & { readonly meter: RequestMeter },
  ) {
    super(context, protocol, services);
    this.#meter = services.meter;
  }

  override async onRequestBody(body: Uint8Array): Promise<Route> {
    const startMs = performance.now();
    const route = await super.onRequestBody(body);
    this.#meter.routed((performance.now() - startMs) / 1000);
    return route;
  }

  override async onWholeBody(body: Uint8Array): Promise<Uint8Array> {
    const bytes = await super.onWholeBody(body);
    this.#report(200, null);
    return bytes;
  }

  override onChunk(chunk: Uint8Array, endOfStream: boolean): ResponsePiece | Promise<ResponsePiece> {
    const startMs = performance.now();
    const piece = super.onChunk(chunk, endOfStream);
    if (piece instanceof Promise) {
      this.#firstPieceMs ??= startMs;
      return this.#onLastPiece(piece);
    }
    if (this.#firstPieceMs === null && piece.bytes.byteLength > 0) this.#firstPieceMs = startMs;
    this.#meter.chunk((performance.now() - startMs) / 1000);
    return piece;
  }

  override onRefused(error: GatewayError): void {
    super.onRefused(error);
    this.#report(error.status(this.protocol.name), error.publicCode);
  }

  override async onEnd(): Promise<void> {
    await super.onEnd();
    this.#report(499, null);
  }

  async #onLastPiece(last: Promise<ResponsePiece>): Promise<ResponsePiece> {
    const piece = await last;
    this.#report(200, piece.failed?.publicCode ?? null);
    return piece;
  }

  /** The first call counts: what comes later is the end of what was told already. */
  #report(status: number, code: string | null): void {
    if (this.#isReported) return;
    this.#isReported = true;
    const { requestId, endpoint, organizationId, keyId, currency } = this.context;
    const first = this.#firstPieceMs;
    const finished: FinishedRequest = {
      requestId,
      route: endpoint,
      organizationId,
      keyId,
      currency,
      model: this.modelId,
      status,
      code,
      settled: this.settled,
      usageContradiction: this.usageContradiction,
      durationMs: performance.now() - this.#startedMs,
      firstTokenMs: first === null ? null : first - this.#startedMs,
    };
    this.#meter.finished(finished);
  }
}
