/** Fields of filter forms of lists and charts, named as in the URL. */
import { isDay } from "../../../../shared/time/calendar.ts";
import { addDays } from "../../../../shared/time/day-range.ts";
import type { OwnerKind } from "../../../../shared/stored/owner-kinds.ts";
import { fieldOfOwner } from "../owner-texts.ts";
import { Prose } from "./inline.tsx";

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  /** Labels by value. */
  readonly choices: ReadonlyMap<string, string>;
  /** True if there is no "all". */
  readonly required?: boolean;
}

/** Choice of one value, or all. An unknown value, such as a deleted key's, is still shown. */
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
  /** Suggestions; any text is allowed. */
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
  /** Text from `formatOwner`, or typed by the user. */
  readonly value: string;
  /** Start of the organization's paths. */
  readonly base: string;
}

/** Field for a user or a group: an organization can have too many for a list, so the script suggests matches. */
export function OwnerField({ kind, label, value, base }: OwnerFieldProps) {
  const name = fieldOfOwner(kind);
  // The page can have a form with a field of this name.
  const id = `filter-${name}`;
  return (
    <div>
      <label for={id}>{label}</label>
      <input
        id={id}
        name={name}
        value={value}
        placeholder={kind === "user" ? "name, email or id" : "name or id"}
        list={`${id}-suggestions`}
        data-suggestions={`${base}/${kind}s/suggestions`}
        autocomplete="off"
      />
      <datalist id={`${id}-suggestions`}></datalist>
    </div>
  );
}

/** Field for a UTC day. */
export function DayField({ name, label, value }: { name: string; label: string; value: string }) {
  return (
    <div>
      <label for={name}>{label}</label>
      <input id={name} name={name} type="date" value={value.slice(0, "2026-11-21".length)} />
    </div>
  );
}

/** Field for a UTC time; a day in the URL means its start, or its end. */
export function TimeField({ name, label, value, isEnd = false }: TimeFieldProps) {
  const day = isEnd && isDay(value) ? addDays(value, 1) : value;
  const time = isDay(day) ? `${day}T00:00` : day.replace(/(?:\.\d+)?Z$/, "");
  return (
    <div>
      <label for={name}>{label}</label>
      <input id={name} name={name} type="datetime-local" step="1" value={time} />
    </div>
  );
}

interface TimeFieldProps {
  readonly name: string;
  readonly label: string;
  /** From the URL. */
  readonly value: string;
  readonly isEnd?: boolean;
}

export function FilterProblem({ text }: { text: string }) {
  return (
    <p class="notice bad" role="alert">
      <Prose text={text} />
    </p>
  );
}
