/** An operator's bootstrap as a YAML document: finds and changes its parts, and prints it with its own layout. */
import { diffArrays } from "diff";
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parse,
  parseAllDocuments,
  type Scalar,
  type ScalarTag,
  type Tags,
  type YAMLMap,
  YAMLSeq,
} from "yaml";
import { formatPath } from "../../shared/config/config-error.ts";
import { createYamlNode, type EnvoyNode, PRINTED } from "../bootstrap/yaml-document.ts";
import { toCamelCase } from "../check-bootstrap/field-names.ts";
import { canonical } from "../check-bootstrap/setting-rule.ts";

/** Comment above parts that belong to the gateway: marked parts are rewritten after a change of `gateway.yaml`. */
export const MARK = "inference-gateway: kept up to date by `envoy render --into`";

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

/** Prints numbers as they were written. The package would make decimal 600 of YAML 1.1's octal `mode: 0600`. */
const WRITTEN_NUMBER: ScalarTag = {
  tag: "tag:yaml.org,2002:int",
  default: true,
  format: "WRITTEN",
  test: /^[-+]?(?:0x[\da-f]+|0o[0-7]+|(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)$/i,
  identify: (value) => typeof value === "number",
  resolve: Number,
  stringify: ({ source }) => source ?? "",
};
const customTags = (tags: Tags): Tags => [WRITTEN_NUMBER, ...tags];

export interface BootstrapFile {
  readonly text: string;
  /** Meaning of the text. */
  readonly meaning: string;
  readonly document: Document;
  readonly root: Place<YAMLMap>;
}

/** @throws MergeRefusal unless the text is a single YAML document with each field on its own line. */
export function parseBootstrap(text: string): BootstrapFile {
  const lineCounter = new LineCounter();
  const options = { lineCounter, customTags, prettyErrors: false, logLevel: "silent" } as const;
  const documents = parseAllDocuments(text, options);
  const [document] = documents as unknown as Document[];
  const top = { path: [] };
  const error = (documents as unknown as Document[]).flatMap(({ errors }) => errors)[0];
  if (error !== undefined) {
    const { line } = lineCounter.linePos(error.pos[0]);
    throw refuse({ path: [`line ${line}`] }, `the file isn't valid YAML: ${error.message}`);
  }
  if (document === undefined || documents.length !== 1) throw refuse(top, "expected one YAML document.");
  const node: unknown = document.contents;
  if (!isMap(node)) throw refuse(top, "expected the fields of a bootstrap.");
  if (node.flow === true) {
    throw refuse(top, "the bootstrap is JSON: convert it to YAML with one field per line.");
  }
  return { text, meaning: meaningOf(document.toJS()), document, root: { node, path: [] } };
}

/** Returns the value of a field in either spelling; null if it is missing or empty. @throws MergeRefusal */
export function findField(map: Place<YAMLMap>, name: string): Place | null {
  const pair = findPair(map.node, name);
  if (pair === null) {
    if (findPair(map.node, "<<") === null) return null;
    throw refuse(map, "fields come from a merge key (`<<`): write them out.");
  }
  const node = pair.value as Node | null;
  if (node === null || (isScalar(node) && node.value === null)) return null;
  const place = { node, path: [...map.path, keyOf(pair)] };
  if (isAlias(node)) throw refuse(place, "it is a YAML alias: write out its value.");
  return place;
}

/** Returns the mapping of a field; null if missing. @throws MergeRefusal if it is something else. */
export function findMap(map: Place<YAMLMap>, name: string): Place<YAMLMap> | null {
  const found = findField(map, name);
  return found === null ? null : requireMap(found);
}

export function textOf(map: Place<YAMLMap>, name: string): string | null {
  const value: unknown = findField(map, name)?.node.toJSON();
  return typeof value === "string" ? value : null;
}

/** Writes a field with its comment: in place of an existing one, or as the last. */
export function setField({ node }: Place<YAMLMap>, wanted: EnvoyNode, name: string, isMarked = false): void {
  const part = createYamlNode({ [`#${name}`]: wanted[`#${name}`] ?? null, [name]: wanted[name] ?? null });
  const [pair] = (part as YAMLMap).items as unknown as [Pair<Scalar, Node>];
  const found = findPair(node, name);
  if (isMarked) mark(pair.key);
  if (found === null) node.items.push(pair);
  else [found.key, found.value] = [isMarked ? pair.key : found.key, pair.value];
}

export function isFieldMarked({ node }: Place<YAMLMap>, name: string): boolean {
  return isMarked(findPair(node, name)?.key);
}

/** List of mappings in a field; empty if the field is missing. */
export class List {
  readonly items: Place<YAMLMap>[];
  readonly #map: Place<YAMLMap>;
  readonly #name: string;
  readonly #place: Place<YAMLSeq>;

  /** @throws MergeRefusal if the field is something else. */
  constructor(map: Place<YAMLMap>, name: string) {
    const { node, path } = findField(map, name) ?? { node: new YAMLSeq(), path: [...map.path, name] };
    if (!isSeq(node)) throw refuse({ path }, "expected a list.");
    this.#map = map;
    this.#name = name;
    this.#place = { node, path };
    this.items = node.items.map((item, index) => requireMap({ node: item as Node, path: [...path, index] }));
  }

  /** Returns whether the mark is in the comment above a member; the parser gives the first one's to the list. */
  isMarked(index: number): boolean {
    const { node } = this.#place;
    return isMarked(node.items[index]) || (index === 0 && isMarked(node));
  }

  /** Inserts a member before the one at `index`, or after the last. @throws MergeRefusal for a list in brackets. */
  insert(index: number, part: EnvoyNode, { isMarked: wantsMark = true } = {}): void {
    const { node } = this.#place;
    if (node.flow === true && node.items.length > 0) {
      throw refuse(
        this.#place,
        "it is written on one line in brackets: write each member on its own line, after a dash.",
      );
    }
    node.flow = false;
    const first = node.items[0] as Node | undefined;
    if (index === 0 && first !== undefined) {
      [first.commentBefore, node.commentBefore] = [node.commentBefore ?? first.commentBefore ?? null, null];
    }
    node.items.splice(index, 0, createMember(part, wantsMark));
    const pair = findPair(this.#map.node, this.#name);
    if (pair === null) this.#map.node.set(this.#name, node);
    else pair.value = node;
  }

  /** Rewrites a member and its comment. */
  replace(index: number, part: EnvoyNode): void {
    const { node } = this.#place;
    if (index === 0) node.commentBefore = null;
    node.items[index] = createMember(part, true);
  }
}

function createMember(part: EnvoyNode, wantsMark: boolean): Node {
  const node = createYamlNode(part);
  if (wantsMark) mark(node);
  return node;
}

function mark(node: Node): void {
  node.commentBefore = [` ${MARK}`, node.commentBefore ?? ""].filter((line) => line !== "").join("\n");
}

function isMarked(node: unknown): boolean {
  return (node as Node | undefined)?.commentBefore?.includes(MARK) === true;
}

/** @throws MergeRefusal if it is not a mapping. */
function requireMap({ node, path }: Place): Place<YAMLMap> {
  if (isMap(node)) return { node, path };
  throw refuse({ path }, isAlias(node) ? "it is a YAML alias: write out its value." : "expected fields.");
}

function findPair(map: YAMLMap, name: string): Pair | null {
  const names = [name, toCamelCase(name)];
  return map.items.find((pair) => names.includes(keyOf(pair))) ?? null;
}

function keyOf({ key }: Pair): string {
  return isScalar(key) ? String(key.value) : "";
}

/**
 * Prints a changed document with the lines of its text wherever both say the same; new lines follow the
 * indentation around them. A layout that this cannot keep is reformatted.
 */
export function printChanged({ text, meaning, document }: BootstrapFile): string {
  const wanted = meaningOf(document.toJS());
  if (wanted === meaning) return text;
  const indentSeq = !/^( *)[^\s#-].*:[ \t]*\n\1- /mu.test(text);
  const indent = /^ +(?=[^\s#])/mu.exec(text)?.[0].length ?? 2;
  const printed = document.toString({ ...PRINTED, indent, indentSeq });
  const merged = takeLines(text.split("\n"), printed.split("\n"));
  return hasMeaning(merged, wanted) ? merged : printed;
}

function hasMeaning(text: string, meaning: string): boolean {
  try {
    return meaningOf(parse(text)) === meaning;
  } catch {
    return false;
  }
}

/** Returns the same text for all values with the same meaning. */
export function meaningOf(value: unknown): string {
  return JSON.stringify(canonical(value));
}

function takeLines(own: readonly string[], printed: readonly string[]): string {
  const lines: string[] = [];
  const columns = new Columns();
  let [ownAt, printedAt] = [0, 0];
  for (const { added, removed, count } of diffArrays(own.map(squeeze), printed.map(squeeze))) {
    for (let step = 0; step < count; step += 1) {
      const [line = "", model = ""] = [own[ownAt], printed[printedAt]];
      if (added) lines.push(columns.shift(model));
      else if (!removed || line.trim() === "") lines.push(line);
      if (!added && !removed) columns.add(model, line);
      if (!added) ownAt += 1;
      if (!removed) printedAt += 1;
    }
  }
  return lines.join("\n");
}

/** Normalizes a line, so that lines with the same meaning are equal. */
function squeeze(line: string): string {
  return line.replaceAll(/["'\s]/g, "");
}

/** Indentation of the levels around a line: in the printed text, and in the operator's text. */
class Columns {
  #levels: { readonly printed: number; readonly own: number }[] = [];

  add(printed: string, own: string): void {
    const ownColumns = listColumns(own);
    for (const [index, column] of listColumns(printed).entries()) {
      this.#levels = this.#levels.filter((level) => level.printed < column);
      this.#levels.push({ printed: column, own: ownColumns[index] ?? column });
    }
  }

  /** Indents a new line like its siblings, or as deep below its parent as it was printed. */
  shift(line: string): string {
    if (line === "") return line;
    const column = line.length - line.trimStart().length;
    this.#levels = this.#levels.filter((level) => level.printed <= column);
    const above = this.#levels.at(-1) ?? { printed: 0, own: 0 };
    return " ".repeat(above.own + column - above.printed) + line.trimStart();
  }
}

/** Returns the columns of a line's dashes and of its text; none for a comment. */
function listColumns(line: string): number[] {
  const [indent = "", dashes = ""] = /^( *)((?:- +)*)/.exec(line)?.slice(1) ?? [];
  if (/^(?:#|$)/.test(line.slice(indent.length + dashes.length))) return [];
  const starts = Array.from(dashes.matchAll(/-/g), ({ index }) => indent.length + index);
  return [...starts, indent.length + dashes.length];
}
