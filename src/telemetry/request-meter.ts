/** What is counted and logged of each request: once, at its end. */
import type { Counter, Histogram } from "prom-client";
import { TOKEN_KINDS, TOKEN_NAMES, type TokenUsage } from "../token-usage.ts";
import type { Metrics } from "./metrics.ts";

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
    readonly tokens: TokenUsage;
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

/** Where the line of a request goes, when somebody wants to read it: it is made only then. */
export interface RequestLineLogger {
  readonly isOn: boolean;
  write(fields: object): void;
}

export interface RequestMeterOptions {
  readonly metrics: Metrics;
  readonly logger: RequestLineLogger;
}

/** What is counted for one model and operation. */
interface ModelChildren {
  readonly tokens: readonly { readonly field: keyof TokenUsage; readonly counter: Counter.Internal }[];
  readonly duration: Histogram.Internal<string>;
  readonly inputTokens: Histogram.Internal<string>;
  readonly outputTokens: Histogram.Internal<string>;
  readonly firstToken: Histogram.Internal<string>;
  readonly perToken: Histogram.Internal<string>;
  readonly tokensPerSecond: Histogram.Internal<string>;
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
  /** Children of metrics by their labels: prom-client would sort and join the labels for every value. */
  readonly #requests = new Map<string, Counter.Internal>();
  readonly #spend = new Map<string, Counter.Internal>();
  readonly #models = new Map<string, ModelChildren>();
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
    childOf(this.#requests, `${status} ${route} ${code} ${model}`, () =>
      metrics.requests.labels({ route, model: model ?? "", status: String(status), code: code ?? "" }),
    ).inc();
    if (code !== null) this.#refusals.get(code)?.inc();
    if (request.settled !== null && model !== null) this.#charged(request, request.settled, model);
    if (logger.isOn) logger.write(formatLine(request));
  }

  #charged(request: FinishedRequest, settled: NonNullable<FinishedRequest["settled"]>, model: string): void {
    const { metrics } = this.#options;
    const { tokens } = settled;
    const operation = OPERATIONS.get(request.route) ?? "chat";
    const children = childOf(this.#models, `${operation} ${model}`, () =>
      createModelChildren(metrics, model, operation),
    );
    for (const { field, counter } of children.tokens) {
      if (tokens[field] > 0) counter.inc(tokens[field]);
    }
    const organization_id = this.#labelOf(request.organizationId);
    const currency = request.currency ?? "";
    childOf(this.#spend, `${organization_id} ${currency} ${model}`, () =>
      metrics.spend.labels({ organization_id, model, currency }),
    ).inc(Number(settled.costMicrocents));
    if (settled.estimated) metrics.estimated.inc({ model });
    const { unpricedServiceTier: tier } = settled;
    if (tier !== null) {
      metrics.unpricedTiers.inc({ model, service_tier: KNOWN_TIERS.has(tier) ? tier : "other" });
    }
    const { usageContradiction: kind } = request;
    if (kind !== null) metrics.usageContradictions.inc({ model, kind });
    if (request.status === 200) observeAnswer(children, request, tokens);
  }

  #labelOf(organizationId: string | null): string {
    if (organizationId === null) return "";
    if (this.#organizations.has(organizationId)) return organizationId;
    if (this.#organizations.size >= MAX_ORGANIZATION_LABELS) return "other";
    this.#organizations.add(organizationId);
    return organizationId;
  }
}

/** The child with these labels: asked of the metric once. As many as there are series. */
function childOf<Child>(children: Map<string, Child>, name: string, create: () => Child): Child {
  const known = children.get(name);
  if (known !== undefined) return known;
  const child = create();
  children.set(name, child);
  return child;
}

function createModelChildren(metrics: Metrics, model: string, operation: string): ModelChildren {
  const labels = { gen_ai_operation_name: operation, gen_ai_request_model: model };
  const usage = { gen_ai_request_model: model };
  return {
    tokens: TOKEN_KINDS.map((field) => {
      const counter = metrics.tokens.labels({ model, type: TOKEN_NAMES[field].replace(/_tokens$/, "") });
      // There from the first request of a model on; what few requests have is counted where it is.
      counter.inc(0);
      return { field, counter };
    }),
    duration: metrics.duration.labels(labels),
    inputTokens: metrics.tokenUsage.labels({ ...usage, gen_ai_token_type: "input" }),
    outputTokens: metrics.tokenUsage.labels({ ...usage, gen_ai_token_type: "output" }),
    firstToken: metrics.firstToken.labels(labels),
    perToken: metrics.perToken.labels(labels),
    tokensPerSecond: metrics.tokensPerSecond.labels({ model }),
  };
}

function observeAnswer(
  children: ModelChildren,
  { durationMs, firstTokenMs }: FinishedRequest,
  { inputTokens, cachedInputTokens, outputTokens }: TokenUsage,
): void {
  children.duration.observe(durationMs / 1000);
  children.inputTokens.observe(inputTokens + cachedInputTokens);
  children.outputTokens.observe(outputTokens);
  if (firstTokenMs === null) return;
  children.firstToken.observe(firstTokenMs / 1000);
  const seconds = (durationMs - firstTokenMs) / 1000;
  if (outputTokens < 2 || seconds <= 0) return;
  children.perToken.observe(seconds / (outputTokens - 1));
  children.tokensPerSecond.observe(outputTokens / seconds);
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
