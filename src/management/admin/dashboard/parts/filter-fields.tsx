/** Fields of the forms that say what a list or a chart shows: their names are those in the address. */
import type { OwnerKind } from "../../../../data-path/store/types/owner-kinds.ts";
import { fieldOfOwner } from "../owner-texts.ts";

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  /** Value → what it is called. */
  readonly choices: ReadonlyMap<string, string>;
  /** There is no "all". */
  readonly required?: boolean;
}

/** One of some, or all. A value that is none of them, such as a deleted key's, is still what is shown. */
export function Choice({ name, label, value, choices, required = false }: ChoiceProps) {
  const all = value === "" || choices.has(value) ? choices : new Map([...choices, [value, value]]);
  return (
    <div>
      <label for={name}>{label}</label>
      <select id={name} name={name}>
        {required ? null : <option value="">all</option>}
        {[...all].map(([id, text]) => (
          <option value={id} selected={id === value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

interface TextFieldProps {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly placeholder: string;
  /** What may be chosen; anything may be typed. */
  readonly suggestions?: readonly string[];
}

export function TextField({ name, label, value, placeholder, suggestions = [] }: TextFieldProps) {
  const list = suggestions.length === 0 ? undefined : `${name}-suggestions`;
  return (
    <div>
      <label for={name}>{label}</label>
      <input id={name} name={name} value={value} placeholder={placeholder} list={list} autocomplete="off" />
      {list === undefined ? null : (
        <datalist id={list}>
          {suggestions.map((suggestion) => (
            <option value={suggestion}></option>
          ))}
        </datalist>
      )}
    </div>
  );
}

interface OwnerFieldProps {
  readonly kind: OwnerKind;
  readonly label: string;
  /** As `formatOwner` writes it, or what somebody has typed. */
  readonly value: string;
  /** Of the organization's pages. */
  readonly base: string;
}

/** A user or a group: an organization can have more than a list has room for, so the script offers what is typed. */
export function OwnerField({ kind, label, value, base }: OwnerFieldProps) {
  const name = fieldOfOwner(kind);
  return (
    <div>
      <label for={name}>{label}</label>
      <input
        id={name}
        name={name}
        value={value}
        placeholder={kind === "user" ? "name, email address or id" : "name or id"}
        list={`${name}-suggestions`}
        data-suggestions={`${base}/${kind}s/suggestions`}
        autocomplete="off"
      />
      <datalist id={`${name}-suggestions`}></datalist>
    </div>
  );
}

/** A UTC day. */
export function DayField({ name, label, value }: { name: string; label: string; value: string }) {
  return (
    <div>
      <label for={name}>{label}</label>
      <input id={name} name={name} type="date" value={value.slice(0, "2026-11-21".length)} />
    </div>
  );
}

/** What is wrong with the filters. */
export function FilterProblem({ text }: { text: string }) {
  return (
    <p class="notice bad" role="alert">
      {text}
    </p>
  );
}
