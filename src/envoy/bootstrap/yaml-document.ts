/**
 * Envoy configuration as plain objects, printed as YAML with comments. A key `"#name"` is the comment above
 * the key `name` of the same object; a key `"#"` is the comment above the object itself. The `yaml` package
 * supports comments too, node by node, but printing a bootstrap with it adds 0.2 s to each start.
 */
import { stringify } from "yaml";

/** A part of Envoy's configuration, in Envoy's own field names. */
export type EnvoyNode = { readonly [field: string]: EnvoyValue };
export type EnvoyValue = string | number | boolean | null | EnvoyNode | readonly EnvoyValue[] | OneLine;

const COMMENT_MARK = "#";
const COMMENT_WIDTH = 110;

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
  if (value instanceof OneLine) return plain(value.value);
  if (Array.isArray(value)) return value.map((item: EnvoyValue) => plain(item));
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).filter(([name]) => !name.startsWith("#"));
  return Object.fromEntries(fields.map(([name, field]) => [name, plain(field)]));
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
 * Formats a configuration as YAML, with keys in their original order. Does not use the YAML package, which
 * first makes a node of every value: a fifth of a second for a bootstrap, at each start of a stack.
 */
export function formatEnvoyYaml(root: EnvoyNode, heading: string | null = null): string {
  const head = heading === null ? [] : [...formatComment(heading, ""), ""];
  return `${[...head, ...formatComment(root[COMMENT_MARK], ""), ...formatFields(root, "")].join("\n")}\n`;
}

/** Formats the lines of a map with this indentation. */
function formatFields(node: EnvoyNode, indent: string): string[] {
  const inner = `${indent}  `;
  return listFields(node).flatMap(([name, value]) => {
    const lines = formatComment(node[COMMENT_MARK + name], indent);
    const key = `${indent}${formatKey(name, "block")}:`;
    if (!isBlock(value)) lines.push(...hang(`${key} `, formatLine(value, "block"), indent));
    else if (isList(value)) lines.push(key, ...formatItems(value, inner));
    else lines.push(key, ...formatComment(value[COMMENT_MARK], inner), ...formatFields(value, inner));
    return lines;
  });
}

/** Formats the lines of a list. */
function formatItems(items: readonly EnvoyValue[], indent: string): string[] {
  const inner = `${indent}  `;
  return items.flatMap((item) => {
    if (!isBlock(item)) return hang(`${indent}- `, formatLine(item, "block"), indent);
    const lines = isList(item) ? formatItems(item, inner) : formatFields(item, inner);
    // The dash replaces the first line's indentation.
    lines[0] = `${indent}- ${(lines[0] ?? "").slice(inner.length)}`;
    return isList(item) ? lines : [...formatComment(item[COMMENT_MARK], indent), ...lines];
  });
}

/** Returns whether a value is printed over several lines. */
function isBlock(value: EnvoyValue): value is EnvoyNode | readonly EnvoyValue[] {
  if (typeof value !== "object" || value === null || value instanceof OneLine) return false;
  return isList(value) ? value.length > 0 : listFields(value).length > 0;
}

function isList(value: EnvoyValue): value is readonly EnvoyValue[] {
  return Array.isArray(value);
}

/** Returns the fields of a map without their comments. */
function listFields(node: EnvoyNode): [string, EnvoyValue][] {
  return Object.entries(node).filter(([name]) => !name.startsWith(COMMENT_MARK));
}

/** Appends a text of several lines after its key or dash. */
function hang(start: string, text: string, indent: string): string[] {
  const [first = "", ...more] = text.split("\n");
  return [`${start}${first}`, ...more.map((line) => (line === "" ? "" : `${indent}${line}`))];
}

/** Formats a value on one line; a text of several lines becomes a block if allowed. */
function formatLine(value: EnvoyValue, where: "block" | "flow"): string {
  if (value instanceof OneLine) return formatLine(value.value, "flow");
  if (isList(value)) return `[${value.map((item) => formatLine(item, "flow")).join(", ")}]`;
  if (typeof value === "string") return formatText(value, where);
  if (typeof value !== "object" || value === null) return String(value);
  const fields = listFields(value).map(
    ([name, field]) => `${formatKey(name, "flow")}: ${formatLine(field, "flow")}`,
  );
  return `{${fields.join(", ")}}`;
}

/** Names, paths, durations and sentences without a comma, which need no quotes anywhere. */
const PLAIN = /^(?:[A-Za-z_/][\w./'`-]*(?: [\w./'`-]+)*|\d+(?:\.\d+)?s)$/;
/** Words that YAML does not read as text, in 1.2 or as Envoy's parser knows it, 1.1. */
const NO_TEXT = /^(?:null|true|false|yes|no|on|off|y|n)$/i;
/**
 * Texts that need quotes: those with a special first character (a colon for parsers in Go) or that YAML reads
 * as another type; without characters to escape.
 */
const QUOTED = /^(?:[:@%&*!|>#`[\]{},][^\\\p{C}]*|\d+)$/u;
/** Texts that need quotes only within a flow collection. */
const QUOTED_IN_FLOW = /^[^\\\p{C}]*[,[\]{}][^\\\p{C}]*$/u;

/** Formats a text. Most are decided by patterns; the YAML package takes a tenth of a millisecond per text. */
function formatText(text: string, where: "block" | "flow"): string {
  if (NO_TEXT.test(text)) return `"${text}"`;
  if (PLAIN.test(text)) return text;
  if (QUOTED.test(text) || (where === "flow" && QUOTED_IN_FLOW.test(text))) {
    if (!text.includes('"')) return `"${text}"`;
    if (!text.includes("'")) return `'${text}'`;
  }
  // JSON is YAML on one line. A block would lose the spaces of a text of only spaces and line breaks.
  if (text.includes("\n") && (where === "flow" || text.trim() === "")) return JSON.stringify(text);
  // Formats it as a list of one, and removes the bracket or dash.
  if (where === "block") return stringify([text], PRINTED).slice("- ".length, -"\n".length);
  return stringify([text], FLOW).slice("[".length, -"]\n".length);
}

const PRINTED = { lineWidth: 0, flowCollectionPadding: false } as const;
const FLOW = { ...PRINTED, collectionStyle: "flow" } as const;

function formatKey(name: string, where: "block" | "flow"): string {
  if (PLAIN.test(name) && !NO_TEXT.test(name)) return name;
  if (QUOTED.test(name) && !name.includes('"')) return `"${name}"`;
  if (where === "block") return stringify({ [name]: 0 }, PRINTED).slice(0, -": 0\n".length);
  return stringify({ [name]: 0 }, FLOW).slice("{".length, -": 0}\n".length);
}

/** Formats a comment's lines, wrapped at spaces; empty without a comment. */
function formatComment(text: EnvoyValue | undefined, indent: string): string[] {
  if (typeof text !== "string") return [];
  const lines: string[] = [];
  for (const paragraph of text.split("\n")) {
    let line = "";
    for (const word of paragraph.split(" ")) {
      if (line !== "" && line.length + word.length + 1 > COMMENT_WIDTH) {
        lines.push(line);
        line = word;
      } else line = line === "" ? word : `${line} ${word}`;
    }
    lines.push(line);
  }
  return lines.map((line) => `${indent}# ${line}`.trimEnd());
}
