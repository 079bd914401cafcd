/**
 * What a setting is: a row of a table (`key.ts`, `organization.ts`, `user.ts`, `user-group.ts`). The management API and
 * its OpenAPI document, the records in Redis, the command line, the dashboard's forms, the audit log and the tables of
 * docs/management-api.md are made of the rows, so a setting stands in its table and in the rule that it is for, and nowhere
 * else. Every change of every setting is in the audit log: there is no row that could be left out.
 */
import type { z } from "zod";

/** How people write the value: which field the dashboard shows, and what the command line reads. */
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

/** A type of values. `Input` is what a caller of the API may send, `Output` what the API shows. */
export interface Kind<Value, Input = Value, Output = Value> {
  readonly notation: Notation;
  /** What may be set, for the documents: "1 to 100,000". */
  readonly values: string;
  /** Of a choice: what there is. */
  readonly words?: readonly string[];
  readonly input: z.ZodType<Input>;
  readonly output: z.ZodType<Output>;
  /** The value in a JSON object in Redis. */
  readonly stored: z.ZodType<Value>;
  /** @param current What it is now: what is left out of a group stays. */
  convert(input: Input, current: Value): Value;
  /** As the API shows it. Never with a secret. */
  describe(value: Value): Output;
  /** As the audit log has it, where `describe` shows values alike that are not. Never with a secret. */
  record?(value: Value): unknown;
  /** As the field of a Redis hash; '' stands for none. */
  format(value: Value): string;
  /** @throws TypeError, ZodError, SyntaxError when the text has not the form that `format` writes. */
  parse(text: string): Value;
}

export interface Setting {
  /** In the API: "allowed_models". */
  readonly apiName: string;
  readonly kind: Kind<unknown, unknown, unknown>;
  /** The value if none is given, and in records without the field. A setting without a default is required. */
  readonly default?: unknown;
  /**
   * `ownCalls`: it is shown with the others, and changed by calls of its own. Left out: an organization's administrators
   * may change it, too.
   */
  readonly changedBy?: "operator" | "ownCalls";
  /** A sentence for the API's documents: what it does, and what null means. */
  readonly description: string;
  /** On the dashboard. */
  readonly label: string;
  /** Below its field on the dashboard. */
  readonly hint?: string;
  readonly cli?: CommandTexts;
}

export interface CommandTexts {
  readonly option?: {
    /** "--note <text>" */
    readonly flags: string;
    readonly help: string;
    /** Of the command that changes it, where that says something else. */
    readonly changeHelp?: string;
    /** Of a flag's `--no-…`. Left out: there is none, and the flag is only of the command that creates. */
    readonly offHelp?: string;
  };
  /** Before the value where one is shown. Left out: it is shown as part of the state. */
  readonly label?: string;
  /** What stands for null. */
  readonly none?: string;
  /** Header of its column in a list. Left out: it has none. */
  readonly column?: string;
}

/** A setting with a field of its own in a Redis hash; a group's members are in the group's field. */
export interface StoredSetting extends Setting {
  readonly field: string;
  /** Every admission of a request brings it along. Left out: it is read where it is needed. */
  readonly inAdmission?: true;
}

/** The keys are the names in records. */
export type Settings = Readonly<Record<string, Setting>>;
export type StoredSettings = Readonly<Record<string, StoredSetting>>;

export type ValueOf<Row extends Setting> = z.output<Row["kind"]["stored"]>;

/** The record that a table describes. */
export type RecordOf<Table extends Settings> = { readonly [Name in keyof Table]: ValueOf<Table[Name]> };

/** Of such a record what an admission brings along. */
export type AdmittedOf<Table extends StoredSettings> = Pick<
  RecordOf<Table>,
  { [Name in keyof Table]: Table[Name] extends { readonly inAdmission: true } ? Name : never }[keyof Table]
>;

/** The table as it is; checks that each default is a value of its row's kind. */
export function defineSettings<const Table extends Settings>(
  table: Table & { readonly [Name in keyof Table]: { readonly default?: ValueOf<Table[Name]> } },
): Table {
  return table;
}
