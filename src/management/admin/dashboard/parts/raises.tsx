/** *Temporary raises*: active ones, each with a button to end it, and a creation form. */
import { MAX_RAISES, raisablePeriods } from "../../../../shared/settings/raises.ts";
import { formatLimit } from "../../format.ts";
import type { Problems } from "../form.ts";
import { labelLimit } from "../../../../shared/settings/limit-words.ts";
import { PERIODS } from "../../../../shared/time/periods.ts";
import type { OrganizationPageCall } from "../page.ts";
import { RAISE_FIELDS, RAISE_INPUTS } from "../settings-page.tsx";
import type { RaiseView } from "../views.ts";
import { Field, Form, Select, typedIn } from "./fields.tsx";
import { type LimitsProps, SpendAgainstLimits } from "./limits.tsx";
import { Section } from "./layout.tsx";
import { Time } from "./inline.tsx";

interface RaisesProps extends LimitsProps {
  /** Path of the owner's page. */
  readonly path: string;
  /** All of the owner's, including ended ones. */
  readonly raises: readonly RaiseView[];
  readonly problems: Problems;
}

/** Part of an owner's page: spend against its limits, and temporary increases. */
export function OwnerLimits(props: RaisesProps) {
  return (
    <>
      <SpendAgainstLimits {...props} />
      <Raises {...props} />
    </>
  );
}

function Raises({ page, scope, path, raises, limits, problems }: RaisesProps) {
  const nowMs = Date.parse(limits.time);
  const live = raises.filter(({ expires_at: until }) => Date.parse(until) > nowMs);
  const periods = raisablePeriods(limits.data.filter((limit) => limit.scope === scope));
  return (
    <Section class="card" id="raises" title="Temporary increases">
      {live.length === 0 ? (
        <p>None. A temporary increase raises a cap until a set time, and ends by itself.</p>
      ) : (
        <ul class="raises">
          {live.map((raise) => (
            <LiveRaise page={page} path={path} raise={raise} />
          ))}
        </ul>
      )}
      {page.canChange ? (
        <RaiseForm
          page={page}
          path={path}
          periods={periods}
          isFull={problems.size === 0 && live.length >= MAX_RAISES}
          problems={problems}
        />
      ) : null}
    </Section>
  );
}

interface LiveRaiseProps {
  readonly page: OrganizationPageCall;
  readonly path: string;
  readonly raise: RaiseView;
}

function LiveRaise({ page, path, raise }: LiveRaiseProps) {
  const { id, period, add_cents: cents, expires_at: until, reason, created_by: by } = raise;
  const amount = `+${formatLimit(cents, page.organization.currency)} ${PERIODS[period].per}`;
  return (
    <li>
      <span>
        <strong>{amount}</strong> until <Time at={until} />: <bdi>{reason}</bdi>, by{" "}
        <bdi>{by.name ?? by.type}</bdi>
      </span>
      {page.canChange ? (
        <Form
          page={page}
          action={`${path}/raises/${id}/remove`}
          confirm={`Remove the increase of ${amount} (${reason})?`}
        >
          <button type="submit" class="quiet">
            Remove<span class="hidden"> {amount}</span>
          </button>
        </Form>
      ) : null}
    </li>
  );
}

interface RaiseFormProps extends Pick<RaisesProps, "page" | "path" | "problems"> {
  readonly periods: ReturnType<typeof raisablePeriods>;
  readonly isFull: boolean;
}

function RaiseForm({ page, path, periods, isFull, problems }: RaiseFormProps) {
  const typed = typedIn(page, problems);
  const { period, amount, until, reason } = RAISE_INPUTS;
  const wanted = page.query.get("raise");
  if (periods.length === 0) return <p class="quiet">No cap to increase. Set a cap first.</p>;
  if (isFull) return <p class="quiet">{MAX_RAISES} increases are active, the maximum.</p>;
  return (
    <details open={wanted !== null || RAISE_FIELDS.some((field) => problems.has(field))}>
      <summary>Raise a cap for a time</summary>
      <Form page={page} action={`${path}/raises`} class="raise">
        <Select
          {...typed(period)}
          {...(wanted === null ? {} : { value: wanted })}
          label="Raise the"
          choices={periods.map((one) => ({ value: one, label: labelLimit({ period: one, kind: "cap" }) }))}
        />
        <Field
          {...typed(amount)}
          label="By"
          inputmode="decimal"
          amount={{ currency: page.organization.currency }}
          required
        />
        <Field {...typed(until)} label="Until (UTC)" type="datetime-local" required />
        <Field {...typed(reason)} label="Reason" required />
        <button type="submit">Raise the cap</button>
      </Form>
    </details>
  );
}
