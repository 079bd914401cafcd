/** JSON object with unknown contents. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Returns whether a value is an object, not an array or null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the value if it is a list; otherwise an empty list. */
export function toArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
