import type { FieldPath } from "../config-error.ts";
import { formatSuggestion } from "../schema/nearest.ts";
import { itemsOf, textOf, valueAt } from "./raw-values.ts";

/** A mistake that shows only when two places of the file are compared. */
export interface CrossProblem {
  readonly path: FieldPath;
  readonly message: string;
}

/**
 * Upstream names and catalog ids: none twice, and whatever names one names one that exists. Works on the file as it is
 * written, wrong or not, so that these problems are told together with all others.
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
  return names.flatMap((name, index) => {
    const first = names.indexOf(name);
    if (name === null || first === index) return [];
    const message = `\`${name}\` is the ${field} of ${section}[${first}] already`;
    return [{ path: [section, index, field], message }];
  });
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
  const successorOf = (id: string): string | null => successors[ids.indexOf(id)] ?? null;
  return successors.flatMap((successor, index) => {
    if (successor === null) return [];
    const path = ["catalog", index, "replaced_by"];
    if (!ids.includes(successor)) {
      const known = ids.filter((id) => id !== null);
      return [{ path, message: `no model has the id \`${successor}\`${formatSuggestion(successor, known)}` }];
    }
    const isCircle = endsInCircle(successor, successorOf);
    return isCircle ? [{ path, message: `\`${successor}\` is itself replaced, in a circle` }] : [];
  });
}

/** An alias that is an id would hide that model, and one that two models have would be either. */
function checkAliases(file: unknown, ids: readonly (string | null)[]): CrossProblem[] {
  const idPlaces = new Map(ids.flatMap((id, index) => (id === null ? [] : [[id, index] as const])));
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
      if (first !== undefined) return [{ path, message: `\`${alias}\` is an alias of ${first} already` }];
      places.set(alias, `catalog[${index}]`);
      return [];
    }),
  );
}

function endsInCircle(start: string, successorOf: (id: string) => string | null): boolean {
  const seen = new Set<string>();
  for (let id: string | null = start; id !== null; id = successorOf(id)) {
    if (seen.has(id)) return true;
    seen.add(id);
  }
  return false;
}
