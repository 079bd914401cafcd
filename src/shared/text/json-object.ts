/** Any JSON object: what it holds is not known until it is read. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** An object, not an array and not null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The list that it is; empty for anything else. */
export function toArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
