/**
 * Tokens of a request by kind, with the same kinds in responses of upstreams, prices, usage, metrics and the
 * request log.
 */
import { compileExpression } from "../text/compile-expression.ts";
import { TOKEN_FIGURES, type TokenFigure } from "./figures.ts";

type Table = typeof TOKEN_FIGURES;
export type TokenKind = keyof Table;

/**
 * Token counts from the upstream, normalized: `inputTokens` and `cachedInputTokens` together are the prompt.
 * Never negative, always integers; parts never exceed the figure that includes them, and no token is in two
 * of them.
 */
export type TokenUsage = { readonly [Kind in TokenKind]: number };

/** Kinds in display order. */
export const TOKEN_KINDS = Object.keys(TOKEN_FIGURES) as TokenKind[];

function rowOf(kind: TokenKind): TokenFigure {
  return TOKEN_FIGURES[kind];
}

/** Kinds that are not parts: disjoint, and together the whole prompt and output. */
export const WHOLE_KINDS = TOKEN_KINDS.filter((kind) => rowOf(kind).partOf === null);

/** Returns the kinds that are included in a kind. */
export function partsOf(whole: TokenKind): readonly TokenKind[] {
  return TOKEN_KINDS.filter((kind) => rowOf(kind).partOf === whole);
}

/** Names in the management API, in exports and in the request log. */
export const TOKEN_NAMES = mapTokens((kind) => TOKEN_FIGURES[kind].apiName) as {
  readonly [Kind in TokenKind]: Table[Kind]["apiName"];
};

/** Name of a rate in code: "cachedInput". Spool entries use it for the figure as well. */
export type TokenRate = WithoutEnd<TokenKind, "Tokens">;
/** Name of a rate in `gateway.yaml`, in records and in responses: "cached_input". */
export type TokenPriceName = WithoutEnd<Table[TokenKind]["apiName"], "_tokens">;
type WithoutEnd<Name extends string, End extends string> = Name extends `${infer Start}${End}`
  ? Start
  : never;

export function rateOf(kind: TokenKind): TokenRate {
  return kind.replace(/Tokens$/, "") as TokenRate;
}

export function priceNameOf(kind: TokenKind): TokenPriceName {
  return TOKEN_NAMES[kind].replace(/_tokens$/, "") as TokenPriceName;
}

function byPosition(left: TokenKind, right: TokenKind): number {
  return TOKEN_FIGURES[left].position - TOKEN_FIGURES[right].position;
}

/** Kinds in the order of Lua's lists, which is also that of usage rows in the management API. */
export const KINDS_BY_POSITION = TOKEN_KINDS.toSorted(byPosition);

export function mapTokens<Value>(valueOf: (kind: TokenKind) => Value): Record<TokenKind, Value> {
  const entries = TOKEN_KINDS.map((kind) => [kind, valueOf(kind)]);
  return Object.fromEntries(entries) as Record<TokenKind, Value>;
}

/** Returns the same values under the API's names, in the order of `kinds`. */
export function nameTokens<Kind extends TokenKind, Value>(
  values: Readonly<Record<Kind, Value>>,
  kinds: readonly Kind[] = TOKEN_KINDS as Kind[],
): Record<Table[Kind]["apiName"], Value> {
  const entries = kinds.map((kind) => [TOKEN_NAMES[kind], values[kind]]);
  return Object.fromEntries(entries) as Record<Table[Kind]["apiName"], Value>;
}

const GIVEN: ReadonlySet<TokenKind> = new Set(["inputTokens", "outputTokens"]);

export const NO_TOKENS: TokenUsage = Object.freeze(mapTokens(() => 0));

/** Returns a usage of plain input and output tokens without parts. */
export const plainTokens = compileExpression(
  ["inputTokens", "outputTokens"],
  `({ ${TOKEN_KINDS.map((kind) => (GIVEN.has(kind) ? kind : `${kind}: 0`)).join(", ")} })`,
) as (inputTokens: number, outputTokens: number) => TokenUsage;
