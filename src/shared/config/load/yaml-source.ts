import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Document, type Node } from "yaml";
import { formatPath, type ConfigProblem, type FieldPath } from "../config-error.ts";

/** Limit of expanded anchors, so that a small file cannot become a huge value. */
const MAX_ALIAS_COUNT = 100;

/** YAML text as plain values, with their positions. */
export interface YamlSource {
  /** Undefined if the text is not YAML. */
  readonly value: unknown;
  /** Syntax errors and duplicate fields. */
  readonly problems: readonly ConfigProblem[];
  /** Returns the line of the field, or of the nearest enclosing mapping. */
  lineOf(path: FieldPath): number | undefined;
  /** Returns a number as it is written, such as "2.50", which equals 2.5 as a value. */
  writtenAt(path: FieldPath): string | undefined;
}

/** Parses one YAML 1.2 document. Never throws. */
export function readYaml(text: string): YamlSource {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
    logLevel: "silent",
  });
  const lineAt = (offset: number | undefined): number | undefined =>
    offset === undefined ? undefined : lines.linePos(offset).line;
  const find = (path: FieldPath): Found => findNode(document, path);
  const source = {
    lineOf: (path: FieldPath) => lineAt(find(path).offset),
    writtenAt: (path: FieldPath) => {
      const { node } = find(path);
      return isScalar(node) ? node.source : undefined;
    },
  };
  const syntax = [...document.errors, ...document.warnings].map((error) => {
    const { line, col } = lines.linePos(error.pos[0]);
    return { path: "", line, message: `not valid YAML at column ${col}: ${firstLine(error.message)}` };
  });
  if (syntax.length > 0) return { ...source, value: undefined, problems: syntax };
  try {
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIAS_COUNT });
    return { ...source, value, problems: findDuplicates(document.contents, [], lineAt) };
  } catch (error) {
    const message = `not valid YAML: ${error instanceof Error ? error.message : String(error)}`;
    return { ...source, value: undefined, problems: [{ path: "", message }] };
  }
}

function firstLine(message: string): string {
  return message.split("\n", 1)[0] ?? "";
}

interface Found {
  readonly node: unknown;
  /** Offset of the field in the text: its key in a mapping, the value in a list. */
  readonly offset: number | undefined;
}

/** Returns the node at a path, or the last existing one on the way. */
function findNode(document: Document.Parsed, path: FieldPath): Found {
  let node: unknown = document.contents;
  let offset: number | undefined = document.contents?.range?.[0];
  for (const step of path) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      // For equal keys the last one's value is used.
      const pair = node.items.findLast((item) => keyOf(item.key) === String(step));
      if (pair === undefined) return { node: undefined, offset };
      offset = offsetOf(pair.key) ?? offset;
      node = pair.value;
    } else if (isSeq(node) && typeof step === "number" && step < node.items.length) {
      node = node.items[step];
      offset = offsetOf(node) ?? offset;
    } else {
      return { node: undefined, offset };
    }
  }
  return { node, offset };
}

function keyOf(key: unknown): string {
  return isScalar(key) ? String(key.value) : String(key);
}

function offsetOf(node: unknown): number | undefined {
  return (node as Node | null)?.range?.[0];
}

function findDuplicates(
  node: unknown,
  path: FieldPath,
  lineAt: (offset: number | undefined) => number | undefined,
): ConfigProblem[] {
  if (isSeq(node)) return node.items.flatMap((item, index) => findDuplicates(item, [...path, index], lineAt));
  if (!isMap(node)) return [];
  const problems: ConfigProblem[] = [];
  const firstLines = new Map<string, number | undefined>();
  for (const { key, value } of node.items) {
    const name = keyOf(key);
    const line = lineAt(offsetOf(key));
    const fieldPath = [...path, name];
    if (firstLines.has(name)) {
      const message = `field \`${name}\` occurs twice in one mapping, first on line ${firstLines.get(name)}`;
      problems.push({ path: formatPath(fieldPath), ...(line === undefined ? {} : { line }), message });
    } else {
      firstLines.set(name, line);
    }
    problems.push(...findDuplicates(value, fieldPath, lineAt));
  }
  return problems;
}
