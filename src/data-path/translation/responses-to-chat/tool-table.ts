import { createHash } from "node:crypto";

/** How the client sees calls of a tool. */
export type ToolKind = "function" | "custom" | "tool_search";

/** A tool as the client knows it. */
export interface ToolReference {
  readonly kind: ToolKind;
  /** Null: outside of namespaces. */
  readonly namespace: string | null;
  readonly name: string;
}

/** Length of a function name that every upstream accepts. */
const MAX_CHARACTERS = 64;
const NOT_IN_NAMES = /[^A-Za-z0-9_-]/g;
const HASH_CHARACTERS = 8;

/** Codex's default namespace: its models omit it, and descriptions name its tools without it. */
const DEFAULT_NAMESPACE = "functions";

/**
 * Maps tool names. Chat Completions has neither namespaces nor kinds, so each tool gets one flat name by which it is
 * found again. Lives as long as the exchange.
 */
export class ToolTable {
  readonly #byFlatName = new Map<string, ToolReference>();
  readonly #flatNames = new Map<string, string>();

  /** Returns the tool's flat name, always the same for the same tool. */
  add(tool: ToolReference): string {
    const known = this.#flatNames.get(keyOf(tool));
    const flatName = known ?? this.#findFree(tool);
    this.#flatNames.set(keyOf(tool), flatName);
    this.#byFlatName.set(flatName, tool);
    return flatName;
  }

  /** Returns the flat name of a tool in an earlier turn, declared or not. */
  flatten(namespace: string | null, name: string): string {
    const tool = { namespace, name };
    return this.#flatNames.get(keyOf(tool)) ?? this.#findByBareName(tool) ?? formatFlatName(tool);
  }

  /** Finds the tool that a model called; an undeclared name is a function of that name. */
  find(flatName: string): ToolReference {
    return this.#byFlatName.get(flatName) ?? { kind: "function", namespace: null, name: flatName };
  }

  /** Clients may omit the default namespace. */
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

/** A name outside of namespaces stays unchanged. */
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
