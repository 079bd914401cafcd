/** Metrics and log line of each request, written once at its end. */
import {
  CAP_CHECKS,
  type ErrorCode,
  ERRORS,
  failedCheckOf,
  LIMIT_CHECKS,
  type OwnCode,
} from "../contract/errors.ts";
import { LIMIT_PERIODS, type LimitPeriod } from "../settings/limits.ts";
import { TOKEN_KINDS, TOKEN_NAMES, type TokenUsage } from "../usage/token-usage.ts";
import type { Metrics } from "./metrics.ts";
import type { CounterSeries, HistogramSeries } from "./series.ts";

/** Request at its end. */
export interface FinishedRequest {
  readonly requestId: string | null;
  /** Name of the endpoint, never the path. */
  readonly route: string;
  readonly organizationId: string | null;
  readonly organizationName: string | null;
  readonly keyId: string | null;
  readonly currency: string | null;
  /** Catalog id. */
  readonly model: string | null;
  readonly status: number;
  /** Code sent to the client, possibly from an upstream; for the log. */
  readonly code: string | null;
  /** The gateway's own code, for metrics, whose labels must come from closed lists. */
  readonly ownCode: OwnCode | null;
  /** Period of the cap that rejected it, or null. */
  readonly capPeriod: LimitPeriod | null;
  /** Null: not metered, or rejected earlier. */
  readonly settled: {
    readonly tokens: TokenUsage;
    readonly costMicrocents: bigint;
    readonly estimated: boolean;
    /** Service tier that the upstream used and that has no price. */
    readonly unpricedServiceTier: string | null;
  } | null;
  /** Kind of contradiction in the upstream's usage figures. */
  readonly usageContradiction: string | null;
  /** Unknown finish reason from the upstream. */
  readonly unknownFinishReason: string | null;
  readonly durationMs: number;
  /** Time until the first bytes of a streamed response; null if not streamed. */
  readonly firstTokenMs: number | null;
}

/** Destination of request lines, which are only formatted if the level is enabled. */
export interface RequestLineLogger {
  readonly isOn: boolean;
  write(fields: object): void;
}

export interface RequestMeterOptions {
  readonly metrics: Metrics;
  readonly logger: RequestLineLogger;
}

/** Series of one endpoint and model. */
interface RouteSeries {
  /** Series by status, or by status and code for errors. */
  readonly requests: Map<number | string, CounterSeries>;
  /** Null until a request was charged. */
  charged: ChargedSeries | null;
}

interface ChargedSeries {
  readonly tokens: readonly { readonly field: keyof TokenUsage; readonly counter: CounterSeries }[];
  /** Series by currency and the organization's label. */
  readonly spend: Map<string, Map<string, CounterSeries>>;
  readonly duration: HistogramSeries;
  readonly inputTokens: HistogramSeries;
  readonly outputTokens: HistogramSeries;
  readonly firstToken: HistogramSeries;
  readonly perToken: HistogramSeries;
  readonly tokensPerSecond: HistogramSeries;
}

/** Number of organizations per worker with a label; others count as `other`. */
export const MAX_ORGANIZATION_LABELS = 100;
/** Periods by which rejections are counted, by failed check. */
const COUNTED_PERIODS = new Map<string, readonly string[]>([
  ...LIMIT_CHECKS.map((check) => [check, [""]] as const),
  ...CAP_CHECKS.map((check) => [check, LIMIT_PERIODS] as const),
]);
/** `gen_ai.operation.name` of OpenTelemetry, if it is not `chat`. */
const OPERATIONS: ReadonlyMap<string, string> = new Map([
  ["embeddings", "embeddings"],
  ["completions", "text_completion"],
]);
/** Known names of service tiers; a label must not take arbitrary names from upstreams. */
const KNOWN_TIERS: ReadonlySet<string> = new Set([
  "batch",
  "batch-us",
  "fast",
  "fast-us",
  "flex",
  "performance",
  "priority",
  "scale",
  "us",
]);

export class RequestMeter {
  readonly #options: RequestMeterOptions;
  /** Names by id. */
  readonly #organizations = new Map<string, string>();
  /** Series by model ('' for none) and endpoint. */
  readonly #routes = new Map<string, Map<string, RouteSeries>>();
  /** Series by code, with the period appended for caps. */
  readonly #refusals = new Map<string, CounterSeries>();
  readonly #authz: HistogramSeries;
  readonly #requestBody: HistogramSeries;
  readonly #chunk: HistogramSeries;

  constructor(options: RequestMeterOptions) {
    this.#options = options;
    const { refusals, authz, requestBody, chunk } = options.metrics;
    for (const code of Object.keys(ERRORS) as ErrorCode[]) {
      const reason = failedCheckOf(code);
      for (const period of COUNTED_PERIODS.get(reason) ?? []) {
        const name = period === "" ? code : `${code} ${period}`;
        this.#refusals.set(name, refusals.series({ reason, period }));
      }
    }
    this.#authz = authz.series({});
    this.#requestBody = requestBody.series({});
    this.#chunk = chunk.series({});
  }

  /** @param seconds Duration of the admission. */
  admitted(seconds: number): void {
    this.#authz.observe(seconds);
  }

  /** @param seconds Duration of the request body's stage. */
  routed(seconds: number): void {
    this.#requestBody.observe(seconds);
  }

  /** @param seconds Duration of handling one chunk of a response. */
  chunk(seconds: number): void {
    this.#chunk.observe(seconds);
  }

  /** Counts a request that was retried on another server, because the first accepted no connection. */
  retried(upstream: string): void {
    this.#options.metrics.upstreamRetries.inc({ upstream });
  }

