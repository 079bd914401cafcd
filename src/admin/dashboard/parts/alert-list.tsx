/** @jsxImportSource hono/jsx */
import type { ListedAlert } from "../../../store/types/alerts.ts";
import { hasCall } from "../call-api.ts";
import { formatLimit, formatMoney, formatTime, monthName } from "../format.ts";
import type { OrganizationPageCall } from "../page.ts";
import { Form } from "./fields.tsx";

export const REDELIVER = "POST /api/organizations/{organization}/alerts/{alert}/redeliver";

interface AlertListProps {
  readonly page: OrganizationPageCall;
  readonly alerts: readonly ListedAlert[];
}

/** Alerts, newest first, with the state of each delivery. */
export function AlertList({ page, alerts }: AlertListProps) {
  return (
    <ul class="alerts">
      {alerts.map((alert) => (
        <li class={alert.kind === "hard_cap" && alert.thresholdPercent >= 100 ? "bad" : "warn"}>
          <p>
            <strong>
              {alert.thresholdPercent} % of the {alert.kind === "budget" ? "budget" : "hard cap"}
            </strong>{" "}
            of {subjectOf(alert)}: {formatMoney(Number(alert.spentMicrocents), alert.currency)} of{" "}
            {formatLimit(alert.amountCents, alert.currency)} in {monthName(alert.month)}
          </p>
          <p class="quiet">
            <time datetime={new Date(alert.firedAtMs).toISOString()}>
              {formatTime(new Date(alert.firedAtMs).toISOString())}
            </time>
            {describeDelivery("email", alert)}
            {describeDelivery("webhook", alert)}
          </p>
          <SendAgain page={page} alert={alert} />
        </li>
      ))}
    </ul>
  );
}

function subjectOf(alert: ListedAlert): string {
  return alert.scope === "organization"
    ? "the organization"
    : `API key "${alert.keyName ?? alert.keyId ?? ""}"`;
}

function describeDelivery(channel: "email" | "webhook", alert: ListedAlert): string {
  const { state, attempts, lastError, nextAttemptAtMs } = alert.deliveries[channel];
  if (state === "off") return "";
  const tries = attempts > 0 ? ` after ${attempts} ${attempts === 1 ? "attempt" : "attempts"}` : "";
  const error = lastError === null || state === "delivered" ? "" : ` (${lastError})`;
  const next =
    nextAttemptAtMs === null ? "" : `, next try ${formatTime(new Date(nextAttemptAtMs).toISOString())}`;
  return ` · ${channel}: ${state}${tries}${error}${next}`;
}

function SendAgain({ page, alert }: { page: OrganizationPageCall; alert: ListedAlert }) {
  const isOff = Object.values(alert.deliveries).every((delivery) => delivery.state === "off");
  if (!page.canChange || isOff || !hasCall(REDELIVER)) return null;
  return (
    <Form page={page} action={`/organizations/${page.organization.id}/alerts/${alert.id}/redeliver`}>
      <button type="submit" class="quiet">
        Send again
      </button>
    </Form>
  );
}
