/** Kind of setting that groups other settings: an object in the API, one JSON field in Redis. */
import * as z from "zod";
import { record } from "./input-schemas.ts";
import { refuseConflict } from "./month-limits.ts";
import { asJson } from "./kinds.ts";
import type { Kind, RecordOf, Setting, Settings } from "./setting.ts";
import {
  answerShape,
  type ChangeOf,
  changeShape,
  convertSettings,
  defaultsOf,
  type DescriptionOf,
  describeSettings,
  ownRows,
  recordSettings,
} from "./table.ts";

export interface GroupKind<Members extends Settings> extends Kind<
  RecordOf<Members>,
  ChangeOf<Members>,
  DescriptionOf<Members>
> {
  readonly notation: "group";
  readonly members: Members;
}

export function isGroup(kind: Setting["kind"]): kind is GroupKind<Settings> {
  return kind.notation === "group";
}

/** Creates the kind. A change keeps omitted members. Every member has a default. */
export function group<const Members extends Settings>(members: Members): GroupKind<Members> {
  const defaults: Readonly<Record<string, unknown>> = defaultsOf(members);
  // A missing member of a record has its default.
  const shape = ownRows(members).map(([name, { kind }]) => [name, kind.stored.default(defaults[name])]);
  const stored = z.object(Object.fromEntries(shape)) as unknown as z.ZodType<RecordOf<Members>>;
  const values = Object.values(members).map(({ apiName, kind }) => `\`${apiName}\` (${kind.values})`);
  return {
    notation: "group",
    values: values.join(", "),
    members,
    input: record(changeShape(members)).superRefine(refuseConflict) as unknown as z.ZodType<
      ChangeOf<Members>
    >,
    output: z.strictObject(answerShape(members)) as unknown as z.ZodType<DescriptionOf<Members>>,
    stored,
    convert: (wanted, current) => ({ ...current, ...convertSettings(members, wanted, current) }),
    describe: (value) => describeSettings(members, value),
    record: (value) => recordSettings(members, value),
    ...asJson(stored),
  };
}
