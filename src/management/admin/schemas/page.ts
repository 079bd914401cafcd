import * as z from "zod";
import { record } from "../../../shared/settings/input-schemas.ts";
import { named, textOrNull } from "./fields.ts";

export const DEFAULT_PAGE_LIMIT = 20;
const MAX_PAGE_LIMIT = 100;

const limitError = `expected a whole number from 1 to ${MAX_PAGE_LIMIT}`;
export const AFTER_EXPECTATION = "expected `next` of the previous page";

/** Checks whether a well-formed `next` can be valid. */
type IsPlace = (text: string) => boolean;

/**
 * Query of a list.
 * @param after Form of this list's `next`.
 */
export function pageQuery(after: RegExp, isPlace?: IsPlace) {
  return record(pageFields(after, isPlace));
}

/** Same fields, for lists with further parameters. */
export function pageFields(after: RegExp, isPlace: IsPlace = () => true) {
  return {
    limit: z
      .int({ error: limitError })
      .min(1, { error: limitError })
      .max(MAX_PAGE_LIMIT, { error: limitError })
      .optional()
      .describe(`Maximum number of entries; default: ${DEFAULT_PAGE_LIMIT}.`),
    after: z
      .string({ error: AFTER_EXPECTATION })
      .regex(after, { error: AFTER_EXPECTATION })
      .refine(isPlace, { error: AFTER_EXPECTATION })
      .optional()
      .describe("`next` of the previous page; default: the first page."),
  };
}

/** Id of an entry in a stream. */
export const STREAM_CURSOR = /^[0-9]{1,20}-[0-9]{1,20}$/;

export type PageQuery = z.output<ReturnType<typeof pageQuery>>;

export function pageOf<Item extends z.ZodType>(id: string, item: Item) {
  return named(id, z.strictObject(pageShape(item)));
}

/** Same fields, for lists with further response fields. */
export function pageShape<Item extends z.ZodType>(item: Item) {
  return {
    data: z.array(item),
    has_more: z.boolean(),
    next: textOrNull("Value of `after` for the next page; null on the last page."),
  };
}
