import { createHash } from "node:crypto";

/** How a tool's calls are told to the client. */
export type ToolKind = "function" | "custom" | "tool_search";

/** A tool as the client knows it. */
export interface ToolReference {
  readonly kind: ToolKind;
  /** Null: it stands in no namespace. */
  readonly namespace: string | null;
  readonly name: string;
}

/** What every upstream takes as the name of a function. */
const MAX_CHARACTERS = 64;
const NOT_IN_NAMES = /[^A-Za-z0-9_-]/g;
const HASH_CHARACTERS = 8;

/** Codex's own: the one namespace that its models leave out, and whose tools their descriptions name without it. */
const DEFAULT_NAMESPACE = "functions";

/**
 * Names of tools on both sides. Chat Completions knows no namespaces and no kinds: each tool gets one flat name there,
 * and is found again by it. Lives as long as the exchange.
 */
export class ToolTable {
  readonly #byFlatName = new Map<string, ToolReference>();
  readonly #flatNames = new Map<string, string>();

  /** The tool's flat name, the same for the same tool. */
  add(tool: ToolReference): string {
    const known = this.#flatNames.get(keyOf(tool));
    const flatName = known ?? this.#findFree(tool);
    this.#flatNames.set(keyOf(tool), flatName);
    this.#byFlatName.set(flatName, tool);
    return flatName;
  }

  /** The flat name of a tool of an earlier turn, declared or not. */
  flatten(namespace: string | null, name: string): string {
    const tool = { namespace, name };
    return this.#flatNames.get(keyOf(tool)) ?? this.#findByBareName(tool) ?? formatFlatName(tool);
  }

  /** The tool that a model called; a name that was not declared is a function of that name. */
  find(flatName: string): ToolReference {
    return this.#byFlatName.get(flatName) ?? { kind: "function", namespace: null, name: flatName };
  }

  /** Clients may leave the default namespace out. */
  #findByBareName({ namespace, name }: Omit<ToolReference, "kind">): string | undefined {
    if (namespace === null) return this.#flatNames.get(keyOf({ namespace: DEFAULT_NAMESPACE, name }));
    return namespace === DEFAULT_NAMESPACE
      ? this.#flatNames.get(keyOf({ namespace: null, name }))
      : undefined;
  }

  #findFree(tool: ToolReference): string {
    const flatName = formatFlatName(tool);
    return this.#byFlatName.has(flatName) ? endWithHash(flatName, keyOf(tool)) : flatName;
  }
}

function keyOf({ namespace, name }: Omit<ToolReference, "kind">): string {
  return JSON.stringify([namespace, name]);
}

/** A name outside of namespaces is the client's own and stays as it is. */
function formatFlatName({ namespace, name }: Omit<ToolReference, "kind">): string {
  if (namespace === null) return name;
  const joined = namespace === DEFAULT_NAMESPACE ? name : `${namespace}__${name}`;
  const clean = joined.replace(NOT_IN_NAMES, "_");
  return clean === joined && clean.length <= MAX_CHARACTERS ? clean : endWithHash(clean, joined);
}

function endWithHash(name: string, full: string): string {
  const hash = createHash("sha256").update(full).digest("hex").slice(0, HASH_CHARACTERS);
  return `${name.slice(0, MAX_CHARACTERS - HASH_CHARACTERS - 1)}_${hash}`;
}
