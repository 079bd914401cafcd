/** Chooses catalog ids for a server's models: `<vendor>/<model>`, similar to the server's names. */
import type { ServerModel } from "../../../shared/model-servers/server-model.ts";

/** Model with its names for clients. */
export interface NamedModel extends ServerModel {
  readonly catalogId: string;
  /** Server's own name, if it is valid in the catalog and differs from the id. */
  readonly alias: string | null;
}

/** Form of ids in the catalog. */
const CATALOG_ID = /^[A-Za-z0-9][A-Za-z0-9._-]*\/[A-Za-z0-9][A-Za-z0-9._:-]*$/;
const ALIAS = /^[A-Za-z0-9][A-Za-z0-9._:@/+-]{0,127}$/;

/**
 * Assigns a unique id to each model, in the server's order; models without a usable name are returned as
 * `nameless`.
 */
export function nameModels(
  models: readonly ServerModel[],
  vendor: string,
): { named: readonly NamedModel[]; nameless: readonly string[] } {
  const named: NamedModel[] = [];
  const nameless: string[] = [];
  // A server's name of one model is never invented for another.
  const names = new FreeNames(models.map(({ id }) => id));
  for (const model of models) {
    const wanted = CATALOG_ID.test(model.id) ? model.id : makeId(model.id, vendor);
    if (wanted === null) {
      nameless.push(model.id);
      continue;
    }
    const catalogId = wanted === model.id ? wanted : names.take(wanted);
    const alias = catalogId !== model.id && ALIAS.test(model.id) ? model.id : null;
    named.push({ ...model, catalogId, alias });
  }
  return { named, nameless };
}

/** Converts "llama3.2:latest" to "local/llama3.2:latest", "/models/qwen.gguf" to "local/qwen.gguf". */
function makeId(id: string, vendor: string): string | null {
  const parts = id
    .split("/")
    .map((part) => part.replace(/[^A-Za-z0-9._:-]+/g, "-").replace(/^[^A-Za-z0-9]+/, ""));
  const last = parts.findLast((part) => part !== "");
  return last === undefined ? null : `${vendor}/${last}`;
}

/** Creates unused names: "local/a", "local/a-2", …. A server may have thousands of models with similar names. */
class FreeNames {
  readonly #taken: Set<string>;
  /** Last number used for each name; all lower ones are taken. */
  readonly #numbers = new Map<string, number>();

  constructor(taken: Iterable<string>) {
    this.#taken = new Set(taken);
  }

  take(wanted: string): string {
    let number = this.#numbers.get(wanted) ?? 0;
    let name: string;
    do {
      number += 1;
      name = number === 1 ? wanted : `${wanted}-${number}`;
    } while (this.#taken.has(name));
    this.#numbers.set(wanted, number);
    this.#taken.add(name);
    return name;
  }
}
