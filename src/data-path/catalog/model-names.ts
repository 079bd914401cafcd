/**
 * Resolution of model names, in this order: a catalog id, an organization's own name, an alias of the catalog, the
 * organization's default model. Names map to ids and never to other names, so there are no chains and no cycles.
 */

/** An organization's names in addition to catalog ids and the catalog's aliases. */
export interface ModelNames {
  /** Name → catalog id. */
  readonly aliases: Readonly<Record<string, string>>;
  /** Catalog id for unknown names; null: unknown names are rejected. */
  readonly defaultModel: string | null;
}

/** Returns the catalog id of an organization's own name, or null. */
export function findOwnName(names: ModelNames | null | undefined, name: string): string | null {
  if (names === undefined || names === null || !Object.hasOwn(names.aliases, name)) return null;
  return names.aliases[name] ?? null;
}
