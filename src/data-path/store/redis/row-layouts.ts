/**
 * Lists with items by position: repeated keys and arguments of scripts, and JSON lists that scripts read or
 * write. As with `script-layouts.ts`, both sides are made from this table: `listOf.charge({ … })` here, `--
 * @row` in Lua.
 */
import { compileExpression } from "../../../shared/text/compile-expression.ts";

export const ROWS = {
  /** A request among the arguments of `admit.lua`. */
  "admitted-request": ["requestId", "route", "promptTokens", "reservedTokens"],
  /** Keys of `read-buckets.lua`. */
  "bucket-keys": ["keyRecord", "requestBucket"],
  /** List of `charge.lua`; its tail is omitted if all of it is ''. */
  charge: [
    "requestId",
    "keyId",
    "month",
    "day",
    "model",
    "route",
    "seq",
    "final",
    "totals",
    "expiresAtMs",
    "currency",
  ],
  "charge-rare": ["price", "estimate", "tags", "tagRow", "onlyEntered", "owners", "session", "sessionCapped"],
  "charge-tokens": ["takenTokens", "usedInput", "usedOutput"],
  /** List of `charge-single.lua` that all its requests share. */
  "single-charges": [
    "keyId",
    "month",
    "day",
    "model",
    "tags",
    "tagRow",
    "expiresAtMs",
    "currency",
    "owners",
    "figuresOfAll",
  ],
  /** A request among the arguments of `charge-single.lua`. */
  "single-charge": ["id", "seq", "figures", "entry"],
  /** A request among the arguments of `mark-logged.lua`. */
  "logged-request": ["key", "day", "model", "figures"],
  /** A row among the arguments of `raise-usage.lua`, before its figures. */
  "logged-row": ["tagRow", "tags"],
  /** The keys of a request in `renew.lua`. */
  "renewed-keys": ["request", "inflight"],
  /** The keys of an owner in `end-owners.lua`. */
  "ended-owner": ["record", "itsKeys", "itsUsers"],
  /** Keys of an owner: its record, and the list of what belongs to it (`links.lua`). */
  "owner-keys": ["record", "list"],
  /** Token bucket whose count a charge changes; without `difference` the script calculates it. */
  "token-count": ["hash", "count", "reserved"],
  "token-difference": ["hash", "count", "difference"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

type Rows = typeof ROWS;
export type RowName = keyof Rows;

/** Builds a list from values by name. */
type MakeList<Name extends RowName> = <Item>(named: Readonly<Record<Rows[Name][number], Item>>) => Item[];

/** List builders by the name of the row. */
export const listOf = Object.fromEntries(
  Object.entries(ROWS).map(([name, fields]) => [
    name,
    compileExpression(["named"], `[${fields.map((field) => `named.${field}`).join(", ")}]`),
  ]),
) as { readonly [Name in RowName]: MakeList<Name> };
