/** @jsxImportSource hono/jsx */
import { AdminError } from "../../admin-error.ts";
import type { FormValues, Problems } from "../form.ts";
import type { OrganizationPageCall } from "../page.ts";
import { Field, Form, Select } from "./fields.tsx";

const AMOUNT = /^([+-]?)(\d{1,8})(?:\.(\d{1,8}))?$/;
/** A unit of a currency is 10^8 microcents. */
const UNIT_DECIMALS = 8;

/** @throws AdminError 400 for an amount that is no decimal. */
export function readCorrection(form: FormValues): object {
  const match = AMOUNT.exec(form.text("amount"));
  if (match === null) {
    const message = "`amount`: expected an amount such as 12.50 or -0.00125";
    throw new AdminError("invalid_parameter", { message });
  }
  const [, sign, whole = "", fraction = ""] = match;
  const microcents = Number(whole + fraction.padEnd(UNIT_DECIMALS, "0"));
  const keyId = form.text("key_id");
  return {
    amount_microcents: sign === "-" ? 0 - microcents : microcents,
    reason: form.text("reason"),
    ...(keyId === "" ? {} : { key_id: keyId }),
  };
}

interface CorrectionFormProps {
  readonly page: OrganizationPageCall;
  readonly problems: Problems;
  /** Id → name. */
  readonly keys: ReadonlyMap<string, string>;
  /** Makes a repeat of the same form count once. */
  readonly id: string;
}

/** For the operator: puts this month's spend right. */
export function CorrectionForm({ page, problems, keys, id }: CorrectionFormProps) {
  return (
    <section class="card" aria-labelledby="correct">
      <h2 id="correct">Correct this month's spend</h2>
      <Form page={page} action={`/organizations/${page.organization.id}/usage/corrections`}>
        <input type="hidden" name="id" value={id} />
        <Field
          name="amount"
          label="Amount"
          value={page.form.text("amount")}
          problems={problems}
          suffix={page.organization.currency}
          hint="A credit is negative: -12.50"
          required
        />
        <Select
          name="key_id"
          label="API key"
          value={page.form.text("key_id")}
          problems={problems}
          choices={[
            { value: "", label: "none: the organization's spend alone" },
            ...Array.from(keys, ([value, label]) => ({ value, label })),
          ]}
          hint="Its spend moves besides the organization's, and counts towards its own cap."
        />
        <Field
          name="reason"
          label="Reason"
          value={page.form.text("reason")}
          problems={problems}
          hint="Kept in the audit log."
          required
        />
        <button type="submit">Correct</button>
      </Form>
    </section>
  );
}
