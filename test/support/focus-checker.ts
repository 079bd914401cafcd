/**
 * Holds a dataset against FOCUS 1.2 as it is published: the requirements of the specification's own model
 * (`test/fixtures/focus-1.2`, which says where they are from), read by the specification, not after our export.
 */
import { readFileSync } from "node:fs";

/** What the model can say of a row, or of the columns. Conditions are of the same form. */
interface Check {
  readonly CheckFunction: string;
  readonly Items?: readonly Check[];
  readonly ColumnName?: string;
  /** Of one condition, in the place of `ColumnName`. */
  readonly CheckCondition?: string;
  readonly ColumnAName?: string;
  readonly ColumnBName?: string;
  readonly ResultColumnName?: string;
  readonly Value?: string | number | null;
  readonly ExpectedCount?: number;
}

interface Requirement {
  readonly id: string;
  readonly text: string;
  /** It holds for providers of whom one of these is true; for all when there are none. */
  readonly applicability: readonly string[];
  readonly condition: readonly Check[];
  readonly requirement: Check;
}

interface Model {
  readonly columns: readonly string[];
  readonly applicabilityCriteria: readonly string[];
  readonly requirements: readonly Requirement[];
}

const MODEL = JSON.parse(
  readFileSync(new URL("../fixtures/focus-1.2/requirements.json", import.meta.url), "utf8"),
) as Model;

/**
 * What is true of the gateway. It has no unit prices (a row has tokens of several), no public price list, and sells neither
 * commitments nor in regions.
 */
const APPLICABLE = new Set([
  "ACCOUNT_NAMING_SUPPORTED",
  "USAGE_MEASUREMENT_SUPPORTED",
  "SUB_ACCOUNT_SUPPORTED",
  "RESOURCE_TYPE_ASSIGNMENT_SUPPORTED",
  "TAGGING_SUPPORTED",
]);

type Row = Readonly<Record<string, string>>;

/** Everything that breaks the specification, by the id and the words of the requirement. "" in a cell is null. */
export function findFocusBreaches(columns: readonly string[], rows: readonly Row[]): string[] {
  const unknown = [...APPLICABLE].filter((name) => !MODEL.applicabilityCriteria.includes(name));
  if (unknown.length > 0) throw new Error(`FOCUS knows no ${unknown.join(", ")}`);
  return [
    ...columns
      .filter((name) => !MODEL.columns.includes(name) && !name.startsWith("x_"))
      .map((name) => `${name} is no column of FOCUS, and does not begin with x_`),
    ...columns.filter((name, position) => columns.indexOf(name) !== position).map((name) => `${name} twice`),
    ...MODEL.requirements
      .filter(({ applicability }) => applicability.every((name) => APPLICABLE.has(name)))
      .flatMap((requirement) => findBreaches(requirement, columns, rows)),
  ];
}

function findBreaches(
  { id, text, condition, requirement }: Requirement,
  columns: readonly string[],
  rows: readonly Row[],
): string[] {
  if (requirement.CheckFunction === "ColumnPresent") {
    return columns.includes(requirement.ColumnName ?? "") ? [] : [`${id}: ${text}`];
  }
  // What is not there, and need not be, keeps no rule of its own.
  if (!columnsOf(requirement).every((name) => columns.includes(name))) return [];
  if (requirement.CheckFunction === "CheckDistinctCount") {
    return hasDistinctCount(requirement, rows) ? [] : [`${id}: ${text}`];
  }
  return rows.flatMap((row, number) =>
    condition.every((each) => holds(each, row)) && !holds(requirement, row)
      ? [`row ${number}: ${id}: ${text}`]
      : [],
  );
}

function columnsOf(check: Check): string[] {
  const { ColumnName, ColumnAName, ColumnBName, ResultColumnName, Items = [] } = check;
  const own = [ColumnName, ColumnAName, ColumnBName, ResultColumnName];
  return [...own.filter((name) => name !== undefined), ...Items.flatMap(columnsOf)];
}

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/u;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/u;
const CURRENCIES = new Set(Intl.supportedValuesOf("currency"));

/** Forms of values. Null has none to keep. */
const FORMS: Readonly<Record<string, (value: string) => boolean>> = {
  TypeString: () => true,
  FormatString: (value) => value === value.trim() && value !== "",
  TypeDecimal: (value) => DECIMAL.test(value),
  FormatNumeric: (value) => DECIMAL.test(value),
  CheckDecimalValue: (value) => DECIMAL.test(value),
  TypeDateTime: (value) => TIME.test(value) && !Number.isNaN(Date.parse(value)),
  FormatDateTime: (value) => TIME.test(value),
  FormatCurrency: (value) => /^[A-Z]{3}$/u.test(value),
  CheckNationalCurrency: (value) => CURRENCIES.has(value),
  FormatKeyValue: isKeyValue,
};

/** Names with a string, a number, a truth value or null. */
function isKeyValue(value: string): boolean {
  const parsed: unknown = JSON.parse(value);
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return false;
  return Object.values(parsed).every((each) => each === null || typeof each !== "object");
}

function holds(check: Check, row: Row): boolean {
  const { CheckFunction: name, Items: items = [], Value: wanted = null } = check;
  const valueOf = (column: string | undefined): string | null => row[column ?? ""] || null;
  const value = valueOf(check.ColumnName ?? check.CheckCondition);
  const form = FORMS[name];
  if (form !== undefined) return value === null || form(value);
  switch (name) {
    case "AND":
      return items.every((each) => holds(each, row));
    case "OR":
      return items.some((each) => holds(each, row));
    case "CheckValue":
      return isValue(value, wanted);
    case "CheckNotValue":
      return !isValue(value, wanted);
    case "CheckNotSameValue":
      return valueOf(check.ColumnAName) !== valueOf(check.ColumnBName);
    default:
      throw new Error(`a check of FOCUS that is not known here: ${name}`);
  }
}

function isValue(value: string | null, wanted: string | number | null): boolean {
  return typeof wanted === "number" && value !== null ? Number(value) === wanted : value === wanted;
}

function hasDistinctCount(
  { ColumnAName = "", ColumnBName = "", ExpectedCount }: Check,
  rows: readonly Row[],
) {
  const found = new Map<string, Set<string>>();
  for (const row of rows) {
    const one = row[ColumnAName] ?? "";
    found.set(one, (found.get(one) ?? new Set()).add(row[ColumnBName] ?? ""));
  }
  return [...found.values()].every(({ size }) => size === ExpectedCount);
}
