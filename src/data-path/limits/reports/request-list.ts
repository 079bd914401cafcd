/** `GET /v1/requests`: the key's own recent requests, newest first. */
import * as z from "zod";
import { GatewayError } from "../../../shared/contract/errors.ts";
import { isRequestCursor } from "../../store/requests/cursor.ts";
import type { PageInput } from "../../../shared/stored/page.ts";
import { requestStatus } from "./request-status.ts";

export const DEFAULT_REQUESTS = 20;
export const MAX_REQUESTS = 100;

/** Schema of `GET /v1/requests`. */
export const requestList = z.strictObject({
  object: z.literal("list"),
  data: z.array(requestStatus),
  has_more: z.boolean(),
  next: z.string().nullable().describe("Value of `after` for the next page; null on the last page."),
});
export type RequestList = z.output<typeof requestList>;

/** @throws GatewayError 400 `invalid_parameter` */
export function readRequestPage(query: URLSearchParams): PageInput {
  const [limit, after] = [query.get("limit"), query.get("after")];
  const count = limit === null ? DEFAULT_REQUESTS : /^\d{1,3}$/.test(limit) ? Number(limit) : 0;
  if (count < 1 || count > MAX_REQUESTS) {
    throw invalidParameter("limit", `expected a whole number from 1 to ${MAX_REQUESTS}`);
  }
  if (after !== null && !isRequestCursor(after)) {
    throw invalidParameter("after", "expected `next` of the previous page");
  }
  return { limit: count, after };
}

export function invalidParameter(param: string, expected: string): GatewayError {
  return new GatewayError("invalid_parameter", { message: `${param}: ${expected}.`, param });
}
