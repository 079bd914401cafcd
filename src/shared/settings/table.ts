/**
 * Functions of any table of settings. All casts are here: TypeScript knows the types of a table's rows, but
 * not that a loop over them keeps each row's type.
 */
import type { z } from "zod";
import { centsOf, type Limit, type LimitName, withCents, withoutRows } from "./limits.ts";
import type { LimitAlias, RecordOf, Setting, Settings, StoredSetting, StoredSettings } from "./setting.ts";
import { capitalize } from "../text/capitalize.ts";

type Input<Row extends Setting> = Row["kind"]["input"];

/** Name of a setting that callers can set; `never` for settings with separate calls. */
type GivenName<Row extends Setting> = Row extends { readonly changedBy: "ownCalls" } ? never : Row["apiName"];

/** Shape of a change: every setting by its name in the API, all optional. */
export type ChangeShape<Table extends Settings> = {
  -readonly [Name in keyof Table as GivenName<Table[Name]>]: z.ZodOptional<Input<Table[Name]>>;
};

/** Shape of a creation: settings without a default are required. */
export type CreationShape<Table extends Settings> = {
  -readonly [Name in keyof Table as GivenName<Table[Name]>]: Table[Name] extends { readonly default: unknown }
    ? z.ZodOptional<Input<Table[Name]>>
    : Input<Table[Name]>;
};

type MemberRows<Table extends Settings> = {
  readonly [
    Name in keyof Table as Table[Name] extends { readonly byMembers: true } ? Name : never
  ]: Table[Name];
};

export type AnswerShape<Table extends Settings> = {
  -readonly [Name in keyof Table as Table[Name]["apiName"]]: Table[Name]["kind"]["output"];
};

/** Values with the API's names. */
export type DescriptionOf<Table extends Settings> = {
  -readonly [Name in keyof Table as Table[Name]["apiName"]]: z.output<Table[Name]["kind"]["output"]>;
};

/** API input that was given. */
export type ChangeOf<Table extends Settings> = {
  readonly [Name in keyof Table as GivenName<Table[Name]>]?: z.output<Input<Table[Name]>> | undefined;
};

type Defaulted<Table extends Settings> = RecordOf<{
  [Name in keyof Table as Table[Name] extends { readonly default: unknown } ? Name : never]: Table[Name];
}>;

export function changeShape<Table extends Settings>(table: Table): ChangeShape<Table> {
  return shapeOf(givenRows(table), (row) => inputOf(row).optional()) as ChangeShape<Table>;
}

export function creationShape<Table extends Settings>(table: Table): CreationShape<Table> {
  const shape = shapeOf(givenRows(table), (row) =>
    isRequired(row) ? inputOf(row) : inputOf(row).optional(),
  );
  return shape as CreationShape<Table>;
}

/** Returns the rows that members set on a new key of their own. */
export function rowsOfMembers<Table extends Settings>(table: Table): MemberRows<Table> {
  return Object.fromEntries(Object.entries(table).filter(([, row]) => row.byMembers)) as MemberRows<Table>;
}

export function answerShape<Table extends Settings>(table: Table): AnswerShape<Table> {
  return shapeOf(table, (row) => row.kind.output) as AnswerShape<Table>;
}

/** Returns the default values, without required settings. */
export function defaultsOf<Table extends Settings>(table: Table): Defaulted<Table> {
  const given = ownRows(table).filter(([, row]) => !isRequired(row));
  return Object.fromEntries(given.map(([name, row]) => [name, row.default])) as Defaulted<Table>;
}

/** Lists the settings of records: all but aliases. */
export function ownRows<Row extends Setting>(
  table: Readonly<Record<string, Row | LimitAlias>>,
): [name: string, row: Row][] {
  return Object.entries(table).filter((entry): entry is [string, Row] => aliasOf(entry[1]) === null);
}

/** Lists the rows of `limits` that have an alias. */
function aliasesOf(table: Settings): LimitName[] {
  return Object.values(table).flatMap((row) => aliasOf(row) ?? []);
}

export function aliasOf(row: Setting | LimitAlias): LimitName | null {
  return "aliasOf" in row ? row.aliasOf : null;
}

function limitsOf(record: Readonly<Record<string, unknown>>): readonly Limit[] {
  return (record["limits"] ?? []) as readonly Limit[];
}

/**
 * Converts API input to settings; omitted ones stay omitted.
 * @param current Current settings; null for a new record.
 */
