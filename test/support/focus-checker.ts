/**
 * What FOCUS 1.2 demands of a dataset, as far as its columns alone can show it: written after the specification's pages of
 * columns and attributes (v1.2), not after our export.
 */

type Kind = "string" | "decimal" | "time" | "currency" | "json";
interface Column {
  readonly kind: Kind;
  readonly isMandatory?: true;
  readonly isNullable?: true;
  readonly values?: readonly string[];
}

const mandatory = (kind: Kind, more: Omit<Column, "kind"> = {}): Column => ({
  kind,
  isMandatory: true,
  ...more,
});
const other = (kind: Kind = "string", more: Omit<Column, "kind"> = { isNullable: true }): Column => ({
  kind,
  ...more,
});

const COLUMNS: Readonly<Record<string, Column>> = {
  AvailabilityZone: other(),
  BilledCost: mandatory("decimal"),
  BillingAccountId: mandatory("string"),
  BillingAccountName: mandatory("string", { isNullable: true }),
  BillingAccountType: other("string", {}),
  BillingCurrency: mandatory("currency"),
  BillingPeriodEnd: mandatory("time"),
  BillingPeriodStart: mandatory("time"),
  ChargeCategory: mandatory("string", { values: ["Usage", "Purchase", "Tax", "Credit", "Adjustment"] }),
  ChargeClass: mandatory("string", { isNullable: true, values: ["Correction"] }),
  ChargeDescription: mandatory("string", { isNullable: true }),
  ChargeFrequency: other("string", { values: ["One-Time", "Recurring", "Usage-Based"] }),
  ChargePeriodEnd: mandatory("time"),
  ChargePeriodStart: mandatory("time"),
  ConsumedQuantity: other("decimal"),
  ConsumedUnit: other(),
  ContractedCost: mandatory("decimal"),
  ContractedUnitPrice: other("decimal"),
  EffectiveCost: mandatory("decimal"),
  InvoiceId: other(),
  InvoiceIssuerName: mandatory("string"),
  ListCost: mandatory("decimal"),
  ListUnitPrice: other("decimal"),
  PricingCategory: other("string", {
    isNullable: true,
    values: ["Standard", "Dynamic", "Committed", "Other"],
  }),
  PricingQuantity: mandatory("decimal", { isNullable: true }),
  PricingUnit: mandatory("string", { isNullable: true }),
  ProviderName: mandatory("string"),
  PublisherName: mandatory("string"),
  RegionId: other(),
  RegionName: other(),
  ResourceId: other(),
  ResourceName: other(),
  ResourceType: other(),
  ServiceCategory: mandatory("string", { values: ["AI and Machine Learning"] }),
  ServiceName: mandatory("string"),
  ServiceSubcategory: other("string", {
    values: ["AI Platforms", "Bots", "Generative AI", "Machine Learning"],
  }),
  SkuId: other(),
  SubAccountId: other(),
  SubAccountName: other(),
  SubAccountType: other(),
  Tags: other("json"),
};

const FORMS: Readonly<Record<Kind, RegExp>> = {
  string: /\S/u,
  decimal: /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/u,
  time: /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/u,
  currency: /^[A-Z]{3}$/u,
  json: /^\{.*\}$/u,
};

/** Pairs of which both or none are null. */
const TOGETHER = [
  ["PricingQuantity", "PricingUnit"],
  ["ConsumedQuantity", "ConsumedUnit"],
  ["ResourceId", "ResourceType"],
  ["SubAccountId", "SubAccountType"],
] as const;

type Row = Readonly<Record<string, string>>;

/** Everything that breaks the specification. "" in a cell is null. */
export function findFocusBreaches(columns: readonly string[], rows: readonly Row[]): string[] {
  const missing = Object.entries(COLUMNS)
    .filter(([name, { isMandatory }]) => isMandatory === true && !columns.includes(name))
    .map(([name]) => `there is no ${name}`);
  const unknown = columns.filter((name) => COLUMNS[name] === undefined && !name.startsWith("x_"));
  const twice = columns.filter((name, position) => columns.indexOf(name) !== position);
  return [
    ...missing,
    ...unknown.map((name) => `${name} is no column of FOCUS, and does not begin with x_`),
    ...twice.map((name) => `${name} twice`),
    ...rows.flatMap((row, number) => findRowBreaches(row).map((breach) => `row ${number}: ${breach}`)),
  ];
}

function findRowBreaches(row: Row): string[] {
  const breaches: string[] = [];
  for (const [name, value] of Object.entries(row)) {
    const column = COLUMNS[name];
    if (column === undefined) continue;
    if (value === "") {
      if (column.isNullable !== true) breaches.push(`${name} is null`);
    } else if (!FORMS[column.kind].test(value)) breaches.push(`${name}: ${value}`);
    else if (column.values?.includes(value) === false) breaches.push(`${name}: ${value} is not allowed`);
  }
  for (const [one, another] of TOGETHER) {
    if ((row[one] === "") !== (row[another] === "")) breaches.push(`${one} without ${another}`);
  }
  const isUsage = row["ChargeCategory"] === "Usage";
  if (isUsage && row["PricingQuantity"] === "") breaches.push("usage without PricingQuantity");
  if (isUsage && row["PricingCategory"] === "") breaches.push("usage without PricingCategory");
  const isMeasured = row["ConsumedQuantity"] !== "";
  if (isUsage !== isMeasured) breaches.push("ConsumedQuantity belongs to usage, and to it alone");
  const isNameless = row["ResourceId"] !== "" && row["ResourceName"] === "";
  if (isNameless) breaches.push("ResourceId without ResourceName");
  const [start, end] = [row["ChargePeriodStart"] ?? "", row["ChargePeriodEnd"] ?? ""];
  const isInside =
    (row["BillingPeriodStart"] ?? "") <= start && start < end && end <= (row["BillingPeriodEnd"] ?? "");
  if (!isInside) breaches.push(`the charge's period ${start} to ${end} is not in the billing period`);
  for (const value of Object.values(
    JSON.parse(row["Tags"] === "" ? "{}" : (row["Tags"] ?? "{}")) as object,
  )) {
    if (typeof value === "object" && value !== null) breaches.push("a tag that is an object");
  }
  return breaches;
}
