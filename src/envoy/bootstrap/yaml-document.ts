/**
 * Envoy configuration as plain objects, printed as YAML with the reasons beside the settings. A key `"#name"` is the
 * comment above the key `name` of the same object; a key `"#"` is the comment above the object itself.
 */
import { Document, isCollection, isScalar, visit } from "yaml";
import type { YAMLMap } from "yaml";

/** A part of Envoy's configuration, in Envoy's own field names. */
export type EnvoyNode = { readonly [field: string]: EnvoyValue };
export type EnvoyValue = string | number | boolean | null | EnvoyNode | readonly EnvoyValue[] | OneLine;

const COMMENT_MARK = "#";
const COMMENT_WIDTH = 110;

/** A value that is printed on one line. */
export class OneLine {
  readonly value: EnvoyValue;

  constructor(value: EnvoyValue) {
    this.value = value;
  }
}

/** Prints a value on one line: for lists and for small objects that say nothing new. */
export function oneLine(value: EnvoyValue): OneLine {
  return new OneLine(value);
}

/** An Envoy extension or typed message: `@type` first, then its fields. */
export function typed(message: string, fields: EnvoyNode = {}): EnvoyNode {
  return { "@type": `type.googleapis.com/${message}`, ...fields };
}

/** These fields of a part, with the comments above them. */
export function pick(node: EnvoyNode, names: readonly string[]): EnvoyNode {
  return filter(node, (name) => names.includes(name));
}

/** All others. */
export function omit(node: EnvoyNode, names: readonly string[]): EnvoyNode {
  return filter(node, (name) => !names.includes(name));
}

function filter(node: EnvoyNode, isWanted: (name: string) => boolean): EnvoyNode {
  return Object.fromEntries(Object.entries(node).filter(([name]) => isWanted(name.replace(/^#/, ""))));
}

/** YAML text of a configuration, keys in the order in which they were written. */
export function formatEnvoyYaml(root: EnvoyNode, heading: string | null = null): string {
  const document = new Document(createPlain(root), { aliasDuplicateObjects: false });
  markOneLine(document, root);
  visit(document, { Map: (_key, map) => attachComments(map) });
  if (heading !== null) document.commentBefore = wrapComment(heading, 0);
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

/** The value without its `OneLine` wrappers. */
function createPlain(value: EnvoyValue): unknown {
  if (value instanceof OneLine) return createPlain(value.value);
  if (Array.isArray(value)) return value.map((item: EnvoyValue) => createPlain(item));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, createPlain(field)]));
}

function markOneLine(document: Document, value: EnvoyValue, path: (string | number)[] = []): void {
  if (value instanceof OneLine) {
    const node = document.getIn(path, true);
    if (isCollection(node)) node.flow = true;
    return;
  }
  if (value === null || typeof value !== "object") return;
  for (const [key, field] of Object.entries(value)) {
    markOneLine(document, field, [...path, Array.isArray(value) ? Number(key) : key]);
  }
}

function attachComments(map: YAMLMap): void {
  const comments = new Map<string, string>();
  map.items = map.items.filter(({ key, value }) => {
    if (!isScalar(key) || typeof key.value !== "string" || !key.value.startsWith(COMMENT_MARK)) return true;
    comments.set(key.value.slice(COMMENT_MARK.length), isScalar(value) ? String(value.value) : "");
    return false;
  });
  const own = comments.get("");
  if (own !== undefined) map.commentBefore = wrapComment(own, 0);
  for (const { key } of map.items) {
    const comment = isScalar(key) ? comments.get(String(key.value)) : undefined;
    if (comment !== undefined && isScalar(key)) key.commentBefore = wrapComment(comment, 0);
  }
}

/** Lines of a comment without their `#`, broken at spaces. */
function wrapComment(text: string, indent: number): string {
  const lines: string[] = [];
  for (const paragraph of text.split("\n")) {
    let line = "";
    for (const word of paragraph.split(" ")) {
      if (line !== "" && indent + line.length + word.length + 1 > COMMENT_WIDTH) {
        lines.push(line);
        line = word;
      } else line = line === "" ? word : `${line} ${word}`;
    }
    lines.push(line);
  }
  return lines.map((line) => ` ${line}`).join("\n");
}
