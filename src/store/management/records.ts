/** Records of organizations and keys: their fields in Redis and back. '' stands for none. */
import { KEY_SETTINGS, type KeySettings } from "../../settings/key.ts";
import { ORGANIZATION_SETTINGS, type OrganizationSettings } from "../../settings/organization.ts";
import { formatFields, parseFields } from "../../settings/table.ts";
import { parseInteger, parseIntegerOrNull } from "../redis/parse-reply.ts";
import type { KeyRecord, OrganizationRecord } from "../types/management.ts";

type Fields = Readonly<Record<string, string>>;

/** Field, value, field, value … of the settings that are given. */
export function formatKeySettings(settings: Partial<KeySettings>): string[] {
  return formatFields(KEY_SETTINGS, settings);
}

/** Field, value, field, value … of the settings that are given. */
export function formatOrganizationSettings(settings: Partial<OrganizationSettings>): string[] {
  return formatFields(ORGANIZATION_SETTINGS, settings);
}

/** @throws TypeError, SyntaxError or ZodError when a field has not the form that this program writes. */
export function parseKeyRecord(organizationId: string, id: string, fields: Fields): KeyRecord {
  return {
    id,
    organizationId,
    display: textOf(fields, "display"),
    ...parseFields(KEY_SETTINGS, fields),
    createdAtMs: parseInteger(textOf(fields, "created_at")),
    deletedAtMs: parseIntegerOrNull(fields["deleted_at"]),
    formerKeyUntilMs: parseIntegerOrNull(fields["former_until"]),
    version: parseInteger(textOf(fields, "version")),
  };
}

/** @throws TypeError, SyntaxError or ZodError when a field has not the form that this program writes. */
export function parseOrganizationRecord(id: string, fields: Fields): OrganizationRecord {
  return {
    id,
    ...parseFields(ORGANIZATION_SETTINGS, fields),
    createdAtMs: parseInteger(textOf(fields, "created_at")),
    deletedAtMs: parseIntegerOrNull(fields["deleted_at"]),
    version: parseInteger(textOf(fields, "version")),
  };
}

function textOf(fields: Fields, name: string): string {
  const value = fields[name];
  if (value === undefined) throw new TypeError(`a record in Redis has no field "${name}"`);
  return value;
}
