/**
 * YAML text that is edited by inserting lines, never by printing it again: everything else stays unchanged to
 * the byte. Navigates by the parser's nodes and edits by their positions in the text.
 */
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseAllDocuments,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { formatPath } from "../../shared/config/config-error.ts";
import { toCamelCase } from "../check-bootstrap/field-names.ts";
import { refuse } from "./merge-refusal.ts";

/** Comment above parts that belong to the gateway: marked parts are rewritten after a change of `gateway.yaml`. */
export const MARK = "inference-gateway: kept up to date by `envoy render --into`";

type Step = string | number;

/** Node and its path. */
export interface Place<Kind extends Node = Node> {
  readonly node: Kind;
  readonly path: readonly Step[];
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Depth of the edit: of two edits at the same position, the deeper one comes first. */
  readonly depth?: number;
}

export class YamlText {
  readonly text: string;
  readonly root: Place<YAMLMap>;
  readonly #edits: Edit[] = [];

  /** @throws MergeRefusal unless the text is a single YAML document with each field on its own line. */
  constructor(text: string) {
    this.text = text;
    const lines = new LineCounter();
    const options = {
      keepSourceTokens: true,
      lineCounter: lines,
      prettyErrors: false,
      logLevel: "silent" as const,
    };
    const documents = parseAllDocuments(text, options) as unknown as Document.Parsed[];
    const [document] = documents;
    const error = documents.flatMap(({ errors }) => errors)[0];
    if (error !== undefined) {
      throw refuse(`line ${lines.linePos(error.pos[0]).line}`, `the file isn't valid YAML: ${error.message}`);
    }
    if (document === undefined || documents.length !== 1) throw refuse("", "expected one YAML document.");
    const node: unknown = document.contents;
    if (!isMap(node)) throw refuse("", "expected the fields of a bootstrap.");
    this.root = { node, path: [] };
    if (node.flow === true) {
      throw refuse("", "the bootstrap is JSON: convert it to YAML with one field per line.");
    }
  }

