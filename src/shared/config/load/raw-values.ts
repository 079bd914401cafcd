import type { FieldPath } from "../config-error.ts";

/** Returns the value at a path of a raw file that may be wrong anywhere; undefined if missing. */
export function valueAt(value: unknown, ...path: FieldPath): unknown {
  let current = value;
  for (const step of path) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, step)) return undefined;
    current = (current as Record<string | number, unknown>)[step];
  }
  return current;
}

/** Returns the members of a list; empty for anything else. */
export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the text; null for anything else. */
export function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** Returns the number; `otherwise` for anything else. */
export function numberOf(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}
