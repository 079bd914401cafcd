/** Records of organizations and keys: their fields in Redis and back. '' stands for none. */
import { z } from "zod";
import { parseInteger, parseIntegerOrNull } from "../redis/replies.ts";
import type {
  KeyRecord,
  KeySettings,
  OrganizationRecord,
  OrganizationSettings,
} from "../types/management.ts";

type Fields = Readonly<Record<string, string>>;

const modelsSchema = z.array(z.string());
const notificationsSchema = z.object({
  dashboard: z.boolean(),
  emails: z.array(z.string()),
  webhook: z
    .object({
      url: z.string(),
      secrets: z.array(z.object({ secret: z.string(), expiresAtMs: z.number().nullable() })),
      disabledAtMs: z.number().exactOptional(),
    })
    .nullable(),
});
const keyDefaultsSchema = z.object({
  requestsPerMinute: z.number().nullable(),
  hardCapCents: z.number().nullable(),
  budgetCents: z.number().nullable(),
});

const KEY_FIELDS: { readonly [Name in keyof KeySettings]: readonly [string, (value: never) => string] } = {
  name: ["name", String],
  requestsPerMinute: ["rpm", String],
  hardCapCents: ["hard_cap_cents", formatNullable],
  budgetCents: ["budget_cents", formatNullable],
  allowedModels: ["allowed_models", formatModels],
  maxConcurrentRequests: ["max_concurrent", formatNullable],
  expiresAtMs: ["expires_at", formatNullable],
  disabled: ["disabled", formatFlag],
};

const ORGANIZATION_FIELDS: {
  readonly [Name in keyof OrganizationSettings]: readonly [string, (value: never) => string];
} = {
  name: ["name", String],
  currency: ["currency", String],
  hardCapCents: ["hard_cap_cents", formatNullable],
  budgetCents: ["budget_cents", formatNullable],
  strictCaps: ["strict_caps", formatFlag],
  suspended: ["suspended", formatFlag],
  notifications: ["notifications", JSON.stringify],
  keyDefaults: ["key_defaults", JSON.stringify],
};

/** Field, value, field, value … of the settings that are given. */
export function formatKeySettings(settings: Partial<KeySettings>): string[] {
  return formatSettings(KEY_FIELDS, settings);
}

/** Field, value, field, value … of the settings that are given. */
export function formatOrganizationSettings(settings: Partial<OrganizationSettings>): string[] {
  return formatSettings(ORGANIZATION_FIELDS, settings);
}

/** @throws TypeError or ZodError when a field has not the form that this program writes. */
export function parseKeyRecord(organizationId: string, id: string, fields: Fields): KeyRecord {
  return {
    id,
    organizationId,
    name: textOf(fields, "name"),
    display: textOf(fields, "display"),
    requestsPerMinute: parseInteger(textOf(fields, "rpm")),
    hardCapCents: parseIntegerOrNull(fields["hard_cap_cents"]),
    budgetCents: parseIntegerOrNull(fields["budget_cents"]),
    allowedModels: parseModels(fields["allowed_models"] ?? ""),
    maxConcurrentRequests: parseIntegerOrNull(fields["max_concurrent"]),
    expiresAtMs: parseIntegerOrNull(fields["expires_at"]),
    disabled: fields["disabled"] === "1",
    createdAtMs: parseInteger(textOf(fields, "created_at")),
    deletedAtMs: parseIntegerOrNull(fields["deleted_at"]),
    formerKeyUntilMs: parseIntegerOrNull(fields["former_until"]),
    version: parseInteger(textOf(fields, "version")),
  };
}

/** @throws TypeError or ZodError when a field has not the form that this program writes. */
export function parseOrganizationRecord(id: string, fields: Fields): OrganizationRecord {
  return {
    id,
    name: textOf(fields, "name"),
    currency: textOf(fields, "currency"),
    hardCapCents: parseIntegerOrNull(fields["hard_cap_cents"]),
    budgetCents: parseIntegerOrNull(fields["budget_cents"]),
    strictCaps: fields["strict_caps"] === "1",
    suspended: fields["suspended"] === "1",
    notifications: notificationsSchema.parse(JSON.parse(textOf(fields, "notifications"))),
    keyDefaults: keyDefaultsSchema.parse(JSON.parse(textOf(fields, "key_defaults"))),
    createdAtMs: parseInteger(textOf(fields, "created_at")),
    version: parseInteger(textOf(fields, "version")),
  };
}

/** Catalog ids, or null for all. */
export function parseModels(text: string): readonly string[] | null {
  return text === "" ? null : modelsSchema.parse(JSON.parse(text));
}

function formatSettings(
  names: Readonly<Record<string, readonly [string, (value: never) => string]>>,
  settings: object,
): string[] {
  return Object.entries(settings).flatMap(([name, value]) => {
    const field = names[name];
    // `never`: each formatter takes the type of its own setting, which the table's type has checked.
    return field === undefined || value === undefined ? [] : [field[0], field[1](value as never)];
  });
}

function formatNullable(value: number | null): string {
  return value === null ? "" : String(value);
}

function formatModels(models: readonly string[] | null): string {
  return models === null ? "" : JSON.stringify(models);
}

function formatFlag(value: boolean): string {
  return value ? "1" : "0";
}

function textOf(fields: Fields, name: string): string {
  const value = fields[name];
  if (value === undefined) throw new TypeError(`a record in Redis has no field "${name}"`);
  return value;
}
