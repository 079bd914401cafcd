/** @jsxImportSource hono/jsx */
import type { Fields, FormValues, Problems } from "../form.ts";
import { amountText, describeRate } from "../format.ts";
import type { CatalogView, KeyView } from "../views.ts";
import { Check, Field, Hints } from "./fields.tsx";

export const KEY_FIELDS: Fields = {
  name: "text",
  requests_per_minute: "whole",
  hard_cap_cents: "amount",
  budget_cents: "amount",
  allowed_models: "choices",
  max_concurrent_requests: "whole",
  expires_at: "time",
};

/** What stands in the fields of a key. */
export interface KeyTexts {
  readonly name: string;
  readonly requests_per_minute: string;
  readonly hard_cap_cents: string;
  readonly budget_cents: string;
  readonly max_concurrent_requests: string;
  readonly expires_at: string;
  readonly allowedModels: readonly string[] | null;
}

export function textsOfKey(key: KeyView): KeyTexts {
  return {
    name: key.name,
    requests_per_minute: String(key.requests_per_minute),
    hard_cap_cents: amountText(key.hard_cap_cents),
    budget_cents: amountText(key.budget_cents),
    max_concurrent_requests: key.max_concurrent_requests === null ? "" : String(key.max_concurrent_requests),
    expires_at: key.expires_at?.slice(0, 16) ?? "",
    allowedModels: key.allowed_models,
  };
}

/** What was typed, to be shown again beside what is wrong with it. */
export function textsOfForm(form: FormValues): KeyTexts {
  return {
    name: form.text("name"),
    requests_per_minute: form.text("requests_per_minute"),
    hard_cap_cents: form.text("hard_cap_cents"),
    budget_cents: form.text("budget_cents"),
    max_concurrent_requests: form.text("max_concurrent_requests"),
    expires_at: form.text("expires_at"),
    allowedModels: form.text("allowed_models.all") === "yes" ? null : form.all("allowed_models"),
  };
}

interface KeyFieldsProps {
  readonly texts: KeyTexts;
  readonly problems: Problems;
  readonly currency: string;
  readonly catalog: CatalogView;
  readonly disabled: boolean;
}

export function KeyFields({ texts, problems, currency, catalog, disabled }: KeyFieldsProps) {
  const rate = Number(texts.requests_per_minute);
  const common = { problems, disabled };
  return (
    <>
      <Field {...common} name="name" label="Name" value={texts.name} required />
      <Field
        {...common}
        name="requests_per_minute"
        label="Requests per minute"
        value={texts.requests_per_minute}
        inputmode="numeric"
        rate
        hint={Number.isInteger(rate) && rate > 0 ? describeRate(rate) : "600 when left empty"}
      />
      <Field
        {...common}
        name="hard_cap_cents"
        label="Monthly hard cap"
        value={texts.hard_cap_cents}
        suffix={currency}
        inputmode="decimal"
        hint="From there on requests that cost money are refused with 402. Empty: no cap."
      />
      <Field
        {...common}
        name="budget_cents"
        label="Monthly budget"
        value={texts.budget_cents}
        suffix={currency}
        inputmode="decimal"
        hint="Refuses nothing; alerts come at 80 % and 100 %. Empty: no budget."
      />
      <LesserLimits texts={texts} {...common} />
      <Models {...common} allowed={texts.allowedModels} catalog={catalog} />
    </>
  );
}

function LesserLimits({ texts, ...common }: Pick<KeyFieldsProps, "texts" | "problems" | "disabled">) {
  return (
    <>
      <Field
        {...common}
        name="max_concurrent_requests"
        label="Requests at the same time"
        value={texts.max_concurrent_requests}
        inputmode="numeric"
        hint="Empty: no limit."
      />
      <Field
        {...common}
        name="expires_at"
        label="Expires (UTC)"
        type="datetime-local"
        value={texts.expires_at}
        hint="From then on the key is refused. Empty: never."
      />
    </>
  );
}

interface ModelsProps {
  readonly allowed: readonly string[] | null;
  readonly catalog: CatalogView;
  readonly problems: Problems;
  readonly disabled: boolean;
}

function Models({ allowed, catalog, problems, disabled }: ModelsProps) {
  const problem = [...problems].find(([name]) => name.startsWith("allowed_models"))?.[1];
  const known = new Set(catalog.data.map((model) => model.id));
  const gone = (allowed ?? []).filter((id) => !known.has(id));
  return (
    <fieldset class="field" id="allowed_models">
      <legend>Models</legend>
      <Check
        name="allowed_models.all"
        label="All models, also those that come later"
        checked={allowed === null}
        problems={problems}
        disabled={disabled}
        hint="Or only those that are ticked here:"
      />
      <div class="choices">
        {[...known, ...gone].map((id) => (
          <label>
            <input
              type="checkbox"
              name="allowed_models"
              value={id}
              checked={allowed?.includes(id) ?? false}
              disabled={disabled}
            />
            <span>{id}</span>
          </label>
        ))}
      </div>
      <Hints name="allowed_models" hint={undefined} problem={problem} />
    </fieldset>
  );
}
