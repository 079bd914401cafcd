/**
 * Definition of a setting: a row of a table (`key.ts`, `organization.ts`, `user.ts`, `user-group.ts`). The
 * management API and its OpenAPI document, records in Redis, the command line, the dashboard's forms, the
 * audit log and the tables of docs/management-api.md are all derived from the rows, so a setting is only
 * defined in its table and in the rule that uses it. The audit log always has every change of every setting.
 */
import type { z } from "zod";
import type { LimitName } from "./limits.ts";

/** Notation for people: determines the dashboard's field and the command line's parser. */
export type Notation =
  | "text"
  | "whole"
  | "rate"
  | "amount"
  | "limits"
  | "raises"
  | "flag"
  | "choice"
  | "time"
  | "models"
  | "model"
  | "names"
  | "emails"
  | "webhook"
  | "webhooks"
  | "userId"
  | "groupId"
  | "group";

/** Type of values. `Input` is what API callers send, `Output` what the API returns. */
export interface Kind<Value, Input = Value, Output = Value> {
  readonly notation: Notation;
  /** Allowed values for the documentation: "1 to 100,000". */
  readonly values: string;
  /** Words of a choice. */
  readonly words?: readonly string[];
  readonly input: z.ZodType<Input>;
  readonly output: z.ZodType<Output>;
  /** Schema of the value in a JSON object in Redis. */
  readonly stored: z.ZodType<Value>;
  /** @param current Current value, from which omitted members of a group are kept. */
  convert(input: Input, current: Value): Value;
  /** Returns the value for the API. Never contains a secret. */
  describe(value: Value): Output;
  /** Returns the value for the audit log, if `describe` does not distinguish all values. Never contains a secret. */
  record?(value: Value): unknown;
  /** Formats a field of a Redis hash; '' stands for null. */
  format(value: Value): string;
  /** @throws TypeError, ZodError or SyntaxError if the text was not written by `format`. */
  parse(text: string): Value;
}

export interface Setting {
  /** Name in the API: "allowed_models". */
  readonly apiName: string;
  readonly kind: Kind<unknown, unknown, unknown>;
  /** Default, also for records without the field. A setting without a default is required. */
  readonly default?: unknown;
  /**
   * `ownCalls`: shown with the others, but changed by separate calls. Omitted: the organization's
   * administrators may change it as well.
   */
  readonly changedBy?: "operator" | "ownCalls";
  /** True if members set it on a new key of their own; false for a new setting, until somebody decides. */
  readonly byMembers?: true;
  /** Controls in place of the settings form and the command `set`, "`disable` and `enable`". Omitted: both have it. */
  readonly ownControls?: string;
  /** Sentence for the API documentation: its effect, and the meaning of null. */
  readonly description: string;
  /** Label on the dashboard. */
  readonly label: string;
  /** Hint below its field on the dashboard. */
  readonly hint?: string;
  /** Words of a choice as the dashboard shows them. Omitted: as they are. */
  readonly choices?: Readonly<Record<string, string>>;
  readonly cli?: CommandTexts;
}

export interface CommandTexts {
  readonly option?: {
    /** "--note <text>" */
    readonly flags: string;
    readonly help: string;
    /** Help of the command that changes it, if different. */
    readonly changeHelp?: string;
    /** Help of the `--no-…` flag. Omitted: there is none, and the flag is only for creation. */
    readonly offHelp?: string;
  };
  /** Label before the value. Omitted: shown as part of the state. */
  readonly label?: string;
  /** Text for null. */
  readonly none?: string;
  /** Header of its column in a list. Omitted: no column. */
  readonly column?: string;
}

/** Alias in the API for one row of the table's setting `limits`. Records have the row and not the alias. */
export interface LimitAlias extends Setting {
  readonly aliasOf: LimitName;
}

/** Setting with its own field in a Redis hash; a group's members are in the group's field. */
export interface StoredSetting extends Setting {
  readonly field: string;
  /** True if every admission returns it. Omitted: read when needed. */
  readonly inAdmission?: true;
}

/** The keys are the names in records. */
export type Settings = Readonly<Record<string, Setting | LimitAlias>>;
export type StoredSettings = Readonly<Record<string, StoredSetting | LimitAlias>>;

export type ValueOf<Row extends Setting> = z.output<Row["kind"]["stored"]>;

/** Record that a table describes. */
export type RecordOf<Table extends Settings> = {
  readonly [Name in keyof Table as Table[Name] extends LimitAlias ? never : Name]: ValueOf<Table[Name]>;
};

/** Part of such a record that an admission returns. */
export type AdmittedOf<Table extends StoredSettings> = {
  readonly [
    Name in keyof Table as Table[Name] extends { readonly inAdmission: true } ? Name : never
  ]: ValueOf<Table[Name]>;
};

/** Returns the table; checks that each default is a value of its row's kind. */
export function defineSettings<const Table extends Settings>(
  table: Table & { readonly [Name in keyof Table]: { readonly default?: ValueOf<Table[Name]> } },
): Table {
  return table;
}
