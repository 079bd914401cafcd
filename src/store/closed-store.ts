import type { Store } from "./types.ts";

type Operation = (...values: never[]) => unknown;

/**
 * The same store, whose operations reject without asking Redis until `isOpen` says that it may be asked: nothing is
 * written before it is known whose data it is.
 */
export function closeUntil(store: Store, isOpen: () => boolean): Store {
  // Getters must stay getters, so that what they show is never an old value.
  const gated = Object.create(null, Object.getOwnPropertyDescriptors(store)) as Record<string, unknown>;
  for (const [name, { value: operation }] of Object.entries(Object.getOwnPropertyDescriptors(store))) {
    if (typeof operation !== "function") continue;
    const ask = (...values: never[]): unknown =>
      isOpen()
        ? (operation as Operation)(...values)
        : Promise.reject(new Error("Redis has not answered since the start"));
    Object.defineProperty(gated, name, { value: ask, enumerable: true });
  }
  return gated as unknown as Store;
}
