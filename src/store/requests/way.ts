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

export function formatWay(way: RequestWay | undefined): string {
  return way === undefined ? "" : JSON.stringify(way);
}

/** @param text Left out, or empty, in entries of older versions and of requests whose worker died. */
export function parseWay(text: string | undefined): RequestWay {
  return text === undefined || text === "" ? UNKNOWN_WAY : waySchema.parse(JSON.parse(text));
}
