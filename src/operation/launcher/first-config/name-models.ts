/** Under which catalog ids the models of a server are offered: `<vendor>/<model>`, near what the server calls them. */
import type { ServerModel } from "../../../shared/model-servers/server-model.ts";

/** A model with the names that clients may write for it. */
export interface NamedModel extends ServerModel {
  readonly catalogId: string;
  /** The server's own name, where it can be one of the catalog's as well and is not its id already. */
  readonly alias: string | null;
}

/** As the catalog wants them. */
const CATALOG_ID = /^[A-Za-z0-9][A-Za-z0-9._-]*\/[A-Za-z0-9][A-Za-z0-9._:-]*$/;
const ALIAS = /^[A-Za-z0-9][A-Za-z0-9._:@/+-]{0,127}$/;

/** In the server's order, each with an id of its own; those of whose name nothing is left come back as `nameless`. */
export function nameModels(
  models: readonly ServerModel[],
  vendor: string,
): { named: readonly NamedModel[]; nameless: readonly string[] } {
  const named: NamedModel[] = [];
  const nameless: string[] = [];
  // What a server calls one model is never made up for another.
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

/** "local/llama3.2:latest" of "llama3.2:latest", "local/qwen.gguf" of "/models/qwen.gguf". */
function makeId(id: string, vendor: string): string | null {
  const parts = id
    .split("/")
    .map((part) => part.replace(/[^A-Za-z0-9._:-]+/g, "-").replace(/^[^A-Za-z0-9]+/, ""));
  const last = parts.findLast((part) => part !== "");
  return last === undefined ? null : `${vendor}/${last}`;
}

/** Makes names that nobody has: "local/a", "local/a-2", …. A server may call thousands of models nearly the same. */
class FreeNames {
  readonly #taken: Set<string>;
  /** The last number that a name has got; all below it are taken. */
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
