/** What is counted and logged of each request: once, at its end. */
import type { Counter } from "prom-client";
import type { Logger } from "../logger.ts";
import type { Metrics } from "./metrics.ts";

export interface MeteredTokens {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  readonly cacheWrite1hTokens: number;
  readonly inputAudioTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly outputAudioTokens: number;
}

/** A request at its end. */
export interface FinishedRequest {
  readonly requestId: string | null;
  /** Name of the endpoint, never the path. */
  readonly route: string;
  readonly organizationId: string | null;
  readonly keyId: string | null;
  readonly currency: string | null;
  /** Of the catalog. */
  readonly model: string | null;
  readonly status: number;
  readonly code: string | null;
  /** Null: not metered, or refused before it was. */
  readonly settled: {
    readonly tokens: MeteredTokens;
    readonly costMicrocents: bigint;
    readonly estimated: boolean;
    /** What the upstream served it as and nobody has set a price for. */
    readonly unpricedServiceTier: string | null;
  } | null;
  /** Figures of the upstream's usage that cannot all be true, by kind. */
  readonly usageContradiction: string | null;
  readonly durationMs: number;
  /** From the beginning to the first bytes of a streamed answer; null where it did not stream. */
  readonly firstTokenMs: number | null;
}

export interface RequestMeterOptions {
  readonly metrics: Metrics;
  readonly logger: Logger<"info">;
}

/** Labels are kept for so many organizations of a worker; the rest is `other`. */
export const MAX_ORGANIZATION_LABELS = 100;
const REFUSALS: ReadonlyMap<string, string> = new Map([
  ["rate_limit_exceeded", "bucket"],
  ["concurrency_limit_exceeded", "concurrency"],
  ["hard_cap_reached", "key_cap"],
  ["org_hard_cap_reached", "organization_cap"],
]);
/** `gen_ai.operation.name` of OpenTelemetry, where it is not `chat`. */
const OPERATIONS: ReadonlyMap<string, string> = new Map([
  ["embeddings", "embeddings"],
  ["completions", "text_completion"],
]);
/** Names that upstreams give to service tiers; a label must not take whatever one makes up. */
const KNOWN_TIERS: ReadonlySet<string> = new Set(["batch", "flex", "performance", "priority", "scale"]);

export class RequestMeter {
  readonly #options: RequestMeterOptions;
  readonly #organizations = new Set<string>();
  readonly #refusals: ReadonlyMap<string, Counter.Internal>;

