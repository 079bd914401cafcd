/** What an explanation is made of, as the management API shows a request. */
import type { ListedTokens, TOKEN_NAMES } from "../../usage/token-usage.ts";

/** The tokens by the API's names. */
type NamedTokens = { readonly [Kind in keyof ListedTokens as (typeof TOKEN_NAMES)[Kind]]: number };

export type Figures = Readonly<Record<string, string | number | boolean | null>>;

/** What an upstream did with a request. */
export interface UpstreamAnswer {
  readonly name: string;
  readonly status: number | null;
  /** In a sentence without its full stop: "the upstream local refused the connection", or the upstream's own words. */
  readonly cause: string | null;
  /** What the sentence was read from, where Envoy said it. */
  readonly envoy_details: string | null;
}

export interface ExplainedRequest extends NamedTokens {
  readonly organization_id: string;
  readonly key_id: string;
  readonly key_deleted: boolean;
  readonly created_at: string;
  /** Null: its worker died and another has closed its record. */
  readonly status: number | null;
  readonly error_code: string | null;
  readonly estimated: boolean;
  readonly cost_microcents: number;
  readonly duration_ms: number | null;
  readonly upstream: UpstreamAnswer | null;
  readonly checks: readonly {
    readonly name: string;
    readonly passed: boolean;
    readonly figures: Figures;
  }[];
}

/** The figures of the check that refused it, or null. */
export function failedCheckOf(
  request: Pick<ExplainedRequest, "checks">,
): ExplainedRequest["checks"][number] | null {
  return request.checks.find((check) => !check.passed) ?? null;
}

/** Microcents of an amount that figures have in either unit; null for none. */
export function microcentsOf(figures: Figures, name: string): number | null {
  const microcents = figures[`${name}_microcents`];
  if (microcents !== undefined && microcents !== null) return Number(microcents);
  const cents = figures[`${name}_cents`];
  return typeof cents === "number" ? cents * 1_000_000 : null;
}
