import * as z from "zod";
import { record } from "../../../shared/settings/input-schemas.ts";
import { named, textOrNull } from "./fields.ts";

export const DEFAULT_PAGE_LIMIT = 20;
const MAX_PAGE_LIMIT = 100;

const limitError = `expected a whole number from 1 to ${MAX_PAGE_LIMIT}`;
export const AFTER_EXPECTATION = "expected `next` of the page before";

/** What of texts in the form of a list's `next` can be one. */
type IsPlace = (text: string) => boolean;

/**
 * Query of a list.
 * @param after The form of this list's `next`.
 */
export function pageQuery(after: RegExp, isPlace?: IsPlace) {
  return record(pageFields(after, isPlace));
}

/** The same fields, for a list that takes more than these. */
export function pageFields(after: RegExp, isPlace: IsPlace = () => true) {
  return {
    limit: z
      .int({ error: limitError })
      .min(1, { error: limitError })
      .max(MAX_PAGE_LIMIT, { error: limitError })
      .optional()
      .describe(`How many at most; ${DEFAULT_PAGE_LIMIT} when left out.`),
    after: z
      .string({ error: AFTER_EXPECTATION })
      .regex(after, { error: AFTER_EXPECTATION })
      .refine(isPlace, { error: AFTER_EXPECTATION })
      .optional()
      .describe("`next` of the previous page; default: the first page."),
  };
}

/** The id of an entry in a stream. */
export const STREAM_CURSOR = /^[0-9]{1,20}-[0-9]{1,20}$/;

const LARGEST_ID_PART = 2n ** 64n - 1n;

/**
 * Whether every place of it can be an entry's of a Redis stream, "-" for the end of one left out: others Redis refuses.
 * @see https://redis.io/docs/latest/develop/data-types/streams/#entry-ids
 */
export function isInStreams(cursor: string): boolean {
  return cursor
    .split("_")
    .filter((place) => place !== "-")
    .every((place) => {
      // Told together with a text that has not the form of one.
      if (!/^\d+-\d+$/.test(place)) return false;
      const [time = 0n, sequence = 0n] = place.split("-").map((part) => BigInt(part));
      return time <= LARGEST_ID_PART && sequence <= LARGEST_ID_PART && (time > 0n || sequence > 0n);
    });
}

export type PageQuery = z.output<ReturnType<typeof pageQuery>>;

export function pageOf<Item extends z.ZodType>(id: string, item: Item) {
  return named(id, z.strictObject(pageShape(item)));
}

/** The same fields, for a list that answers more than these. */
export function pageShape<Item extends z.ZodType>(item: Item) {
  return {
    data: z.array(item),
    has_more: z.boolean(),
    next: textOrNull("Value of `after` for the next page; null on the last page."),
  };
}
