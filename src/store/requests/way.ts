/** The way of a request, as its entry among the recent ones keeps it. */
import * as z from "zod";
import { type RequestWay, UNKNOWN_WAY } from "../types/reporting.ts";

const at = z.number().int().nullable();

const waySchema = z.object({
  timeline: z
    .object({
      bodyMs: at,
      routedMs: at,
      upstreamMs: at,
      firstTokenMs: at,
      endMs: z.number().int(),
    })
    .nullable(),
  upstream: z.object({ name: z.string(), status: at, cause: z.string().nullable() }).nullable(),
  requestedModel: z.string().optional(),
});

/** JSON. */
export function formatWay(way: RequestWay | undefined): string {
  return way === undefined ? "null" : JSON.stringify(way);
}

/** @param value Null in entries of older versions and of requests whose worker died. */
export function parseWay(value: unknown): RequestWay {
  return value === null ? UNKNOWN_WAY : waySchema.parse(value);
}
