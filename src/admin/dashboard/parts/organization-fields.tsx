/** @jsxImportSource hono/jsx */
import type { Fields, FormValues, Problems } from "../form.ts";
import { amountText } from "../format.ts";
import type { OrganizationView } from "../views.ts";
import { Area, Check, Field } from "./fields.tsx";

export const SETTINGS_FIELDS: Fields = {
  name: "text",
  hard_cap_cents: "amount",
  budget_cents: "amount",
  strict_caps: "flag",
  "notifications.dashboard": "flag",
  "notifications.emails": "lines",
  "notifications.webhook.url": "text",
  "key_defaults.requests_per_minute": "whole",
  "key_defaults.hard_cap_cents": "amount",
  "key_defaults.budget_cents": "amount",
};

/** Field → what stands in it; a flag is "yes" or nothing. */
export type SettingsTexts = Readonly<Record<string, string>>;

export function textsOfOrganization(organization: OrganizationView): SettingsTexts {
  const { notifications, key_defaults: defaults } = organization;
  return {
    name: organization.name,
    currency: organization.currency,
    suspended: organization.suspended ? "yes" : "",
    hard_cap_cents: amountText(organization.hard_cap_cents),
    budget_cents: amountText(organization.budget_cents),
    strict_caps: organization.strict_caps ? "yes" : "",
    "notifications.dashboard": notifications.dashboard ? "yes" : "",
    "notifications.emails": notifications.emails.join("\n"),
    "notifications.webhook.url": notifications.webhook?.url ?? "",
    "key_defaults.requests_per_minute":
      defaults.requests_per_minute === null ? "" : String(defaults.requests_per_minute),
    "key_defaults.hard_cap_cents": amountText(defaults.hard_cap_cents),
    "key_defaults.budget_cents": amountText(defaults.budget_cents),
  };
}

export function textsOfSettingsForm(form: FormValues, fields: Fields): SettingsTexts {
  return Object.fromEntries(Object.keys(fields).map((name) => [name, form.text(name)]));
}

export interface SettingsFieldsProps {
  readonly texts: SettingsTexts;
  readonly problems: Problems;
  readonly currency: string;
  readonly disabled: boolean;
}

/** Caps and budget of the organization. */
export function LimitFields({ texts, problems, currency, disabled }: SettingsFieldsProps) {
  const amount = { problems, disabled, suffix: currency, inputmode: "decimal" as const };
  return (
    <fieldset>
      <legend>Spend of all keys together</legend>
      <Field
        {...amount}
        name="hard_cap_cents"
        label="Monthly hard cap"
        value={texts["hard_cap_cents"] ?? ""}
        hint="From there on requests that cost money are refused with 402. Empty: no cap."
      />
      <Field
        {...amount}
        name="budget_cents"
        label="Monthly budget"
        value={texts["budget_cents"] ?? ""}
        hint="Refuses nothing; alerts come at 80 % and 100 %. Empty: no budget."
      />
      <Check
        name="strict_caps"
        label="Strict caps"
        checked={texts["strict_caps"] === "yes"}
        problems={problems}
        disabled={disabled}
        hint="Requests in flight count at the most that they can cost, so that a cap is never overrun. Near the cap more requests are refused than need be."
      />
    </fieldset>
  );
}

/** Who is told of alerts. */
export function NotificationFields(props: SettingsFieldsProps & { readonly hasMailServer: boolean }) {
  const { texts, problems, disabled, hasMailServer } = props;
  return (
    <fieldset>
      <legend>Alerts go to</legend>
      <Check
        name="notifications.dashboard"
        label="This dashboard"
        checked={texts["notifications.dashboard"] === "yes"}
        problems={problems}
        disabled={disabled}
      />
      <Area
        name="notifications.emails"
        label="Mail addresses, one a line"
        value={texts["notifications.emails"] ?? ""}
        problems={problems}
        disabled={disabled}
        hint={
          hasMailServer
            ? "At most 20."
            : "This gateway sends no mail: its operator has configured no mail server."
        }
      />
      <Field
        name="notifications.webhook.url"
        label="Webhook URL"
        type="text"
        inputmode="url"
        value={texts["notifications.webhook.url"] ?? ""}
        problems={problems}
        disabled={disabled}
        hint="A new URL gets a new secret, which is shown once. Empty: no webhook."
      />
    </fieldset>
  );
}

/** What a new key gets. */
export function KeyDefaultFields({ texts, problems, currency, disabled }: SettingsFieldsProps) {
  const common = { problems, disabled };
  return (
    <fieldset>
      <legend>New keys begin with</legend>
      <Field
        {...common}
        name="key_defaults.requests_per_minute"
        label="Requests per minute"
        value={texts["key_defaults.requests_per_minute"] ?? ""}
        inputmode="numeric"
        hint="Empty: 600."
      />
      <Field
        {...common}
        name="key_defaults.hard_cap_cents"
        label="Monthly hard cap of a key"
        value={texts["key_defaults.hard_cap_cents"] ?? ""}
        suffix={currency}
        inputmode="decimal"
        hint="Empty: none."
      />
      <Field
        {...common}
        name="key_defaults.budget_cents"
        label="Monthly budget of a key"
        value={texts["key_defaults.budget_cents"] ?? ""}
        suffix={currency}
        inputmode="decimal"
        hint="Empty: none."
      />
    </fieldset>
  );
}
