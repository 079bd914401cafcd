/** Forms of settings: derives fields, their contents and the typed values from a table's rows. */
import { valueAt } from "../../../shared/config/load/raw-values.ts";
import { isGroup } from "../../../shared/settings/group.ts";
import { KEY_SETTINGS } from "../../../shared/settings/key.ts";
import { USER_GROUP_SETTINGS } from "../../../shared/settings/user-group.ts";
import { USER_SETTINGS } from "../../../shared/settings/user.ts";
import { formatLimitRows, type Limit } from "../../../shared/settings/limits.ts";
import type { Notation, Setting, Settings } from "../../../shared/settings/setting.ts";
import { aliasOf, hasOwnCalls } from "../../../shared/settings/table.ts";
import { type FieldKind, type Fields, type FormValues, limitLines, readBody, setAt } from "./form.ts";
import { amountText } from "../format.ts";
import { formatOwner } from "./owner-texts.ts";

/** Setting in a form; "notifications.emails" is the path of a group's member. */
export interface FormSetting {
  readonly path: string;
  readonly row: Setting;
}

/** Contents of fields by path: a flag is "yes" or empty, models are a list or null for all. */
export type SettingTexts = Readonly<Record<string, string | readonly string[] | null>>;

/** Settings as in API responses. */
type Described = Readonly<Record<string, unknown>>;

/** Lists the settings with a field, groups by their members. */
export function listFormSettings(table: Settings, prefix = ""): readonly FormSetting[] {
  return Object.values(table).flatMap((row) => {
    if (row.ownControls !== undefined || hasOwnCalls(row) || aliasOf(row) !== null) return [];
    const path = `${prefix}${row.apiName}`;
    return isGroup(row.kind) ? listFormSettings(row.kind.members, `${path}.`) : [{ path, row }];
  });
}

export const KEY_FORM = listFormSettings(KEY_SETTINGS);
export const USER_FORM = listFormSettings(USER_SETTINGS);
export const GROUP_FORM = listFormSettings(USER_GROUP_SETTINGS);

/** Lists the fields for the summary of problems. */
export function listProblemFields(settings: readonly FormSetting[]): readonly string[] {
  return settings.map(inputName);
}

/** @param one Settings as in API responses. */
export function textsOf(settings: readonly FormSetting[], one: Described): SettingTexts {
  return Object.fromEntries(
    settings.map(({ path, row: { kind } }) => {
      const value = valueAt(one, ...path.split("."));
      return [path, ownerTextOf(kind.notation, value, one) ?? textOf(kind.notation, value)];
    }),
  );
}

/** Returns the name of a user or group with its id, if the API returned the name. */
function ownerTextOf(notation: Notation, id: unknown, one: Described): string | null {
  if (notation !== "userId" && notation !== "groupId") return null;
  const owner = one[notation === "userId" ? "user" : "group"] as
    | { id: string; name: string }
    | null
    | undefined;
  return owner?.id === id && owner !== null && owner !== undefined ? formatOwner(owner) : null;
}

/** Returns the typed values, for showing the form again with its problems. */
export function textsOfForm(settings: readonly FormSetting[], form: FormValues): SettingTexts {
  return Object.fromEntries(
    settings.map(({ path, row }) => {
      if (row.kind.notation === "limits") return [path, limitLines(form, path).join("\n")];
      if (row.kind.notation !== "models") return [path, form.text(inputName({ path, row }))];
      return [path, form.text(`${path}.all`) === "yes" ? null : form.getAll(path)];
    }),
  );
}

/**
 * Builds the body of an API call.
 * @param current Current settings as in API responses; null for a new record.
 * @throws AdminError 400 for an amount that is neither "50" nor "50.00".
 */
export function readSettings(
  settings: readonly FormSetting[],
  form: FormValues,
  current: Described | null,
): Record<string, unknown> {
  const fields: Fields = Object.fromEntries(
    settings.map(({ path, row }) => [path, fieldKindOf(row, current === null)]),
  );
  const body = readBody(form, fields);
  if (current === null) return body;
  for (const { path, row } of settings) {
    if (row.kind.notation !== "time") continue;
    // A field has whole minutes: keep the seconds of an unchanged value.
    const now = valueAt(current, ...path.split("."));
    if (form.text(path) === textOf("time", now)) setAt(body, path, now);
  }
  return body;
}

/** Returns the name of its input, which API errors use as well. */
export function inputName({ path, row }: FormSetting): string {
  return row.kind.notation === "webhook" ? `${path}.url` : path;
}

/** Leaves an empty number of a new record to the API, which has a default. */
function fieldKindOf({ kind, default: value }: Setting, isNew: boolean): FieldKind {
  if (kind.notation === "group" || kind.notation === "webhooks" || kind.notation === "raises") {
    throw new TypeError("a group or list has no field of its own");
  }
  if (kind.notation === "text") return value === null ? "line" : "text";
  return isNew && typeof value === "number" ? "default" : kind.notation;
}

function textOf(notation: Notation, value: unknown): string | readonly string[] | null {
  switch (notation) {
    case "amount":
      return amountText(value as number | null);
    case "flag":
      return value === true ? "yes" : "";
    case "limits":
      return formatLimitRows(value as readonly Limit[]).join("\n");
    case "time":
      return typeof value === "string" ? value.slice(0, "2026-12-31T23:59".length) : "";
    case "models":
      return value as readonly string[] | null;
    case "names":
      return Object.entries(value as Readonly<Record<string, string>>)
        .map(([name, id]) => `${name} = ${id}`)
        .join("\n");
    case "emails":
      return (value as readonly string[]).join("\n");
    case "webhook":
      return value === null ? "" : (value as { url: string }).url;
    case "text":
    case "choice":
    case "model":
    case "whole":
    case "rate":
    case "userId":
    case "groupId":
    case "webhooks":
    case "group":
    case "raises":
      return typeof value === "string" || typeof value === "number" ? String(value) : "";
    default:
      return notation satisfies never;
  }
}