export function convertSettings<Table extends Settings>(
  table: Table,
  wanted: ChangeOf<Table>,
  current: RecordOf<Table> | null,
): Partial<RecordOf<Table>> {
  const given = wanted as Readonly<Record<string, unknown>>;
  const now: Readonly<Record<string, unknown>> = current ?? {};
  const converted: Record<string, unknown> = {};
  for (const [name, row] of Object.entries(table)) {
    const value = given[row.apiName];
    const alias = aliasOf(row);
    if (value === undefined) continue;
    if (alias === null) converted[name] = row.kind.convert(value, now[name] ?? row.default);
    // A given `limits` has the same amount: refuseConflict.
    else if (given["limits"] === undefined) {
      converted["limits"] = withCents(limitsOf({ ...now, ...converted }), alias, value as number | null);
    }
  }
  return converted as Partial<RecordOf<Table>>;
}

/**
 * Returns settings for the audit log, in which all stored differences are visible, limits with an alias only
 * under it. Never contains a secret.
 */
export function recordSettings<Table extends Settings>(
  table: Table,
  record: RecordOf<Table>,
): DescriptionOf<Table> {
  const aliases = aliasesOf(table);
  return describe(table, record, (name, { kind }, value) => {
    if (name === "limits") return withoutAliases(limitsOf(record), aliases);
    return kind.record === undefined ? kind.describe(value) : kind.record(value);
  });
}

/** Keeps rows with own alerts, which an alias does not show. */
function withoutAliases(rows: readonly Limit[], aliases: readonly LimitName[]): readonly Limit[] {
  return rows.filter((row) => row.alerts !== undefined || withoutRows([row], aliases).length > 0);
}

/** Returns settings for the API, limits with an alias in both forms. Never contains a secret. */
export function describeSettings<Table extends Settings>(
  table: Table,
  record: RecordOf<Table>,
): DescriptionOf<Table> {
  return describe(table, record, (_name, { kind }, value) => kind.describe(value));
}

function describe<Table extends Settings>(
  table: Table,
  record: Readonly<Record<string, unknown>>,
  show: (name: string, row: Setting, value: unknown) => unknown,
): DescriptionOf<Table> {
  const described = Object.entries(table).map(([name, row]) => {
    const alias = aliasOf(row);
    return [row.apiName, alias === null ? show(name, row, record[name]) : centsOf(limitsOf(record), alias)];
  });
  return Object.fromEntries(described) as DescriptionOf<Table>;
}

/** Formats the given settings for a Redis hash: field, value, field, value … */
export function formatFields<Table extends StoredSettings>(
  table: Table,
  settings: Partial<RecordOf<Table>>,
): string[] {
  const given: Readonly<Record<string, unknown>> = settings;
  return ownRows(table)
    .filter(([name]) => given[name] !== undefined)
    .flatMap(([name, row]) => [row.field, row.kind.format(given[name])]);
}

/** @throws TypeError, SyntaxError or ZodError if a field was not written by this program. */
export function parseFields<Table extends StoredSettings>(
  table: Table,
  fields: Readonly<Record<string, string>>,
): RecordOf<Table> {
  const parsed = ownRows(table).map(([name, row]) => {
    const field = fields[row.field];
    if (field === undefined && isRequired(row)) {
      throw new TypeError(`a record in Redis has no field "${row.field}"`);
    }
    return [name, field === undefined ? row.default : row.kind.parse(field)];
  });
  return Object.fromEntries(parsed) as RecordOf<Table>;
}

/** Lists the settings that an admission returns, in the order of the table. */
export function admittedRows(table: StoredSettings): [name: string, row: StoredSetting][] {
  return ownRows(table).filter(([, row]) => row.inAdmission === true);
}

/** Returns whether a setting is required for creation. */
export function isRequired(row: Setting): boolean {
  return row.default === undefined;
}

/** Returns the description for the API documentation. */
export function describeSetting({ description, changedBy }: Setting): string {
  return changedBy === "operator" ? `${description} Only the operator can change it.` : description;
}

function inputOf(row: Setting): z.ZodType {
  const { notation, values, input } = row.kind;
  // A pattern does not explain itself to people.
  const form = notation === "text" && isRequired(row) ? ` ${capitalize(values)}.` : "";
  return input.meta({ ...input.meta(), description: `${describeSetting(row)}${form}` });
}

function givenRows(table: Settings): Settings {
  return Object.fromEntries(Object.entries(table).filter(([, row]) => !hasOwnCalls(row)));
}

/** Returns whether the setting is shown with the others, but changed by separate calls. */
export function hasOwnCalls({ changedBy }: Setting): boolean {
  return changedBy === "ownCalls";
}

function shapeOf(table: Settings, schemaOf: (row: Setting) => z.ZodType): Record<string, z.ZodType> {
  return Object.fromEntries(Object.values(table).map((row) => [row.apiName, schemaOf(row)]));
}
