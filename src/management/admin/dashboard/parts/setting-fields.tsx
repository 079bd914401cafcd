/** Form fields of settings, by their notation. */
import { isRequired } from "../../../../shared/settings/table.ts";
import type { Problems } from "../form.ts";
import { describeRate } from "../assets/describe-rate.js";
import { type FormSetting, inputName, type SettingTexts } from "../setting-form.ts";
import type { CatalogView } from "../views.ts";
import { LimitRows } from "./limit-rows.tsx";
import { Area, Check, Field, Hints, Select } from "./fields.tsx";

interface SettingFieldsProps {
  readonly settings: readonly FormSetting[];
  readonly texts: SettingTexts;
  readonly problems: Problems;
  /** Omitted if unknown. */
  readonly currency?: string;
  /** Models to choose from, if any. */
  readonly catalog?: Pick<CatalogView, "data">;
  readonly disabled?: boolean;
  /** Start of the organization's paths, for choosing users and groups. */
  readonly base?: string;
  /** Hints by path, in place of the settings' own. */
  readonly hints?: Readonly<Record<string, string>>;
  /** The page can increase caps for a time. */
  readonly canRaise?: boolean;
  /** False: any field can stay empty. */
  readonly required?: boolean;
}

export function SettingFields({ settings, ...common }: SettingFieldsProps) {
  return (
    <>
      {settings.map((setting) => (
        <SettingField setting={setting} {...common} />
      ))}
    </>
  );
}

interface FoldProps extends SettingFieldsProps {
  readonly title: string;
  /** The fields in a few words. */
  readonly about: string;
}

/** Fields that few readers need. A link to a field unfolds them, and so does a problem of a field. */
export function FoldedFields({ title, about, ...fields }: FoldProps) {
  const names = fields.settings.map(inputName);
  const isWrong = [...fields.problems.keys()].some((field) =>
    names.some((name) => field === name || field.startsWith(`${name}.`)),
  );
  return (
    <details class="fold" open={isWrong}>
      <summary>
        {title} <span class="below">{about}</span>
      </summary>
      <SettingFields {...fields} />
    </details>
  );
}

type SettingFieldProps = Omit<SettingFieldsProps, "settings"> & { readonly setting: FormSetting };

function SettingField(props: SettingFieldProps) {
  const { setting, texts, problems, currency, catalog, disabled, hints, base = "" } = props;
  const { path, row } = setting;
  const { notation } = row.kind;
  const given = texts[path] ?? null;
  const hint = hints?.[path] ?? row.hint;
  const common = {
    name: inputName(setting),
    label: row.label,
    problems,
    disabled: disabled === true,
    ...(hint === undefined ? {} : { hint }),
  };
  if (notation === "models") {
    const allowed = typeof given === "string" ? null : given;
    return <Models {...common} allowed={allowed} catalog={catalog ?? { data: [] }} />;
  }
  const value = typeof given === "string" ? given : "";
  if (notation === "limits") {
    return (
      <LimitRows
        {...common}
        value={value}
        currency={currency ?? ""}
        canRaise={props.canRaise === true && path === "limits"}
      />
    );
  }
  if (notation === "flag") return <Check {...common} checked={value === "yes"} />;
  if (notation === "emails" || notation === "names") {
    return <Area {...common} value={value} />;
  }
  if (notation === "choice") return <Select {...common} value={value} choices={choicesOf(row)} />;
  const isRate = notation === "rate" && isPositive(value);
  return (
    <Field
      {...common}
      {...inputOf(notation, currency, base)}
      value={value}
      required={props.required !== false && isRequired(row)}
      rate={notation === "rate"}
      {...(isRate ? { hint: describeRate(Number(value)) } : {})}
    />
  );
}

function choicesOf(row: FormSetting["row"]) {
  const none = row.default === null ? [{ value: "", label: row.cli?.none ?? "none" }] : [];
  const words = (row.kind.words ?? []).map((word) => ({ value: word, label: row.choices?.[word] ?? word }));
  return [...none, ...words];
}

function inputOf(
  notation: FormSetting["row"]["kind"]["notation"],
  currency: string | undefined,
  base: string,
) {
  if (notation === "userId") return { suggestions: `${base}/users/suggestions` };
  if (notation === "groupId") return { suggestions: `${base}/groups/suggestions` };
  if (notation === "amount") {
    return { inputmode: "decimal", amount: { currency: currency ?? "" } } as const;
  }
  if (notation === "whole" || notation === "rate") return { inputmode: "numeric" } as const;
  if (notation === "webhook") return { inputmode: "url" } as const;
  return notation === "time" ? { type: "datetime-local" } : {};
}

function isPositive(text: string): boolean {
  const value = Number(text);
  return Number.isInteger(value) && value > 0;
}

interface ModelsProps {
  readonly name: string;
  readonly label: string;
  readonly allowed: readonly string[] | null;
  readonly catalog: Pick<CatalogView, "data">;
  readonly problems: Problems;
  readonly disabled: boolean;
}

function Models({ name, label, allowed, catalog, problems, disabled }: ModelsProps) {
  const problem = [...problems].find(([field]) => field.startsWith(name))?.[1];
  const known = new Set(catalog.data.map((model) => model.id));
  const removed = (allowed ?? []).filter((id) => !known.has(id));
  return (
    <fieldset class="field" id={name}>
      <legend>{label}</legend>
      <Check
        name={`${name}.all`}
        label="All models, including future ones"
        checked={allowed === null}
        problems={problems}
        disabled={disabled}
        hint="Or only these:"
      />
      <div class="choices">
        {[...known, ...removed].map((id) => (
          <label>
            <input
              type="checkbox"
              name={name}
              value={id}
              checked={allowed?.includes(id) ?? false}
              disabled={disabled}
            />
            <span>{id}</span>
          </label>
        ))}
      </div>
      <Hints name={name} hint={undefined} problem={problem} />
    </fieldset>
  );
}
