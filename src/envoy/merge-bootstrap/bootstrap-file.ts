/**
 * An operator's bootstrap: finds its parts in the YAML document, and adds marked blocks of lines to its text.
 * The operator's own lines are never changed. Blocks of an earlier merge are taken out first.
 */
import { isAlias, isMap, isPair, isScalar, isSeq, LineCounter, type Node, type Pair } from "yaml";
import { parseAllDocuments, type YAMLMap, type YAMLSeq } from "yaml";
import { formatPath } from "../../shared/config/config-error.ts";
import {
  type EnvoyNode,
  type EnvoyValue,
  formatEnvoyYaml,
  OneLine,
  pick,
} from "../bootstrap/yaml-document.ts";
import { toCamelCase } from "../check-bootstrap/field-names.ts";

/** Comments around each block. */
export const BEGIN = "# inference-gateway, kept up to date by `envoy render --into`:";
export const END = "# inference-gateway: end";
const BLOCKS = new RegExp(`^ *${BEGIN} (.*)\n[^]*?^ *${END}\n`, "gm");

/** Thrown with all parts that cannot be merged, by their place in the bootstrap, and what to do about each. */
export class MergeRefusal extends Error {
  override readonly name = "MergeRefusal";

  constructor(reasons: readonly string[]) {
    super(reasons.join("\n"));
  }
}

/** Node and its path. */
export interface Place<Kind extends Node = Node> {
  readonly node: Kind;
  readonly path: readonly (string | number)[];
}

/** Creates a refusal with one reason. */
export function refuse({ path }: Pick<Place, "path">, reason: string): MergeRefusal {
  return new MergeRefusal([path.length === 0 ? reason : `${formatPath(path)}: ${reason}`]);
}

export class BootstrapFile {
  readonly root: Place<YAMLMap>;
  /** The operator's own lines. */
  readonly #text: string;
  /** Positions of the blocks of an earlier merge, by name. */
  readonly #earlier = new Map<string, number>();
  readonly #blocks: { readonly at: number; readonly rank: number; readonly lines: string }[] = [];

  /** @throws MergeRefusal unless the text is a single YAML document with each field on its own line. */
  constructor(text: string) {
    let taken = 0;
    const lines = text.endsWith("\n") ? text : `${text}\n`;
    this.#text = lines.replaceAll(BLOCKS, (block: string, name: string, offset: number) => {
      this.#earlier.set(name, offset - taken);
      taken += block.length;
      return "";
    });
    this.root = parseRoot(this.#text);
  }

  /** Adds each field that is missing, down to the innermost, after the last one. */
  addFields(map: Place<YAMLMap>, wanted: EnvoyNode): void {
    const missing: string[] = [];
    for (const [name, value] of Object.entries(wanted)) {
      if (name.startsWith("#")) continue;
      const found = findField(map, name);
      const inner = value instanceof OneLine ? value.value : value;
      if (found === null) missing.push(name);
      else if (isMap(found.node) && isFields(inner)) this.addFields({ ...found, node: found.node }, inner);
    }
    if (missing.length === 0) return;
    const { column } = this.#requireBlock(map, (map.node.items[0] as Pair<Node>).key);
    const at = this.#endOf(map.node);
    this.#add({ at, rank: 2 * column }, column, { name: "settings", part: pick(wanted, missing) });
  }

  /** Adds members before the one at `index`, or where `name` was before. Default: after the last. */
  addMembers(
    list: Place<YAMLSeq>,
    part: readonly EnvoyNode[],
    { name, index = list.node.items.length }: { name: string; index?: number },
  ): void {
    const items = list.node.items as Node[];
    const { start, column } = this.#requireBlock(list, items[0]);
    const [comments] = /(?<=^|\n)(?: *#.*\n)*$/.exec(this.#text.slice(0, start)) ?? [""];
    const before = items[index - 1];
    const at =
      this.earlierIn(list, name) ?? (before === undefined ? start - comments.length : this.#endOf(before));
    // Before fields that end at the same line, which may be as far to the left as the dashes.
    this.#add({ at, rank: 2 * column + 1 }, column, { name, part });
  }

  /** Returns where an earlier merge added to a list, or null. */
  earlierIn({ node }: Place<YAMLSeq>, name: string): number | null {
    const at = this.#earlier.get(name);
    const [start, , end] = node.range ?? [0, 0, 0];
    return at !== undefined && at >= this.lineOf(start) && at <= end ? at : null;
  }

  /** Returns the position of the line of a position. */
  lineOf(position: number): number {
    return this.#text.lastIndexOf("\n", position - 1) + 1;
  }

  print(): string {
    const parts: string[] = [];
    let from = 0;
    for (const { at, lines } of this.#blocks.toSorted((one, two) => one.at - two.at || two.rank - one.rank)) {
      parts.push(this.#text.slice(from, at), lines);
      from = at;
    }
    return parts.join("") + this.#text.slice(from);
  }

  #add(
    position: { readonly at: number; readonly rank: number },
    column: number,
    { name, part }: { readonly name: string; readonly part: EnvoyNode | readonly EnvoyNode[] },
  ): void {
    const lines = [`${BEGIN} ${name}`, ...formatEnvoyYaml(part).trimEnd().split("\n"), END];
    const indented = lines.map((line) => (line === "" ? "\n" : `${" ".repeat(column)}${line}\n`));
    this.#blocks.push({ ...position, lines: indented.join("") });
  }

  /** Returns the line of a first member, and its column. @throws MergeRefusal unless it begins that line. */
  #requireBlock({ node, path }: Place<YAMLMap | YAMLSeq>, first: Node | undefined) {
    const begin = first?.range?.[0] ?? 0;
    const start = this.lineOf(begin);
    const [, spaces = "", dash] = /^((?: *- )* *)(-? *)$/.exec(this.#text.slice(start, begin)) ?? [];
    const isList = isSeq(node);
    if (
      node.flow === true ||
      first === undefined ||
      dash === undefined ||
      (isList && !/- *$/.test(spaces + dash))
    ) {
      throw refuse({ path }, "it is written on one line: write each member on its own line.");
    }
    return { start, column: isList ? (spaces + dash).lastIndexOf("-") : begin - start };
  }

  /** Returns the start of the line after a node's last one. */
  #endOf(node: Node): number {
    if ((isMap(node) || isSeq(node)) && node.flow !== true) {
      const last = node.items.at(-1) as Node | Pair<Node, Node | null> | undefined;
      if (last !== undefined) return this.#endOf(isPair(last) ? (last.value ?? last.key) : last);
    }
    const end = node.range?.[1] ?? 0;
    return this.#text.indexOf("\n", Math.max(0, end - 1)) + 1;
  }
}

