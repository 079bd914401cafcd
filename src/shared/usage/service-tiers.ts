import type { JsonObject } from "../text/json-object.ts";

/** Fields by which a request may choose other prices, in order of precedence. */
export const TIER_FIELDS = ["speed", "inference_geo", "service_tier"] as const;
export type TierField = (typeof TIER_FIELDS)[number];

/** Names of the default service tier: OpenAI, Anthropic, Groq. */
export const DEFAULT_SERVICE_TIERS: ReadonlySet<string> = new Set([
  "auto",
  "default",
  "on_demand",
  "standard",
  "standard_only",
]);

/** Speeds with the default price: Anthropic. */
const DEFAULT_SPEEDS: ReadonlySet<string> = new Set(["standard"]);
const DEFAULT_PLACES: ReadonlySet<string> = new Set(["global", "not_available"]);

/** Maximum length of a name. */
const MAX_CHARACTERS = 32;

/**
 * Returns the service tier of a response, its usage or a request, in lower case, as in prices: a `speed`
 * takes precedence over a `service_tier`, and a region with its own price is appended: `fast`, `us`,
 * `fast-us`. Null: none.
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

/** Returns the field that determines a request's service tier. */
export function findTierField({ speed, inference_geo: place }: JsonObject): TierField {
  if (nameServiceTier({ speed }) !== null) return "speed";
  return nameServiceTier({ inference_geo: place }) === null ? "service_tier" : "inference_geo";
}

/** Returns the service tier without its region; null: none left. */
export function withoutPlace(serviceTier: string): string | null {
  const end = serviceTier.lastIndexOf("-");
  return end === -1 ? null : serviceTier.slice(0, end);
}

function readWord(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value.slice(0, MAX_CHARACTERS).toLowerCase() : null;
}
