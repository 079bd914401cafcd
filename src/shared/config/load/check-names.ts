import type { FieldPath } from "../config-error.ts";
import { formatSuggestion } from "../schema/nearest.ts";
import { itemsOf, textOf, valueAt } from "./raw-values.ts";

/** Mistake that is only visible by comparing two places of the file. */
export interface CrossProblem {
  readonly path: FieldPath;
  readonly message: string;
}

/**
 * Checks that upstream names and catalog ids are unique, and that references to them exist. Works on the raw
 * file, even if wrong, so that all problems are reported together.
 */
export function checkNames(file: unknown): CrossProblem[] {
  const upstreams = collectNames(file, "upstreams", "name");
  const models = collectNames(file, "catalog", "id");
  return [
    ...findDuplicates(upstreams, "upstreams", "name"),
    ...findDuplicates(models, "catalog", "id"),
    ...checkUpstreamNames(file, new Set(upstreams.filter((name) => name !== null))),
    ...checkSuccessors(file, models),
    ...checkAliases(file, models),
  ];
}

function collectNames(file: unknown, section: string, field: string): (string | null)[] {
  return itemsOf(valueAt(file, section)).map((item) => textOf(valueAt(item, field)));
}

function findDuplicates(names: readonly (string | null)[], section: string, field: string): CrossProblem[] {
  const places = placesOf(names);
  return names.flatMap((name, index) => {
    const first = name === null ? index : places.get(name);
    if (first === index) return [];
    const message = `\`${name}\` is already the ${field} of ${section}[${first}]`;
    return [{ path: [section, index, field], message }];
  });
}

/** Returns the first position of each name. */
function placesOf(names: readonly (string | null)[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  for (const [index, name] of names.entries()) {
    if (name !== null && !places.has(name)) places.set(name, index);
  }
  return places;
}

function checkUpstreamNames(file: unknown, known: ReadonlySet<string>): CrossProblem[] {
  if (known.size === 0) return [];
  return collectNames(file, "catalog", "upstream").flatMap((name, index) => {
    if (name === null || known.has(name)) return [];
    const hint =
      formatSuggestion(name, known) || `; there are ${[...known].map((one) => `\`${one}\``).join(", ")}`;
    return [{ path: ["catalog", index, "upstream"], message: `no upstream is named \`${name}\`${hint}` }];
  });
}

function checkSuccessors(file: unknown, ids: readonly (string | null)[]): CrossProblem[] {
  const successors = collectNames(file, "catalog", "replaced_by");
  const places = placesOf(ids);
  const circles = new CircleFinder((id) => successors[places.get(id) ?? -1] ?? null);
  return successors.flatMap((successor, index) => {
    if (successor === null) return [];
    const path = ["catalog", index, "replaced_by"];
    if (!places.has(successor)) {
      const hint = formatSuggestion(successor, places.keys());
      return [{ path, message: `no model has the id \`${successor}\`${hint}` }];
    }
    return circles.leadsInto(successor)
      ? [{ path, message: `\`${successor}\` is itself replaced: the successors form a loop` }]
      : [];
  });
}

/** Rejects aliases that equal an id, which would hide that model, or that two models share. */
function checkAliases(file: unknown, ids: readonly (string | null)[]): CrossProblem[] {
  const idPlaces = placesOf(ids);
  const places = new Map<string, string>();
  return itemsOf(valueAt(file, "catalog")).flatMap((model, index) =>
    itemsOf(valueAt(model, "aliases")).flatMap((item, position): CrossProblem[] => {
      const alias = textOf(item);
      if (alias === null) return [];
      const path = ["catalog", index, "aliases", position];
      const hidden = idPlaces.get(alias);
      if (hidden !== undefined) {
        return [
          { path, message: `\`${alias}\` is the id of catalog[${hidden}]: an alias must not hide a model` },
        ];
      }
      const first = places.get(alias);
      if (first !== undefined) return [{ path, message: `\`${alias}\` is already an alias of ${first}` }];
      places.set(alias, `catalog[${index}]`);
      return [];
    }),
  );
}

/** Finds circular replacements of models; visits each model once, however long the chains are. */
class CircleFinder {
  readonly #successorOf: (id: string) => string | null;
  readonly #known = new Map<string, boolean>();

  constructor(successorOf: (id: string) => string | null) {
    this.#successorOf = successorOf;
  }

  leadsInto(start: string): boolean {
    const path = new Set<string>();
    let id: string | null = start;
    while (id !== null && !path.has(id) && !this.#known.has(id)) {
      path.add(id);
      id = this.#successorOf(id);
    }
    const isCircle = id !== null && (this.#known.get(id) ?? true);
    for (const passed of path) this.#known.set(passed, isCircle);
    return isCircle;
  }
}
