/** Conversion of records of organizations, keys, users and groups to and from fields in Redis. '' stands for null. */
import { hash } from "node:crypto";
import * as z from "zod";
import { KEY_SETTINGS } from "../../../shared/settings/key.ts";
import { ORGANIZATION_SETTINGS } from "../../../shared/settings/organization.ts";
import type { RecordOf, StoredSettings } from "../../../shared/settings/setting.ts";
import type { TOKEN_LIMIT_ROWS } from "../../../shared/settings/token-limits.ts";
import { USER_GROUP_SETTINGS } from "../../../shared/settings/user-group.ts";
import { USER_SETTINGS } from "../../../shared/settings/user.ts";
import { formatFields, parseFields } from "../../../shared/settings/table.ts";
import type { StoreContext } from "../context.ts";
import { parseInteger, parseIntegerOrNull } from "../redis/parse-reply.ts";
import type { KeyRecord, OrganizationRecord, StoredRecord } from "../../../shared/stored/management.ts";
import type { ExternalIdentity, GroupRecord, UserRecord } from "../../../shared/stored/owners.ts";

/** Field → value. */
export type Fields = Readonly<Record<string, string>>;

/** Reads the hash of a record; null if it does not exist. */
export async function readFields({ client }: StoreContext, key: string): Promise<Fields | null> {
  const fields = await client.hgetall(key);
  return Object.keys(fields).length === 0 ? null : fields;
}

/** These format the given settings as field, value, field, value … */
export const formatKeySettings = formatterOf(KEY_SETTINGS);
export const formatOrganizationSettings = formatterOf(ORGANIZATION_SETTINGS);
export const formatUserSettings = formatterOf(USER_SETTINGS);
export const formatGroupSettings = formatterOf(USER_GROUP_SETTINGS);

function formatterOf<Table extends StoredSettings & typeof TOKEN_LIMIT_ROWS>(table: Table) {
  return (settings: Partial<RecordOf<Table>>): string[] => [
    ...formatFields(table, settings),
    ...formatTokenLimits(settings),
  ];
}

/**
 * Formats a new record's field that admissions read. A new record has all settings; `lua/include/records.lua`
 * rewrites the field at each change.
 */
function formatTokenLimits(settings: { readonly [Name in keyof typeof TOKEN_LIMIT_ROWS]?: number | null }) {
  const { tokensPerMinute: total, inputTokensPerMinute: input, outputTokensPerMinute: output } = settings;
  const joined = [total, input, output].map((limit) => limit ?? "").join(",");
  // A limit on all tokens only is stored as a plain number.
  const field = joined.endsWith(",,") ? joined.slice(0, -2) : joined;
  return field === "" ? [] : ["token_limits", field];
}

/** @throws TypeError, SyntaxError or ZodError if a field was not written by this program. */
export function parseKeyRecord(organizationId: string, id: string, fields: Fields): KeyRecord {
  return {
    organizationId,
    display: textOf(fields, "display"),
    ...parseFields(KEY_SETTINGS, fields),
    ...parseStored(id, fields),
    formerKeyUntilMs: parseIntegerOrNull(fields["former_until"]),
  };
}

/** @throws TypeError, SyntaxError or ZodError if a field was not written by this program. */
export function parseOrganizationRecord(id: string, fields: Fields): OrganizationRecord {
  return { ...parseFields(ORGANIZATION_SETTINGS, fields), ...parseStored(id, fields) };
}

/** @throws TypeError, SyntaxError or ZodError if a field was not written by this program. */
export function parseUserRecord(organizationId: string, id: string, fields: Fields): UserRecord {
  return {
    ...parseFields(USER_SETTINGS, fields),
    ...parseStored(id, fields),
    organizationId,
    external: parseExternal(fields["external"] ?? ""),
  };
}

/** @throws TypeError, SyntaxError or ZodError if a field was not written by this program. */
export function parseGroupRecord(organizationId: string, id: string, fields: Fields): GroupRecord {
  return { ...parseFields(USER_GROUP_SETTINGS, fields), ...parseStored(id, fields), organizationId };
}

function parseStored(id: string, fields: Fields): StoredRecord {
  return {
    id,
    createdAtMs: parseInteger(textOf(fields, "created_at")),
    deletedAtMs: parseIntegerOrNull(fields["deleted_at"]),
    version: parseInteger(textOf(fields, "version")),
  };
}

/** Formats field and value of a user's external identity; empty without one. */
export function formatExternal(external: ExternalIdentity | null): string[] {
  if (external === null) return [];
  const { issuer, subject } = external;
  return ["external", JSON.stringify({ issuer, subject })];
}

/** Returns a digest of fixed length by which a user is found, however long the subject is. */
export function digestExternal(external: ExternalIdentity | null): string {
  if (external === null) return "";
  return hash("sha256", JSON.stringify([external.issuer, external.subject]), "base64url");
}

const externalSchema = z.object({ issuer: z.string(), subject: z.string() });

function parseExternal(field: string): ExternalIdentity | null {
  return field === "" ? null : externalSchema.parse(JSON.parse(field));
}

function textOf(fields: Fields, name: string): string {
  const value = fields[name];
  if (value === undefined) throw new TypeError(`a record in Redis has no field "${name}"`);
  return value;
}
