import type { FieldPath } from "../config-error.ts";

/** The value at a path of a file that may be wrong anywhere; undefined where there is none. */
export function valueAt(value: unknown, ...path: FieldPath): unknown {
  let current = value;
  for (const step of path) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, step)) return undefined;
    current = (current as Record<string | number, unknown>)[step];
  }
  return current;
}

/** The members of a list, or none. */
export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The text, or null for anything else. */
export function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** The number, or `otherwise` for anything else. */
export function numberOf(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}