  /** Returns the text with all edits. */
  apply(): string {
    const edits = this.#edits.toSorted(
      (one, other) => one.start - other.start || (other.depth ?? 0) - (one.depth ?? 0),
    );
    let text = "";
    let at = 0;
    for (const edit of edits) {
      text += this.text.slice(at, edit.start) + edit.text;
      at = edit.end;
    }
    return text + this.text.slice(at);
  }

  /** Returns the value of a field in either spelling; null if it is missing or empty. @throws MergeRefusal */
  field(map: Place<YAMLMap>, name: string): Place | null {
    const pair = findPair(map.node, name);
    if (pair === null) {
      if (findPair(map.node, "<<") === null) return null;
      throw refuse(formatPath(map.path), "fields come from a merge key (`<<`): write them out.");
    }
    const path = [...map.path, keyOf(pair)];
    const value = pair.value as Node | null;
    if (isAlias(value)) {
      throw refuse(formatPath(path), "it is a YAML alias: write out its value.");
    }
    return value === null || (isScalar(value) && value.value === null) ? null : { node: value, path };
  }

  /** Returns the mapping of a field; null if missing. @throws MergeRefusal if it is something else. */
  map(map: Place<YAMLMap>, name: string): Place<YAMLMap> | null {
    const found = this.field(map, name);
    return found === null ? null : requireMap(found);
  }

  /** Returns the members of a list; empty if missing. @throws MergeRefusal if it is something else. */
  items(map: Place<YAMLMap>, name: string): Place<YAMLMap>[] {
    const found = this.field(map, name);
    if (found === null) return [];
    const { node, path } = found;
    if (!isSeq(node)) throw refuse(formatPath(path), "expected a list.");
    return node.items.map((item, index) => requireMap({ node: item as Node, path: [...path, index] }));
  }

  /** Appends a field to a mapping. `lines` as from `formatField`; `flow` for a mapping on one line. */
  addField(map: Place<YAMLMap>, { lines, flow }: { lines: readonly string[]; flow: string }): void {
    const { node, path } = map;
    const [first] = node.items;
    if (node.flow === true) {
      const end = (node.range?.[1] ?? 0) - 1;
      const head = this.text.slice(0, end).trimEnd();
      this.#edits.push({
        start: head.length,
        end: head.length,
        text: first === undefined ? flow : `, ${flow}`,
      });
      return;
    }
    if (first === undefined) throw refuse(formatPath(path), "it is empty: write `{}`.");
    const column = this.#column(startOf(first.key));
    this.#insertBelow(this.#endOfLines(node, column), indent(lines, column), path.length);
  }

  /**
   * Rewrites an existing field from its first line to its last; with `fromMark`, from the line of the mark
   * above it.
   */
  replaceField(
    map: Place<YAMLMap>,
    name: string,
    given: { lines: readonly string[]; flow: string },
    fromMark = false,
  ): void {
    const pair = findPair(map.node, name);
    if (pair === null) return this.addField(map, given);
    const start = startOf(pair.key);
    const end = endOf(pair);
    if (map.node.flow === true) {
      this.#edits.push({ start, end, text: given.flow });
      return;
    }
    const column = this.#column(start);
    const text = indent(given.lines, column);
    const top = fromMark ? this.#markAbove(start) : null;
    // The first field of a list's member follows the dash; a comment after the value stays.
    if (top === null) this.#edits.push({ start, end, text: text.trimStart() });
    else this.#edits.push({ start: top, end, text });
  }

  /** Inserts a member before the one at `index`, or after the last. */
  insertItem(map: Place<YAMLMap>, name: string, index: number, lines: readonly string[]): void {
    const list = this.#list(map, name);
    const column = this.#column(dashOf(list.node, 0));
    const text = indent(lines, column);
    if (index >= list.node.items.length) {
      return this.#insertBelow(this.#endOfLines(list.node, column), text, list.path.length);
    }
    let start = this.#lineStart(dashOf(list.node, index));
    for (
      let above = this.#lineAbove(start);
      above !== null && this.#isComment(above);
      above = this.#lineAbove(above)
    ) {
      start = above;
    }
    this.#edits.push({ start, end: start, text: `${text}\n` });
  }

  /** Rewrites a member, from the line of the mark above it. */
  replaceItem(map: Place<YAMLMap>, name: string, index: number, lines: readonly string[]): void {
    const { node } = this.#list(map, name);
    const dash = dashOf(node, index);
    const start = this.#markAbove(dash) ?? this.#lineStart(dash);
    const end = this.#lineEnd(endOf(node.items[index]));
    this.#edits.push({ start, end, text: indent(lines, this.#column(dash)) });
  }

  /** Returns whether the mark is in the comment directly above a member or field. */
  isItemMarked(map: Place<YAMLMap>, name: string, index: number): boolean {
    const { node } = this.#list(map, name);
    return this.#markAbove(dashOf(node, index)) !== null;
  }

  isFieldMarked(map: Place<YAMLMap>, name: string): boolean {
    const pair = findPair(map.node, name);
    return pair !== null && this.#markAbove(startOf(pair.key)) !== null;
  }

  #list(map: Place<YAMLMap>, name: string): Place<YAMLSeq> {
    const found = this.field(map, name);
    const path = formatPath(found?.path ?? [...map.path, name]);
    if (found === null || !isSeq(found.node)) throw refuse(path, "expected a list.");
    if (found.node.flow === true) {
      throw refuse(
        path,
        "it is written on one line in brackets: write each member on its own line, after a dash.",
      );
    }
    return { node: found.node, path: found.path };
  }

  #insertBelow(lineEnd: number, text: string, depth: number): void {
    this.#edits.push({ start: lineEnd, end: lineEnd, text: `\n${text}`, depth });
  }

  /** Returns the end of a collection's last line, including comments that are indented more than its members. */
  #endOfLines(node: Node, column: number): number {
    let end = this.#lineEnd(endOf(node));
    for (;;) {
      const line = /^\n( *)#[^\n]*/.exec(this.text.slice(end, end + 2_000));
      if (line === null || (line[1] ?? "").length <= column) return end;
      end = this.#lineEnd(end + 1);
    }
  }

  /** Returns the start of the line with the mark in the comment above `offset`. */
  #markAbove(offset: number): number | null {
    let line = this.#lineAbove(this.#lineStart(offset));
    for (; line !== null && this.#isComment(line); line = this.#lineAbove(line)) {
      if (this.text.slice(line, this.#lineEnd(line)).includes(MARK)) return line;
    }
    return null;
  }

  #isComment(lineStart: number): boolean {
    return this.text.slice(lineStart, this.#lineEnd(lineStart)).trimStart().startsWith("#");
  }

  #lineAbove(lineStart: number): number | null {
    return lineStart === 0 ? null : this.#lineStart(lineStart - 1);
  }

  #lineStart(offset: number): number {
    return this.text.lastIndexOf("\n", offset - 1) + 1;
  }

  #lineEnd(offset: number): number {
    const end = this.text.indexOf("\n", offset);
    return end === -1 ? this.text.length : end;
  }

  #column(offset: number): number {
    return offset - this.#lineStart(offset);
  }
}

/** @throws MergeRefusal if it is not a mapping. */
function requireMap({ node, path }: Place): Place<YAMLMap> {
  if (isMap(node)) return { node, path };
  throw refuse(
    formatPath(path),
    isAlias(node) ? "it is a YAML alias: write out its value." : "expected fields.",
  );
}

function findPair(map: YAMLMap, name: string): Pair | null {
  const names = [name, toCamelCase(name)];
  return map.items.find((pair) => names.includes(keyOf(pair))) ?? null;
}

function keyOf({ key }: Pair): string {
  return isScalar(key) ? String(key.value) : "";
}

function startOf(node: unknown): number {
  return (node as Node | null)?.range?.[0] ?? 0;
}

/** Returns the position after the last character of a node, without spaces and comments. */
function endOf(node: unknown): number {
  if (isPair(node)) return Math.max(endOf(node.key), node.value === null ? 0 : endOf(node.value));
  if (isCollection(node) && node.flow !== true) {
    const last: unknown = node.items.at(-1);
    if (last !== undefined) return endOf(last);
  }
  const end = (node as Node | null)?.range?.[1] ?? 0;
  // A block of text ends after its line break.
  const isBlock = isScalar(node) && (node.type === "BLOCK_LITERAL" || node.type === "BLOCK_FOLDED");
  return isBlock ? end - 1 : end;
}

/** Returns the position of a member's dash. */
function dashOf(list: YAMLSeq, index: number): number {
  const token = list.srcToken;
  const tokens = token?.type === "block-seq" ? (token.items[index]?.start ?? []) : [];
  return tokens.find(({ type }) => type === "seq-item-ind")?.offset ?? startOf(list.items[index]);
}

function indent(lines: readonly string[], column: number): string {
  return lines.map((line) => (line === "" ? "" : " ".repeat(column) + line)).join("\n");
}
