/** Formats rendered parts as lines to insert into another file. */
import { MARK } from "./yaml-text.ts";
import { type EnvoyNode, formatEnvoyYaml, plain } from "../bootstrap/yaml-document.ts";

export interface Part {
  readonly lines: readonly string[];
  /** Same part on one line. */
  readonly flow: string;
}

/** Formats a field with its comment. */
export function formatField(node: EnvoyNode, name: string, options: { isMarked?: boolean } = {}): Part {
  const comment = node[`#${name}`];
  const alone: EnvoyNode = {
    ...(comment === undefined ? {} : { [`#${name}`]: comment }),
    [name]: node[name] ?? null,
  };
  const lines = toLines(formatEnvoyYaml(alone));
  // JSON is YAML on one line.
  const flow = `${name}: ${JSON.stringify(plain(node[name] ?? null))}`;
  return { lines: options.isMarked === true ? [`# ${MARK}`, ...lines] : lines, flow };
}

/** Formats a member of a list, with the mark. */
export function formatItem(
  item: EnvoyNode,
  options: { isMarked?: boolean } = { isMarked: true },
): readonly string[] {
  const [, ...lines] = toLines(formatEnvoyYaml({ list: [item] }));
  const own = lines.map((line) => line.slice(2));
  return options.isMarked === true ? [`# ${MARK}`, ...own] : own;
}

function toLines(text: string): string[] {
  return text.trimEnd().split("\n");
}