  unadmitted(): void {
    this.#options.metrics.unadmitted.inc();
  }

  /** Never throws. */
  finished(request: FinishedRequest): void {
    const { metrics, logger } = this.#options;
    const { route, status, ownCode: code, model, settled } = request;
    const series = this.#seriesOf(model ?? "", route);
    childOf(series.requests, code === null ? status : `${status} ${code}`, () =>
      metrics.requests.series({ route, model: model ?? "", status: String(status), code: code ?? "" }),
    ).inc();
    const { capPeriod } = request;
    if (code !== null) this.#refusals.get(capPeriod === null ? code : `${code} ${capPeriod}`)?.inc();
    if (settled !== null && model !== null) {
      series.charged ??= createChargedSeries(metrics, model, OPERATIONS.get(route) ?? "chat");
      this.#charged(series.charged, request, settled, model);
    }
    if (logger.isOn) logger.write(formatLine(request));
  }

  #seriesOf(model: string, route: string): RouteSeries {
    const routes = childOf(this.#routes, model, () => new Map<string, RouteSeries>());
    return childOf(routes, route, () => ({ requests: new Map(), charged: null }));
  }

  #charged(
    series: ChargedSeries,
    request: FinishedRequest,
    settled: NonNullable<FinishedRequest["settled"]>,
    model: string,
  ): void {
    const { metrics } = this.#options;
    const { tokens } = settled;
    for (const { field, counter } of series.tokens) {
      if (tokens[field] > 0) counter.inc(tokens[field]);
    }
    const organization_id = this.#labelOf(request);
    const currency = request.currency ?? "";
    const spend = childOf(series.spend, currency, () => new Map<string, CounterSeries>());
    childOf(spend, organization_id, () => metrics.spend.series({ organization_id, model, currency })).inc(
      Number(settled.costMicrocents),
    );
    if (settled.estimated) metrics.estimated.inc({ model });
    const { unpricedServiceTier: tier } = settled;
    if (tier !== null) {
      metrics.unpricedTiers.inc({ model, service_tier: KNOWN_TIERS.has(tier) ? tier : "other" });
    }
    const { usageContradiction: kind } = request;
    if (kind !== null) metrics.usageContradictions.inc({ model, kind });
    if (request.unknownFinishReason !== null) metrics.unknownFinishReasons.inc({ model });
    if (request.status === 200) observeAnswer(series, request, tokens);
  }

  #labelOf({ organizationId: id, organizationName }: FinishedRequest): string {
    if (id === null) return "";
    const known = this.#organizations.get(id);
    if (known === undefined && this.#organizations.size >= MAX_ORGANIZATION_LABELS) return "other";
    const name = organizationName ?? "";
    if (known === name) return id;
    const { organizationInfo } = this.#options.metrics;
    if (known !== undefined) organizationInfo.remove({ organization_id: id, organization: known });
    organizationInfo.set({ organization_id: id, organization: name }, 1);
    this.#organizations.set(id, name);
    return id;
  }
}

/** Returns the child with this name, creating it on first use. There are as many as series. */
function childOf<Name, Child>(children: Map<Name, Child>, name: Name, create: () => Child): Child {
  const known = children.get(name);
  if (known !== undefined) return known;
  const child = create();
  children.set(name, child);
  return child;
}

function createChargedSeries(metrics: Metrics, model: string, operation: string): ChargedSeries {
  const labels = { gen_ai_operation_name: operation, gen_ai_request_model: model };
  const usage = { gen_ai_request_model: model };
  return {
    // Created with a model's first request; rare figures are created when they occur.
    tokens: TOKEN_KINDS.map((field) => ({
      field,
      counter: metrics.tokens.series({ model, type: TOKEN_NAMES[field].replace(/_tokens$/, "") }),
    })),
    spend: new Map(),
    duration: metrics.duration.series(labels),
    inputTokens: metrics.tokenUsage.series({ ...usage, gen_ai_token_type: "input" }),
    outputTokens: metrics.tokenUsage.series({ ...usage, gen_ai_token_type: "output" }),
    firstToken: metrics.firstToken.series(labels),
    perToken: metrics.perToken.series(labels),
    tokensPerSecond: metrics.tokensPerSecond.series({ model }),
  };
}

function observeAnswer(
  series: ChargedSeries,
  { durationMs, firstTokenMs }: FinishedRequest,
  { inputTokens, cachedInputTokens, outputTokens }: TokenUsage,
): void {
  series.duration.observe(durationMs / 1000);
  series.inputTokens.observe(inputTokens + cachedInputTokens);
  series.outputTokens.observe(outputTokens);
  if (firstTokenMs === null) return;
  series.firstToken.observe(firstTokenMs / 1000);
  const seconds = (durationMs - firstTokenMs) / 1000;
  if (outputTokens < 2 || seconds <= 0) return;
  series.perToken.observe(seconds / (outputTokens - 1));
  series.tokensPerSecond.observe(outputTokens / seconds);
}

function formatLine(request: FinishedRequest): object {
  const { settled, unknownFinishReason, durationMs, firstTokenMs } = request;
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
          // Text, because an amount beyond 2^53 is only exact as text.
          cost_microcents: String(settled.costMicrocents),
          estimated: settled.estimated,
          ...(settled.unpricedServiceTier === null
            ? {}
            : { unpriced_service_tier: settled.unpricedServiceTier }),
        }),
    ...(unknownFinishReason !== null && { unknown_finish_reason: unknownFinishReason }),
    duration_ms: Math.round(durationMs),
    ...(firstTokenMs === null ? {} : { first_token_ms: Math.round(firstTokenMs) }),
  };
}