  constructor(options: RequestMeterOptions) {
    this.#options = options;
    const { refusals } = options.metrics;
    this.#refusals = new Map([...REFUSALS].map(([code, reason]) => [code, refusals.labels({ reason })]));
    for (const child of this.#refusals.values()) child.inc(0);
  }

  /** @param seconds What ext_authz took. */
  admitted(seconds: number): void {
    this.#options.metrics.authz.observe(seconds);
  }

  /** @param seconds What the request body's stage took. */
  routed(seconds: number): void {
    this.#options.metrics.requestBody.observe(seconds);
  }

  /** @param seconds What one chunk of an answer took. */
  chunk(seconds: number): void {
    this.#options.metrics.chunk.observe(seconds);
  }

  /** A request was sent to another server of its upstream, since the first took no connection. */
  retried(upstream: string): void {
    this.#options.metrics.upstreamRetries.inc({ upstream });
  }

  unadmitted(): void {
    this.#options.metrics.unadmitted.inc();
  }

  /** Never throws. */
  finished(request: FinishedRequest): void {
    const { metrics, logger } = this.#options;
    const { route, status, code, model } = request;
    metrics.requests.inc({ route, model: model ?? "", status: String(status), code: code ?? "" });
    if (code !== null) this.#refusals.get(code)?.inc();
    if (request.settled !== null && model !== null) this.#charged(request, request.settled, model);
    logger.info(formatLine(request), "request");
  }

  #charged(request: FinishedRequest, settled: NonNullable<FinishedRequest["settled"]>, model: string): void {
    const { metrics } = this.#options;
    const { tokens } = settled;
    metrics.tokens.inc({ model, type: "input" }, tokens.inputTokens);
    metrics.tokens.inc({ model, type: "cached_input" }, tokens.cachedInputTokens);
    metrics.tokens.inc({ model, type: "cache_write" }, tokens.cacheWriteTokens);
    metrics.tokens.inc({ model, type: "cache_write_1h" }, tokens.cacheWrite1hTokens);
    metrics.tokens.inc({ model, type: "input_audio" }, tokens.inputAudioTokens);
    metrics.tokens.inc({ model, type: "output" }, tokens.outputTokens);
    metrics.tokens.inc({ model, type: "reasoning" }, tokens.reasoningTokens);
    metrics.tokens.inc({ model, type: "output_audio" }, tokens.outputAudioTokens);
    const spender = {
      organization_id: this.#labelOf(request.organizationId),
      model,
      currency: request.currency ?? "",
    };
    metrics.spend.inc(spender, Number(settled.costMicrocents));
    if (settled.estimated) metrics.estimated.inc({ model });
    const { unpricedServiceTier: tier } = settled;
    if (tier !== null) {
      metrics.unpricedTiers.inc({ model, service_tier: KNOWN_TIERS.has(tier) ? tier : "other" });
    }
    const { usageContradiction: kind } = request;
    if (kind !== null) metrics.usageContradictions.inc({ model, kind });
    if (request.status === 200) this.#observeAnswer(request, tokens, model);
  }

  #observeAnswer(
    { route, durationMs, firstTokenMs }: FinishedRequest,
    tokens: MeteredTokens,
    model: string,
  ): void {
    const { metrics } = this.#options;
    const labels = { gen_ai_operation_name: OPERATIONS.get(route) ?? "chat", gen_ai_request_model: model };
    metrics.duration.observe(labels, durationMs / 1000);
    const input = tokens.inputTokens + tokens.cachedInputTokens;
    metrics.tokenUsage.observe({ gen_ai_token_type: "input", gen_ai_request_model: model }, input);
    const output = tokens.outputTokens;
    metrics.tokenUsage.observe({ gen_ai_token_type: "output", gen_ai_request_model: model }, output);
    if (firstTokenMs === null) return;
    metrics.firstToken.observe(labels, firstTokenMs / 1000);
    const seconds = (durationMs - firstTokenMs) / 1000;
    if (output < 2 || seconds <= 0) return;
    metrics.perToken.observe(labels, seconds / (output - 1));
    metrics.tokensPerSecond.observe({ model }, output / seconds);
  }

  #labelOf(organizationId: string | null): string {
    if (organizationId === null) return "";
    if (this.#organizations.has(organizationId)) return organizationId;
    if (this.#organizations.size >= MAX_ORGANIZATION_LABELS) return "other";
    this.#organizations.add(organizationId);
    return organizationId;
  }
}

function formatLine(request: FinishedRequest): object {
  const { settled, durationMs, firstTokenMs } = request;
  return {
    request_id: request.requestId,
    key_id: request.keyId,
    organization_id: request.organizationId,
    route: request.route,
    model: request.model,
    status: request.status,
    error_code: request.code,
    ...(settled === null
      ? {}
      : {
          input_tokens: settled.tokens.inputTokens,
          cached_input_tokens: settled.tokens.cachedInputTokens,
          output_tokens: settled.tokens.outputTokens,
          // Beyond 2^53 only as text; a line's reader gets it the same way always.
          cost_microcents: String(settled.costMicrocents),
          estimated: settled.estimated,
          ...(settled.unpricedServiceTier === null
            ? {}
            : { unpriced_service_tier: settled.unpricedServiceTier }),
        }),
    duration_ms: Math.round(durationMs),
    ...(firstTokenMs === null ? {} : { first_token_ms: Math.round(firstTokenMs) }),
  };
}
