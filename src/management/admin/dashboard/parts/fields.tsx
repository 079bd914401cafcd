import type { Child } from "hono/jsx";
import { spellOut } from "../../format.ts";
import { describeAmount } from "../assets/describe-amount.js";
import type { PageCall } from "../page.ts";
import type { Problems } from "../form.ts";

interface FormProps {
  readonly page: PageCall;
  readonly action: string;
  readonly children?: Child;
  /** Question of a dialog before the form is sent. */
  readonly confirm?: string;
  readonly class?: string;
}

/** Form with its session's form token. */
export function Form({ page, action, children, confirm, class: className }: FormProps) {
  return (
    <form method="post" action={action} class={className} data-confirm={confirm}>
      <input type="hidden" name="form_token" value={page.formToken} />
      {children}
    </form>
  );
}

export interface ConfirmedProps extends Omit<FormProps, "class"> {
  readonly confirm: string;
  readonly button: string;
  /** Label for screen readers, if the button's text is not specific. */
  readonly label?: string;
}

/** Form with a button for an irreversible action. */
export function ConfirmedForm({ button, label, children, ...form }: ConfirmedProps) {
  return (
    <Form {...form}>
      {children}
      <button type="submit" class="danger" aria-label={label}>
        {button}
      </button>
    </Form>
  );
}

/** Properties of every field. */
interface InputProps {
  readonly name: string;
  readonly label: string;
  readonly problems: Problems;
  readonly hint?: Child;
  readonly disabled?: boolean;
}

/** Properties that all fields of a form share: typed values and problems. */
export function typedIn({ form }: PageCall, problems: Problems) {
  return (name: string) => ({ name, value: form.text(name), problems });
}

interface FieldProps extends InputProps {
  readonly value: string;
  readonly type?: string;
  /** Shows the currency ("" if unknown) next to the field, with the amount as understood. */
  readonly amount?: { readonly currency: string; readonly signed?: boolean };
  readonly required?: boolean;
  readonly autocomplete?: string;
  readonly inputmode?: "numeric" | "decimal" | "email" | "url";
  /** For the script: explains a rate while the user types. */
  readonly rate?: boolean;
  /** For the script: address of suggestions while the user types. */
  readonly suggestions?: string;
}

/** Input with its label, hint and problem. */
export function Field(props: FieldProps) {
  const { name, label, value, problems, hint, type = "text", amount, disabled } = props;
  const problem = problems.get(name);
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <span class="input">
        <input
          id={name}
          name={name}
          type={type}
          value={value}
          required={props.required}
          disabled={disabled}
          autocomplete={props.autocomplete ?? "off"}
          inputmode={props.inputmode}
          data-rate={props.rate ? "yes" : undefined}
          list={props.suggestions === undefined ? undefined : `${name}-suggestions`}
          data-suggestions={props.suggestions}
          {...describedBy(name, hint, problem)}
        />
        {amount === undefined ? null : <Understood name={name} value={value} {...amount} />}
        {props.suggestions === undefined ? null : <datalist id={`${name}-suggestions`}></datalist>}
      </span>
      <Hints name={name} hint={hint} problem={problem} />
    </div>
  );
}

type UnderstoodProps = Pick<FieldProps, "name" | "value"> & NonNullable<FieldProps["amount"]>;

/** Amount as it will be saved; the script updates it while the user types. */
export function Understood({ name, value, currency, signed = false }: UnderstoodProps) {
  return (
    <output class="suffix" for={name} data-amount={signed ? "signed" : "cents"} data-currency={currency}>
      {describeAmount(value, currency, signed)}
    </output>
  );
}

interface SelectProps extends InputProps {
  readonly value: string;
  readonly choices: readonly { readonly value: string; readonly label: string }[];
}

