/**
 * Envoy configuration as plain objects, printed as YAML with comments. A key `"#name"` is the comment above
 * the key `name` of the same object; a key `"#"` is the comment above the object itself.
 */
import { Document, type Node, Pair, Scalar, YAMLMap, YAMLSeq } from "yaml";

/** A part of Envoy's configuration, in Envoy's own field names. */
export type EnvoyNode = { readonly [field: string]: EnvoyValue };
export type EnvoyValue = string | number | boolean | null | EnvoyNode | readonly EnvoyValue[] | OneLine;

const COMMENT_MARK = "#";
const COMMENT_LINE = /(.{1,110})(?: |$)/gu;

/** Value that is printed on one line. */
export class OneLine {
  readonly value: EnvoyValue;

  constructor(value: EnvoyValue) {
    this.value = value;
  }
}

/** Prints a value on one line: for lists and small objects. */
export function oneLine(value: EnvoyValue): OneLine {
  return new OneLine(value);
}

/** Builds an Envoy extension or typed message: `@type` first, then its fields. */
export function typed(message: string, fields: EnvoyNode = {}): EnvoyNode {
  return { "@type": `type.googleapis.com/${message}`, ...fields };
}

/** Returns the value without comments and wrappers. */
export function plain(value: EnvoyValue): unknown {
  return withoutComments(value, (wrapped) => plain(wrapped.value));
}

/** Returns the part without comments, printed as before. */
export function omitComments(node: EnvoyNode): EnvoyNode {
  return withoutComments(node, (wrapped) => wrapped) as EnvoyNode;
}

function withoutComments(value: EnvoyValue, onWrapped: (wrapped: OneLine) => unknown): unknown {
  if (value instanceof OneLine) return onWrapped(value);
  if (isList(value)) return value.map((item) => withoutComments(item, onWrapped));
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).filter(([name]) => !name.startsWith(COMMENT_MARK));
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutComments(field, onWrapped)]));
}

/** Returns these fields of a part, with their comments. */
export function pick(node: EnvoyNode, names: readonly string[]): EnvoyNode {
  return filter(node, (name) => names.includes(name));
}

/** Returns all other fields, with their comments. */
export function omit(node: EnvoyNode, names: readonly string[]): EnvoyNode {
  return filter(node, (name) => !names.includes(name));
}

function filter(node: EnvoyNode, isWanted: (name: string) => boolean): EnvoyNode {
  return Object.fromEntries(Object.entries(node).filter(([name]) => isWanted(name.replace(/^#/, ""))));
}

/**
 * Texts that need quotes: parsers in Go don't read a plain text that begins with a colon, Envoy's parser (YAML
 * 1.1) reads these words as booleans, and a block would lose spaces alone.
 */
const QUOTED = /^(?::|\s*$|(?:y|yes|n|no|on|off)$)/i;
const PRINTED = { lineWidth: 0, flowCollectionPadding: false } as const;

/** Formats a configuration as YAML, with keys in their original order. */
export function formatEnvoyYaml(
  root: EnvoyNode | readonly EnvoyNode[],
  heading: string | null = null,
): string {
  const document = new Document(null);
  document.commentBefore = formatComment(heading);
  document.contents = createYamlNode(root);
  return document.toString(PRINTED);
}

/** Creates nodes of the `yaml` package, with comments. */
function createYamlNode(value: EnvoyValue, isFlow = false): Node {
  if (value instanceof OneLine) return createYamlNode(value.value, true);
  if (isList(value)) {
    const list = new YAMLSeq();
    list.flow = isFlow;
    list.items = value.map((item) => createYamlNode(item, isFlow));
    return list;
  }
  if (typeof value !== "object" || value === null) return createScalar(value, isFlow);
  const map = new YAMLMap();
  map.flow = isFlow;
  map.commentBefore = formatComment(value[COMMENT_MARK]);
  const fields = Object.entries(value).filter(([name]) => !name.startsWith(COMMENT_MARK));
  map.items = fields.map(([name, field]) => {
    const key = createScalar(name, isFlow);
    key.commentBefore = formatComment(value[COMMENT_MARK + name]);
    return new Pair(key, createYamlNode(field, isFlow));
  });
  return map;
}

/** On one line, a text with line breaks needs quotes: the `yaml` package prints "-\na" there as a list. */
function createScalar(value: unknown, isFlow: boolean): Scalar {
  const scalar = new Scalar(value);
  const needsQuotes = typeof value === "string" && (QUOTED.test(value) || (isFlow && value.includes("\n")));
  if (needsQuotes) scalar.type = "QUOTE_DOUBLE";
  return scalar;
}

function isList(value: EnvoyValue): value is readonly EnvoyValue[] {
  return Array.isArray(value);
}

/** Wraps a comment at spaces, in the form of the `yaml` package. */
function formatComment(text: EnvoyValue | undefined): string | null {
  if (typeof text !== "string") return null;
  const lines = text.split("\n").map((line) => line.replaceAll(COMMENT_LINE, " $1\n").trimEnd());
  return lines.join("\n");
}
