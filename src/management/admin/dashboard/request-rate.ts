/** A key's limit of requests and how full its bucket is, as pages show them. */
import type { KeyView } from "./views.ts";

interface RequestRate {
  readonly perMinute: number;
  /** What a full bucket lets pass at once. */
  readonly burst: number;
  /** What is in it now, whole requests. */
  readonly left: number;
}

export function requestRateOf({
  requests_per_minute: perMinute,
  bucket: { capacity, remaining },
}: Pick<KeyView, "requests_per_minute" | "bucket">): RequestRate {
  return { perMinute, burst: capacity, left: remaining };
}
