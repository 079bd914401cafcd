/** The tokens of a request by kind: the same in answers of upstreams, prices, usage, metrics and the log of requests. */
import { compileExpression } from "./compile.ts";
import { TOKEN_FIGURES, type TokenFigure } from "./figures.ts";

type Table = typeof TOKEN_FIGURES;
export type TokenKind = keyof Table;

/**
 * Token counts as the upstream reports them, normalised: the prompt is `inputTokens` and `cachedInputTokens` together.
 * Never negative, always integers; parts never exceed what they are parts of, and no token is in two of them.
 */
export type TokenUsage = { readonly [Kind in TokenKind]: number };

/** In the order in which they are shown. */
export const TOKEN_KINDS = Object.keys(TOKEN_FIGURES) as TokenKind[];

function rowOf(kind: TokenKind): TokenFigure {
  return TOKEN_FIGURES[kind];
}

/** The kinds that are parts of nothing: no token is in two of them, and all together they are prompt and answer. */
export const WHOLE_KINDS = TOKEN_KINDS.filter((kind) => rowOf(kind).partOf === null);

/** The kinds that a kind's tokens are counted in, too. */
export function partsOf(whole: TokenKind): readonly TokenKind[] {
  return TOKEN_KINDS.filter((kind) => rowOf(kind).partOf === whole);
}

/** What each is called in the management API, in exports and in the log of requests. */
export const TOKEN_NAMES = mapTokens((kind) => TOKEN_FIGURES[kind].apiName) as {
  readonly [Kind in TokenKind]: Table[Kind]["apiName"];
};

/** A rate in code, named like its kind: "cachedInput". Entries of the spool call the figure so, too. */
export type TokenRate = WithoutEnd<TokenKind, "Tokens">;
/** A rate in `gateway.yaml`, in records and in answers, named like its figure: "cached_input". */
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

/** In the order of Lua's lists, in which the management API's rows of usage have them, too. */
export const KINDS_BY_POSITION = TOKEN_KINDS.toSorted(byPosition);

/** A value for each kind. */
export function mapTokens<Value>(valueOf: (kind: TokenKind) => Value): Record<TokenKind, Value> {
  const entries = TOKEN_KINDS.map((kind) => [kind, valueOf(kind)]);
  return Object.fromEntries(entries) as Record<TokenKind, Value>;
}

/** The same values under the names of the API, in the order of `kinds`. */
export function nameTokens<Kind extends TokenKind, Value>(
  values: Readonly<Record<Kind, Value>>,
  kinds: readonly Kind[] = TOKEN_KINDS as Kind[],
): Record<Table[Kind]["apiName"], Value> {
  const entries = kinds.map((kind) => [TOKEN_NAMES[kind], values[kind]]);
  return Object.fromEntries(entries) as Record<Table[Kind]["apiName"], Value>;
}

const GIVEN: ReadonlySet<TokenKind> = new Set(["inputTokens", "outputTokens"]);

export const NO_TOKENS: TokenUsage = Object.freeze(mapTokens(() => 0));

/** So many tokens of which nothing more is known. */
export const plainTokens = compileExpression(
  ["inputTokens", "outputTokens"],
  `({ ${TOKEN_KINDS.map((kind) => (GIVEN.has(kind) ? kind : `${kind}: 0`)).join(", ")} })`,
) as (inputTokens: number, outputTokens: number) => TokenUsage;
