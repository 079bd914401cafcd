import { Secret } from "../secret.ts";

type CamelKey<K extends string> = K extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelKey<Tail>>}`
  : K;

/** Value of `gateway.yaml` as the program reads it: camelCase keys, deeply readonly. */
export type CamelCased<T> = T extends string | number | boolean | null | undefined | Secret
  ? T
  : T extends readonly (infer Element)[]
    ? readonly CamelCased<Element>[]
    : T extends object
      ? { readonly [K in keyof T as K extends string ? CamelKey<K> : K]: CamelCased<T[K]> }
      : T;

/** Returns a frozen copy with camelCase keys; secrets are kept as they are. */
export function camelCase<T>(value: T): CamelCased<T> {
  return convert(value) as CamelCased<T>;
}

function convert(value: unknown): unknown {
  if (Array.isArray(value)) return Object.freeze(value.map(convert));
  if (typeof value !== "object" || value === null || value instanceof Secret) return value;
  const entries = Object.entries(value).map(([key, member]) => [camelKey(key), convert(member)]);
  return Object.freeze(Object.fromEntries(entries));
}

function camelKey(key: string): string {
  return key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns the name in `gateway.yaml` of a configuration key: "max_body_bytes" for "maxBodyBytes". */
export function snakeKey(key: string): string {
  return key.replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
