import { parseSignedAmount } from "../../../../shared/money/money.ts";
import { invalidField } from "../../admin-error.ts";
import type { FormValues, Problems } from "../form.ts";
import type { OrganizationPageCall } from "../page.ts";
import { OWNER_KINDS } from "../../../../shared/stored/owner-kinds.ts";
import { fieldOfOwner } from "../owner-texts.ts";
import { Field, Form, Select, typedIn } from "./fields.tsx";

/** Token fields by the API's names. */
const COUNTS = [
  { name: "input_tokens", label: "Input tokens", hint: "All prompts, without cached tokens." },
  { name: "cached_input_tokens", label: "Cached input tokens", hint: "In addition to the input tokens." },
  { name: "output_tokens", label: "Output tokens", hint: "All responses, with reasoning." },
] as const;
const OUTSIDE = "outside_usage.";

/** Fields that can have problems. */
export const CORRECTION_FIELDS = [
  "amount",
  ...["model", ...COUNTS.map(({ name }) => name), "service_tier"].map((name) => OUTSIDE + name),
  "key_id",
  ...OWNER_KINDS.map(fieldOfOwner),
  "reason",
] as const;

/** @throws AdminError 400 for an invalid amount or count. */
export function readCorrection(form: FormValues): Record<string, unknown> {
  const scopes = ["key_id", ...OWNER_KINDS.map(fieldOfOwner)].map((name) => [name, form.text(name)] as const);
  return {
    ...readAmount(form),
    ...readOutsideUsage(form),
    reason: form.text("reason"),
    ...Object.fromEntries(scopes.filter(([, text]) => text !== "")),
  };
}

/** Sends both if both were given: the API reports the problem. */
function readAmount(form: FormValues): object {
  if (form.text("amount") === "" && form.text(`${OUTSIDE}model`) !== "") return {};
  const microcents = parseSignedAmount(form.text("amount"));
  if (microcents === null) {
    throw invalidField("amount", "expected an amount such as 12.50 or -0.00125");
  }
  return { amount_microcents: microcents };
}

function readOutsideUsage(form: FormValues): object {
  const model = form.text(`${OUTSIDE}model`);
  if (model === "") return {};
  const counts = COUNTS.map(({ name }) => [name, readCount(form.text(OUTSIDE + name), OUTSIDE + name)]);
  const tier = form.text(`${OUTSIDE}service_tier`);
  const usage = { model, ...Object.fromEntries(counts), ...(tier === "" ? {} : { service_tier: tier }) };
  return { outside_usage: usage };
}

function readCount(text: string, param: string): number {
  if (/^\d{0,13}$/.test(text)) return Number(text);
  throw invalidField(param, "expected a whole number");
}

interface CorrectionFormProps {
  readonly page: OrganizationPageCall;
  readonly problems: Problems;
  /** Names by id. */
  readonly keys: ReadonlyMap<string, string>;
  /** Ids of models with a price in the organization's currency. */
  readonly models: readonly string[];
  /** Idempotency key: the same form counts only once, even if it is sent again. */
  readonly id: string;
}

/** Operator's form for correcting this month's spend. */
export function CorrectionForm({ page, problems, keys, models, id }: CorrectionFormProps) {
  const typed = typedIn(page, problems);
  return (
    <Form page={page} action={`${page.base}/usage/corrections`} class="card">
      <input type="hidden" name="id" value={id} />
      <Field
        {...typed("amount")}
        label="Amount"
        amount={{ currency: page.organization.currency, signed: true }}
        hint="A credit is negative: -12.50. Empty for outside usage."
      />
      <OutsideUsage page={page} problems={problems} models={models} />
      <Select
        {...typed("key_id")}
        label="API key"
        choices={[{ value: "", label: "none" }, ...Array.from(keys, ([value, label]) => ({ value, label }))]}
        hint="Also corrects its user, group and the organization."
      />
      {OWNER_KINDS.map((kind) => (
        <Field
          {...typed(fieldOfOwner(kind))}
          label={kind === "user" ? "User" : "Group"}
          suggestions={`${page.base}/${kind}s/suggestions`}
          hint={kind === "user" ? "Empty: the key's." : "Empty: the key's or the user's."}
        />
      ))}
      <Field {...typed("reason")} label="Reason" hint="Kept in the audit log." required />
      <p class="actions">
        <button type="submit" class="primary">
          Correct
        </button>
        <a href={`${page.base}/usage`}>Cancel</a>
      </p>
    </Form>
  );
}

type OutsideUsageProps = Pick<CorrectionFormProps, "page" | "problems" | "models">;

/** Fields for tokens of a model, such as those of a batch job, in place of an amount. */
function OutsideUsage({ page, problems, models }: OutsideUsageProps) {
  const typed = typedIn(page, problems);
  return (
    <fieldset>
      <legend>Usage outside the gateway, at today's price</legend>
      <Select
        {...typed(`${OUTSIDE}model`)}
        label="Model of these tokens"
        choices={[
          { value: "", label: "none: use the amount" },
          ...models.map((value) => ({ value, label: value })),
        ]}
        hint="For requests outside the gateway, such as a batch job."
      />
      {COUNTS.map(({ name, label, hint }) => (
        <Field {...typed(OUTSIDE + name)} label={label} hint={hint} inputmode="numeric" />
      ))}
      <Field
        {...typed(`${OUTSIDE}service_tier`)}
        label="Service tier"
        hint="Service tier of the model's prices, such as batch. Empty: default."
      />
    </fieldset>
  );
}
