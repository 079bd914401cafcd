/**
 * What a name stands for: a catalog id for itself, else an organization's own name, else an alias of the catalog, else
 * the organization's default model. Names lead to ids and never to further names, so there are no chains and no circles.
 */

/** What an organization's clients may write beside catalog ids and the catalog's aliases. */
export interface ModelNames {
  /** Name → catalog id. */
  readonly aliases: Readonly<Record<string, string>>;
  /** Catalog id that a name stands for which nobody knows; null: it is refused. */
  readonly defaultModel: string | null;
}

/** Catalog id that an organization's own name stands for, or null. */
export function findOwnName(names: ModelNames | null | undefined, name: string): string | null {
  if (names === undefined || names === null || !Object.hasOwn(names.aliases, name)) return null;
  return names.aliases[name] ?? null;
}
