/**
 * FOCUS 1.2, the FinOps Open Cost and Usage Specification (https://focus.finops.org): columns of a bill for
 * finance tools. Has every mandatory column, and of the others those that apply to this gateway; its own
 * start with `x_`, as the specification requires. A row contains tokens at several prices, so there are no
 * unit prices and no SKUs.
 */
import { dayAt, expiryOf, parseMonth } from "../../../shared/time/calendar.ts";
import { formatDecimal } from "../../../shared/money/money.ts";
import { parseOwnerIds } from "../../../shared/stored/owner-ids.ts";
import { OTHER_TAGS, readTags } from "../../../shared/usage/tags.ts";
import { USAGE_FIGURES } from "../../../shared/usage/figures.ts";
import { WHOLE_KINDS } from "../../../shared/usage/token-usage.ts";
import { FIGURES_BY_POSITION } from "../../../shared/usage/usage-figures.ts";
import type { ExportRow } from "./export-rows.ts";
import type { UsageColumn } from "./usage-table.ts";

/** Seller and issuer of the bill. */
const PROVIDER = "inference-gateway";

const cost = ({ costMicrocents }: ExportRow): string => formatDecimal(costMicrocents);
const isUsage = ({ model, requests }: ExportRow): boolean => model !== null && requests > 0;
const countTokens = (row: ExportRow): number => WHOLE_KINDS.reduce((sum, kind) => sum + row[kind], 0);
/** Quantity; null for rows that are not usage. */
const quantity = (row: ExportRow): number | null => (isUsage(row) ? countTokens(row) : null);
const unit = (row: ExportRow): string | null => (isUsage(row) ? "Tokens" : null);

/** Figures by position, so that new ones are appended. */
const OWN: readonly UsageColumn<ExportRow>[] = [
  ["x_GroupId", ({ owners }) => parseOwnerIds(owners).groupId],
  ["x_GroupName", ({ groupName }) => groupName],
  ["x_RowId", ({ id }) => id],
  ["x_TagsAreOther", ({ tags }) => (tags === OTHER_TAGS ? "true" : "false")],
  ["x_UserId", ({ owners }) => parseOwnerIds(owners).userId],
  ["x_UserName", ({ userName }) => userName],
  ...FIGURES_BY_POSITION.map((figure): UsageColumn<ExportRow> => [
    USAGE_FIGURES[figure].focusName,
    (row) => row[figure],
  ]),
];

/** FOCUS's columns in order of name, then the gateway's own. Never move one; append new ones. */
export const FOCUS_COLUMNS: readonly UsageColumn<ExportRow>[] = [
  ["BilledCost", cost],
  ["BillingAccountId", ({ organization }) => organization.id],
  ["BillingAccountName", ({ organization }) => organization.name],
  ["BillingAccountType", () => "Organization"],
  ["BillingCurrency", ({ organization }) => organization.currency],
  ["BillingPeriodEnd", ({ day }) => formatTime(expiryOf(day.slice(0, 7), 0))],
  ["BillingPeriodStart", ({ day }) => formatTime(parseMonth(day.slice(0, 7))?.startMs ?? Number.NaN)],
  ["ChargeCategory", (row) => (isUsage(row) ? "Usage" : "Adjustment")],
  // "Correction" is for charges of closed billing periods: a correction here belongs to the current month.
  ["ChargeClass", () => null],
  ["ChargeDescription", (row) => describeCharge(row)],
  ["ChargeFrequency", (row) => (isUsage(row) ? "Usage-Based" : "One-Time")],
  ["ChargePeriodEnd", ({ day }) => formatTime(dayAt(Date.parse(day)).endMs)],
  ["ChargePeriodStart", ({ day }) => formatTime(Date.parse(day))],
  ["ConsumedQuantity", quantity],
  ["ConsumedUnit", unit],
  ["ContractedCost", cost],
  ["EffectiveCost", cost],
  ["InvoiceIssuerName", () => PROVIDER],
  ["ListCost", cost],
  ["PricingCategory", (row) => (isUsage(row) ? "Standard" : null)],
  ["PricingQuantity", quantity],
  ["PricingUnit", unit],
  ["ProviderName", () => PROVIDER],
  ["PublisherName", ({ model }) => model?.split("/", 1)[0] ?? PROVIDER],
  ["ResourceId", ({ model }) => model],
  ["ResourceName", ({ model }) => model],
  ["ResourceType", ({ model }) => (model === null ? null : "Model")],
  ["ServiceCategory", () => "AI and Machine Learning"],
  ["ServiceName", () => "Inference"],
  ["ServiceSubcategory", () => "Generative AI"],
  ["SubAccountId", ({ keyId }) => keyId],
  ["SubAccountName", ({ keyName }) => keyName],
  ["SubAccountType", ({ keyId }) => (keyId === null ? null : "API key")],
  ["Tags", ({ tags }) => JSON.stringify(readTags(tags))],
  ...OWN,
];

function describeCharge(row: ExportRow): string {
  const { model, keyName, keyId, day } = row;
  const key = keyId === null ? "" : ` with API key ${keyName ?? keyId}`;
  if (!isUsage(row)) return `Spend correction${key} on ${day}`;
  return `Requests to ${model}${key} on ${day}`;
}

/** Formats ISO 8601 in UTC with seconds. */
function formatTime(timeMs: number): string {
  return new Date(timeMs).toISOString().replace(".000Z", "Z");
}