function parseRoot(text: string): Place<YAMLMap> {
  const lineCounter = new LineCounter();
  const documents = [...parseAllDocuments(text, { lineCounter, prettyErrors: false, logLevel: "silent" })];
  const top = { path: [] };
  const error = documents.flatMap(({ errors }) => errors)[0];
  if (error !== undefined) {
    const { line } = lineCounter.linePos(error.pos[0]);
    throw refuse({ path: [`line ${line}`] }, `the file isn't valid YAML: ${error.message}`);
  }
  if (documents.length !== 1) throw refuse(top, "expected one YAML document.");
  const node: unknown = documents[0]?.contents;
  if (!isMap(node)) throw refuse(top, "expected the fields of a bootstrap.");
  if (node.flow === true) {
    throw refuse(top, "the bootstrap is JSON: convert it to YAML with one field per line.");
  }
  return { node, path: [] };
}

/** Returns the value of a field in either spelling; null if it is missing. @throws MergeRefusal */
export function findField(map: Place<YAMLMap>, name: string): Place | null {
  const names = [name, toCamelCase(name)];
  const find = (wanted: readonly string[]) => map.node.items.find((one) => wanted.includes(keyOf(one)));
  const pair = find(names);
  if (pair === undefined) {
    if (find(["<<"]) === undefined) return null;
    throw refuse(map, "fields come from a merge key (`<<`): write them out.");
  }
  const node = pair.value as Node | null;
  const path = [...map.path, keyOf(pair)];
  if (node === null || (isScalar(node) && node.value === null)) {
    throw refuse({ path }, "it is empty: remove it.");
  }
  if (isAlias(node)) throw refuse({ path }, "it is a YAML alias: write out its value.");
  return { node, path };
}

/** Returns the mapping of a field; null if missing. @throws MergeRefusal if it is something else. */
export function findMap(map: Place<YAMLMap>, name: string): Place<YAMLMap> | null {
  const found = findField(map, name);
  return found === null ? null : requireMap(found);
}

/** Returns the list of a field; null if missing. @throws MergeRefusal if it is something else. */
export function findList(map: Place<YAMLMap>, name: string): Place<YAMLSeq> | null {
  const found = findField(map, name);
  if (found === null) return null;
  const { node, path } = found;
  if (isSeq(node)) return { node, path };
  throw refuse({ path }, "expected a list.");
}

/** Returns the mappings in a list. */
export function membersOf(list: Place<YAMLSeq> | null): Place<YAMLMap>[] {
  if (list === null) return [];
  const { node, path } = list;
  return node.items.map((item, index) => requireMap({ node: item as Node, path: [...path, index] }));
}

export function textOf(map: Place<YAMLMap>, name: string): string | null {
  const value: unknown = findField(map, name)?.node.toJSON();
  return typeof value === "string" ? value : null;
}

function isFields(value: EnvoyValue): value is EnvoyNode {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof OneLine);
}

/** @throws MergeRefusal if it is not a mapping. */
function requireMap({ node, path }: Place): Place<YAMLMap> {
  if (isMap(node)) return { node, path };
  throw refuse({ path }, isAlias(node) ? "it is a YAML alias: write out its value." : "expected fields.");
}

function keyOf({ key }: Pair): string {
  return isScalar(key) ? String(key.value) : "";
}