export function Select({ name, label, value, choices, problems, hint, disabled }: SelectProps) {
  const problem = problems.get(name);
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <select id={name} name={name} disabled={disabled} {...describedBy(name, hint, problem)}>
        {choices.map((choice) => (
          <option value={choice.value} selected={choice.value === value}>
            {choice.label}
          </option>
        ))}
      </select>
      <Hints name={name} hint={hint} problem={problem} />
    </div>
  );
}

/** Text area. Also shows problems of one item ("emails.0"). */
export function Area({ name, label, value, problems, hint, disabled }: InputProps & { value: string }) {
  const problem = [...problems].find(([field]) => field === name || field.startsWith(`${name}.`))?.[1];
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <textarea id={name} name={name} rows={3} disabled={disabled} {...describedBy(name, hint, problem)}>
        {value}
      </textarea>
      <Hints name={name} hint={hint} problem={problem} />
    </div>
  );
}

export function Check({ name, label, checked, problems, hint, disabled }: InputProps & { checked: boolean }) {
  const problem = problems.get(name);
  return (
    <div class="field check">
      <label>
        <input
          type="checkbox"
          name={name}
          value="yes"
          checked={checked}
          disabled={disabled}
          {...describedBy(name, hint, problem)}
        />
        <span>{label}</span>
      </label>
      <Hints name={name} hint={hint} problem={problem} />
    </div>
  );
}

export function Hints(props: { name: string; hint: Child | undefined; problem: string | undefined }) {
  return (
    <>
      {props.hint === undefined ? null : (
        <p class="hint" id={`${props.name}-hint`}>
          {props.hint}
        </p>
      )}
      {props.problem === undefined ? null : (
        <p class="problem" id={`${props.name}-problem`}>
          {props.problem}
        </p>
      )}
    </>
  );
}

function describedBy(name: string, hint: Child | undefined, problem: string | undefined) {
  const ids = [hint === undefined ? "" : `${name}-hint`, problem === undefined ? "" : `${name}-problem`];
  const text = ids.filter((id) => id !== "").join(" ");
  return {
    ...(text === "" ? {} : { "aria-describedby": text }),
    ...(problem === undefined ? {} : { "aria-invalid": "true" as const }),
  };
}

/** Summary above a rejected form: problems without a field, or a note that there are some. */
export function ProblemSummary({ problems, fields }: { problems: Problems; fields: readonly string[] }) {
  if (problems.size === 0) return null;
  const fieldOf = (name: string) => fields.find((field) => field === name || name.startsWith(`${field}.`));
  const general = [...problems].filter(([name]) => fieldOf(name) === undefined);
  const known = [...problems.keys()].filter((name) => fieldOf(name) !== undefined);
  return (
    <div class="notice bad" role="alert">
      <p>Nothing was changed. Correct this and send the form again:</p>
      <ul>
        {general.map(([, text]) => (
          <li>{text}</li>
        ))}
        {known.map((name) => (
          <li>
            <a href={`#${fieldOf(name)}`}>{spellOut(name).replace(/ cents$/, "")}</a>
          </li>
        ))}
      </ul>
    </div>
  );
}

interface ShownOnceProps {
  /** Result of the action, and a note that the secret must be copied now. */
  readonly lead?: string;
  /** Use of the secret. */
  readonly meaning: string;
  readonly label: string;
  readonly value: string;
  /** Link to continue. */
  readonly back: { readonly path: string; readonly text: string };
  readonly children?: Child;
}

/** New secret, with a button that copies it: the only page that shows it. */
export function ShownOnce(props: ShownOnceProps) {
  const { lead = "Copy it now", meaning, label, value, back, children } = props;
  return (
    <div class="card" role="status">
      <p>
        <strong>{lead}: it is shown only once.</strong> {meaning}
      </p>
      <div class="secret">
        <label for="secret">{label}</label>
        <span class="input">
          <input id="secret" type="text" readonly value={value} class="code" />
          <button type="button" data-copy="secret" hidden>
            Copy
          </button>
        </span>
      </div>
      {children}
      <p>
        <a href={back.path}>{back.text}</a>
      </p>
    </div>
  );
}
