/** Token figures in API requests and responses, derived from their table. */
import type * as z from "zod";
import { whole } from "../../../shared/settings/input-schemas.ts";
import { TOKEN_FIGURES, type TokenFigure } from "../../../shared/usage/figures.ts";
import {
  KINDS_BY_POSITION,
  mapTokens,
  nameTokens,
  TOKEN_NAMES,
  type TokenKind,
} from "../../../shared/usage/token-usage.ts";
import { count } from "./fields.ts";

export const MAX_TOKENS = 1_000_000_000_000;

/** Token figures of a usage row. */
export function usageTokens() {
  const schemas = mapTokens((kind) => {
    const { partOf, describedAs } = rowOf(kind);
    const description =
      partOf === null ? describedAs?.usage : describePart(kind, `Of the ${partOf.replace("Tokens", "")}`);
    return description === undefined ? count() : count().describe(description);
  });
  return nameTokens(schemas, KINDS_BY_POSITION);
}

type Given = ReturnType<typeof whole>;
type Names = typeof TOKEN_NAMES;
type RequiredKind = "inputTokens" | "outputTokens";
type OutsideTokens = {
  [Kind in TokenKind as Names[Kind]]: Kind extends RequiredKind ? Given : z.ZodOptional<Given>;
};

/** Token figures of usage outside of the gateway: prompt and output are required, all others default to 0. */
export function outsideTokens(): OutsideTokens {
  const schemas = mapTokens((kind) => {
    const { partOf, describedAs, price } = rowOf(kind);
    const wholeName = partOf === null ? null : TOKEN_NAMES[partOf as TokenKind];
    const description =
      wholeName === null ? (describedAs?.outside ?? "") : describePart(kind, `Among \`${wholeName}\``);
    const given = whole(0, MAX_TOKENS, "tokens").meta({ description });
    return price.fallback === null ? given : given.optional();
  });
  return nameTokens(schemas) as unknown as OutsideTokens;
}

/** Formats "Of the input: written to a cache for an hour." */
function describePart(kind: TokenKind, beginning: string): string {
  const { about } = rowOf(kind);
  return `${beginning}${about === undefined ? "" : `: ${about}`}.`;
}

function rowOf(kind: TokenKind): TokenFigure {
  return TOKEN_FIGURES[kind];
}
