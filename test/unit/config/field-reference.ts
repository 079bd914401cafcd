/** The fields of `gateway.yaml` as the tables of docs/gateway-yaml.md, made from the schema. */
import { z } from "zod";

import { createConfigSchema } from "../../../src/shared/config/schema.ts";

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly default?: unknown;
  readonly description?: string;
  readonly "x-type"?: string;
  readonly "x-unit"?: string;
  readonly "x-default"?: string;
}

/** One field that takes a value. */
export interface FieldRow {
  /** "catalog[].prices.<currency>.input". */
  readonly path: string;
  readonly type: string;
  readonly default: string;
  readonly meaning: string;
}

/** Every field that takes a value, in the order of the schema. */
export function listFields(): FieldRow[] {
  const schema = z.toJSONSchema(createConfigSchema({ baseDir: "/", env: {} }), {
    io: "input",
    unrepresentable: "any",
  });
  return collect(schema as JsonSchema, "", true);
}

/** A heading and a table for each section. */
export function renderReference(rows: readonly FieldRow[]): string {
  const sections = groupBySection(rows);
  return [...sections]
    .map(([section, fields]) => {
      const lines = fields.map(
        (row) => `| \`${row.path}\` | ${row.type} | ${row.default} | ${row.meaning} |`,
      );
      return [
        `### ${section}`,
        "",
        "| Field | Takes | Default | Meaning |",
        "|---|---|---|---|",
        ...lines,
      ].join("\n");
    })
    .join("\n\n");
}

function groupBySection(rows: readonly FieldRow[]): Map<string, FieldRow[]> {
  const sections = new Map<string, FieldRow[]>();
  for (const row of rows) {
    const parts = row.path.replace("[]", "").split(".");
    const nested = parts[0] === "catalog" && (parts[1] === "prices" || parts[1] === "profile");
    const section =
      parts.length === 1
        ? "Fields without a section"
        : nested
          ? `\`catalog[].${parts[1]}\``
          : `\`${parts[0]}\``;
    sections.set(section, [...(sections.get(section) ?? []), row]);
  }
  return sections;
}

function collect(schema: JsonSchema, path: string, isRequired: boolean): FieldRow[] {
  if (schema["x-type"] !== undefined) return [describeField(schema, path, isRequired)];
  if (schema.properties !== undefined) {
    return Object.entries(schema.properties).flatMap(([name, member]) =>
      collect(member, path === "" ? name : `${path}.${name}`, schema.required?.includes(name) === true),
    );
  }
  if (schema.items !== undefined) return collect(schema.items, `${path}[]`, isRequired);
  if (typeof schema.additionalProperties === "object") {
    return collect(schema.additionalProperties, `${path}.<currency>`, isRequired);
  }
  throw new Error(`the schema of ${path} has neither fields nor a description`);
}

function describeField(schema: JsonSchema, path: string, isRequired: boolean): FieldRow {
  const unit = schema["x-unit"] === undefined ? "" : ` ${schema["x-unit"]}`;
  return {
    path,
    type: `${schema["x-type"]}${unit}`,
    default: schema["x-default"] ?? formatDefault(schema.default, isRequired),
    meaning: schema.description ?? "",
  };
}

function formatDefault(value: unknown, isRequired: boolean): string {
  if (value !== undefined) return `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
  return isRequired ? "**required**" : "";
}
