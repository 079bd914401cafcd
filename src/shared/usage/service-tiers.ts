import type { JsonObject } from "../text/json-object.ts";

/** The fields by which a request asks for a price other than the default's, the first that does so first. */
export const TIER_FIELDS = ["speed", "inference_geo", "service_tier"] as const;
export type TierField = (typeof TIER_FIELDS)[number];

/** What upstreams call the service tier that nobody asks for by name: OpenAI, Anthropic, Groq. */
export const DEFAULT_SERVICE_TIERS: ReadonlySet<string> = new Set([
  "auto",
  "default",
  "on_demand",
  "standard",
  "standard_only",
]);

/** What of speed and place costs what it always costs: Anthropic. */
const DEFAULT_SPEEDS: ReadonlySet<string> = new Set(["standard"]);
const DEFAULT_PLACES: ReadonlySet<string> = new Set(["global", "not_available"]);

/** No word of these is longer. */
const MAX_CHARACTERS = 32;

/**
 * The service tier that an answer, its usage or a request names, in lower case, as prices have it: a `speed` before a
 * `service_tier`, and where it was served at a place that has its own price that behind it: `fast`, `us`, `fast-us`. Null:
 * it names none.
 */
export function nameServiceTier({
  service_tier: named,
  speed,
  inference_geo: place,
}: JsonObject): string | null {
  const [tier, pace, where] = [readWord(named), readWord(speed), readWord(place)];
  const served = pace === null || DEFAULT_SPEEDS.has(pace) ? tier : pace;
  if (where === null || DEFAULT_PLACES.has(where)) return served;
  return served === null || DEFAULT_SERVICE_TIERS.has(served) ? where : `${served}-${where}`;
}

/** The field that a request's service tier comes from. */
export function findTierField({ speed, inference_geo: place }: JsonObject): TierField {
  if (nameServiceTier({ speed }) !== null) return "speed";
  return nameServiceTier({ inference_geo: place }) === null ? "service_tier" : "inference_geo";
}

/** The same without its place; null: it names none. */
export function withoutPlace(serviceTier: string): string | null {
  const end = serviceTier.lastIndexOf("-");
  return end === -1 ? null : serviceTier.slice(0, end);
}

function readWord(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value.slice(0, MAX_CHARACTERS).toLowerCase() : null;
}
