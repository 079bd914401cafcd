/** Editor of limits: a row for each, with choices of period and kind and an amount that is read back while it is typed. */
import { KIND_WORDS, LIMIT_KINDS, LIMIT_PERIODS } from "../../../../shared/settings/limits.ts";
import { PERIODS } from "../../../../shared/time/periods.ts";
import { partsOfLimit, type Problems } from "../form.ts";
import { Hints, Understood } from "./fields.tsx";

const USUAL_PERIOD = "month";
/** Rows to fill in, the usual ones first. */
const EMPTY_ROWS = [...new Set([USUAL_PERIOD, ...LIMIT_PERIODS])].flatMap((period) =>
  LIMIT_KINDS.map((kind) => `${period} ${kind} `),
);
const MOST_EMPTY = 2;

interface LimitRowsProps {
  readonly name: string;
  readonly label: string;
  /** Lines as in "day cap 5.00". */
  readonly value: string;
  readonly currency: string;
  readonly problems: Problems;
  readonly hint?: string;
  readonly disabled: boolean;
  /** The page can increase a cap for a time. */
  readonly canRaise: boolean;
}

/** A row whose amount is empty is no limit, so that rows are removed without a script. */
export function LimitRows(props: LimitRowsProps) {
  const { name, label, value, problems, hint, disabled } = props;
  const lines = value.split("\n").filter((line) => line !== "");
  const free = EMPTY_ROWS.filter((row) => !lines.some((line) => line.startsWith(row)));
  const rows = [...lines, ...(disabled ? [] : free.slice(0, MOST_EMPTY))];
  const problem = [...problems].find(([field]) => field === name || field.startsWith(`${name}.`))?.[1];
  return (
    <fieldset
      class="field"
      id={name}
      aria-describedby={problem === undefined ? undefined : `${name}-problem`}
    >
      <legend>{label}</legend>
      {rows.length === 0 ? <p class="quiet">none</p> : null}
      {rows.map((line, place) => (
        <LimitRow {...props} line={line} place={place} />
      ))}
      <Hints name={name} hint={hint} problem={problem} />
    </fieldset>
  );
}

function LimitRow(props: LimitRowsProps & { readonly line: string; readonly place: number }) {
  const { name, label, currency, disabled, canRaise, line, place } = props;
  const { period, kind, amount, alerts } = partsOfLimit(line);
  const id = `${name}-${place}`;
  const row = `${label}, row ${place + 1}`;
  return (
    <div class="input limit-row">
      <input
        id={id}
        name={`${name}.amount`}
        value={amount}
        inputmode="decimal"
        placeholder="no amount"
        autocomplete="off"
        aria-label={`${row}: amount`}
        disabled={disabled}
      />
      <select name={`${name}.period`} aria-label={`${row}: period`} disabled={disabled}>
        {LIMIT_PERIODS.map((one) => (
          <option value={one} selected={one === period}>
            {PERIODS[one].per}
          </option>
        ))}
      </select>
      <select name={`${name}.kind`} aria-label={`${row}: kind`} disabled={disabled}>
        {LIMIT_KINDS.map((one) => (
          <option value={one} selected={one === kind}>
            {KIND_WORDS[one]}
          </option>
        ))}
      </select>
      <input
        class="alerts-at"
        name={`${name}.alerts`}
        value={alerts}
        placeholder="alerts at %"
        autocomplete="off"
        aria-label={`${row}: alerts at`}
        disabled={disabled}
      />
      <Understood name={id} value={amount} currency={currency} />
      {canRaise && kind === "cap" && amount !== "" ? (
        <a href={`?raise=${period}#raises`}>Increase for a time</a>
      ) : null}
    </div>
  );
}
